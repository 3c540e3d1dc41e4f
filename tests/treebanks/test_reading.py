import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import (
    check_treebank,
    find_format,
    parse_treebank,
    read_conllu,
    read_conllx,
    read_treebank,
)
from spacy_mtt.treebanks.sentence import CONLLU, CONLLX, TreebankSentence
from spacy_mtt.treebanks.writing import treebank_texts
from tests.treebanks.samples import CONLLU_TEXT, CONLLX_TEXT, sentences

REST = "\t_" * 8
WORD = "{}\tw{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n"


def words(*heads_and_labels: tuple[object, str]) -> str:
    """The lines of a sentence of words w1, w2, ... with these heads and labels."""
    return "".join(WORD.format(i, i, *each) for i, each in enumerate(heads_and_labels, 1))


def write(tmp_path, content, name="t.conllu"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf8"))
    return path


def the_error(path, **settings) -> str:
    """The message of the strict reader, which has to be the first error of the checker."""
    with pytest.raises(TreebankError) as caught:
        list(read_treebank(path, **settings))
    first = next(each for each in check_treebank(path, **settings).problems if each.severity == "error")
    assert str(caught.value) == f"{path}:{first.line}: {first.message}"
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}:")


def test_conllu_sentence():
    first, second = sentences(CONLLU_TEXT)
    assert first.forms == ["Vamos", "nos", "a", "el", "mar", "10 000", "_", "."]
    assert first.heads.tolist() == [0, 1, 5, 5, 1, 5, 1, 1]
    assert first.heads.dtype == np.int32
    assert first.deprels[4] == "obl:arg"
    assert [(each.first, each.last, each.form) for each in first.ranges] == [(1, 2, "Vámonos"), (3, 4, "al")]
    assert first.comments[1] == "# sent_id = 1" and len(first.comments) == 4
    assert [before for before, _ in first.extras] == [0, 0, 0, 0, 0, 0, 2, 2]
    assert first.line == 1 and second.line == 18


def test_conllx_sentence():
    first, second = sentences(CONLLX_TEXT, "conllx")
    assert first.heads.tolist() == [0, 3, 0, 3]
    assert first.deprels[3] == "_"
    assert first.rows[0][8:] == ("0", "ROOT")
    assert second.heads.tolist() == [2, -1]


@pytest.mark.parametrize(
    "text",
    [
        CONLLU_TEXT,
        CONLLU_TEXT.replace("\n", "\r\n"),
        CONLLU_TEXT[:-1],
        CONLLU_TEXT[:-2],
        CONLLU_TEXT[:-2].replace("\n", "\r\n"),
        "\n \n" + CONLLU_TEXT + "\n\t\n\n",
        CONLLU_TEXT + CONLLU_TEXT.replace("\n", "\r\n"),
        words((0, "root")) + "\r\n",
    ],
)
def test_every_byte_comes_back(tmp_path, text):
    path = write(tmp_path, text)
    assert "".join(treebank_texts(read_conllu(path))).encode("utf8") == path.read_bytes()


def test_other_encodings(tmp_path):
    path = write(tmp_path, CONLLX_TEXT.replace("half", "höög").encode("latin1"), "t.conll")
    assert next(iter(read_conllx(path, encoding="latin1")))
    assert "".join(treebank_texts(read_conllx(path, encoding="latin1"))).encode("latin1") == path.read_bytes()
    # "half" stands in line 6; the lines before it hold no other non-ASCII byte.
    offset = path.read_bytes().index(b"\xf6")
    message = the_error(path)
    assert message == f"6: byte 0xF6 at byte {offset} of the file is not utf8"
    for encoding in ("utf-16", "klingon", "base64", "undefined"):
        with pytest.raises(TreebankError, match=encoding):
            list(read_treebank(path, encoding=encoding))


def test_formats(tmp_path):
    assert find_format("a/b.conllu") is CONLLU
    assert find_format("b.CONLL") is CONLLX and find_format("b.conllx") is CONLLX
    assert find_format("b.txt", "conllx") is CONLLX
    for path, format in (("b.txt", None), ("b", None), ("b.conllu", "conll09")):
        with pytest.raises(TreebankError, match="conllx"):
            find_format(path, format)


def test_missing_files(tmp_path):
    for path, what in ((tmp_path / "no.conllu", "no such file"), (tmp_path, "is no file")):
        with pytest.raises(TreebankError, match=what):
            list(read_treebank(path, "conllu"))
    path = write(tmp_path, "\n\n")
    with pytest.raises(TreebankError, match="holds no sentence"):
        list(read_treebank(path))
    assert check_treebank(path).errors == 1


ROOT = words((0, "root"))
SECOND = WORD.format(2, 2, 1, "x")
ERRORS = {
    "columns": (ROOT + "2\ta\tb\n\n", "2: 3 columns instead of 10: '2\\ta\\tb'"),
    "one column": ("word\n\n", "1: 1 column instead of 10: 'word'"),
    "spaces": (ROOT.replace("\t", " ") + "\n", "separated by spaces instead of tabs"),
    "trailing tab": (ROOT[:-1] + "\t\n\n", "1: 11 columns instead of 10"),
    "empty column": (
        ROOT.replace("_", "", 2).replace("\t\t\t", "\t_\t\t", 1) + "\n",
        "1: the column UPOS is empty",
    ),
    "id gap": (ROOT + WORD.format(3, 3, 1, "x") + "\n", "2: the ID 3 stands where 2 was expected"),
    "id twice": (ROOT * 2 + "\n", "2: the ID 1 occurs twice in this sentence"),
    "id zero": (WORD.format(0, 0, 0, "root") + "\n", "1: the ID 0 stands where 1 was expected"),
    "id word": (WORD.format("one", 1, 0, "root") + "\n", "1: the ID 'one' is no word number"),
    "id huge": (WORD.format("9" * 5000, 1, 0, "root") + "\n", "is no word number"),
    "head word": (words(("x", "root")) + "\n", "1: the head 'x' of word 1 ('w1') is no word number"),
    "head float": (words((0, "root"), ("1.0", "x")) + "\n", "2: the head '1.0' of word 2"),
    "head padded": (words((0, "root"), ("01", "x")) + "\n", "2: the head '01' of word 2"),
    "head arabic": (words((0, "root"), ("١", "x")) + "\n", "2: the head '١' of word 2"),
    "head range": (words((0, "root"), (3, "x")) + "\n", "2: the head '3' of word 2 ('w2') lies outside 0..2"),
    "head huge": (words((0, "root"), ("9" * 5000, "x")) + "\n", "of word 2 ('w2') is no word number"),
    "head negative": (words((0, "root"), (-1, "x")) + "\n", "2: the head '-1' of word 2"),
    "own head": (words((0, "root"), (2, "x")) + "\n", "2: word 2 ('w2') is its own head"),
    "cycle": (
        words((0, "x"), (3, "x"), (2, "x")) + "\n",
        "2: the heads form a cycle: 2 ('w2') -> 3 ('w3') -> 2",
    ),
    "no root": (words((2, "x"), (1, "x")) + "\n", "1: no word of this sentence has the head 0"),
    "label, no head": (words(("_", "obj")) + "\n", "1: word 1 ('w1') has the label 'obj' but no head"),
    "NUL": (b"1\ta\0\t_\t_\t_\t_\t0\troot\t_\t_\n\n", "1: NUL character at byte 3 of the file"),
    "BOM": (b"\xef\xbb\xbf" + ROOT.encode() + b"\n", "1: the file begins with the byte order mark EF BB BF"),
    "truncated": (ROOT + "2\tb\t_\t_", "2: the file breaks off in this line, after 4 of 10 columns"),
    "only comments": ("# a\n\n" + ROOT + "\n", "1: the sentence has no word"),
    "late comment": (ROOT + "# a\n\n", "2: comment '# a' inside a sentence"),
    "mixed ends": (words((0, "x"), (1, "x"), (1, "x")).replace("\n", "\r\n", 1) + "\n", "partly in CR LF"),
    "range backwards": (f"2-1\tx{REST}\n{ROOT}\n", "1: the range 2-1 runs backwards"),
    "range late": (f"{ROOT}1-2\tx{REST}\n{SECOND}\n", "2: the range 1-2 stands before word 2"),
    "range overlap": (
        f"1-2\tx{REST}\n{ROOT}2-3\tx{REST}\n{SECOND}{SECOND.replace('2', '3')}\n",
        "3: the range 2-3 overlaps the range 1-2",
    ),
    "range too long": (f"1-3\tx{REST}\n{ROOT}\n", "1: the range 1-3 ends after the last word 1"),
    "range word": (f"1-x\tx{REST}\n{ROOT}\n", "1: the ID '1-x' is no range"),
    "range huge": (f"1-{'9' * 5000}\tx{REST}\n{ROOT}\n", "is no range"),
    "empty node": (f"{ROOT}1.2\tx{REST}\n\n", "2: the empty node 1.2 stands where 1.1 was expected"),
    "empty node word": (f"{ROOT}1.x\tx{REST}\n\n", "2: the ID '1.x' is no number of an empty node"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(tmp_path, name):
    content, expected = ERRORS[name]
    assert expected in the_error(write(tmp_path, content))


def test_conllx_has_no_extras(tmp_path):
    assert "has no comments" in the_error(write(tmp_path, "# a\n" + words((0, "x")) + "\n", "t.conll"))
    text = "1-2\tx" + REST + "\n" + words((0, "x")) + "\n"
    assert "the ID '1-2' is no word number" in the_error(write(tmp_path, text, "t.conll"))


def test_check_collects_everything(tmp_path):
    bad_words = words((0, "root"), (9, "x"), ("y", "x"))
    cycles = words((0, "root"), (3, "x"), (2, "x"), (5, "x"), (4, "x"))
    good = words((0, "root"), (0, "root"), (1, "x"))
    path = write(tmp_path, f"\n{bad_words}\n{cycles} \n{good}a\tb\n")
    report = check_treebank(path)
    found = [(each.line, each.severity, each.message.split(":")[0]) for each in report.problems]
    assert found == [
        (1, "warning", "blank line before the first sentence"),
        (3, "error", "the head '9' of word 2 ('w2') lies outside 0..3"),
        (4, "error", "the head 'y' of word 3 ('w3') is no word number"),
        (7, "error", "the heads form a cycle"),
        (9, "error", "the heads form a cycle"),
        (11, "warning", "a blank line holds white space ' '"),
        (15, "error", "2 columns instead of 10"),
        (15, "warning", "no blank line after the last sentence"),
    ]
    assert report.errors == 5
    assert report.statistics.sentences == 0


def test_warnings_do_not_stop_the_reader(tmp_path):
    path = write(tmp_path, words((0, "root"), (0, "root")).rstrip("\n"))
    assert len(list(read_treebank(path))) == 1
    messages = [each.message for each in check_treebank(path).problems]
    assert sorted(messages) == [
        "2 words have the head 0 (1, 2), Universal Dependencies allow one",
        "the file ends without a line end",
    ]
    conllx = write(tmp_path, words((0, "root"), (0, "root")) + "\n", "t.conll")
    assert check_treebank(conllx).problems == []


def test_long_cycle_and_long_sentence(tmp_path):
    n = 20_000
    chain = words(*[(i, "x") for i in range(n)])
    assert len(next(iter(parse_treebank(chain + "\n", "conllx")))) == n
    ring = words(*[(i % n + 1, "x") for i in range(1, n + 1)])
    assert "no word of this sentence has the head 0" in the_error(write(tmp_path, ring + "\n"))
    pairs = words(*[(i + 1 if i % 2 else i - 1, "x") for i in range(1, n + 1)])
    problems = check_treebank(write(tmp_path, pairs + "\n")).problems
    assert len(problems) == n // 2 + 1
    assert all(len(each.message) < 500 for each in problems)


def test_with_tree():
    first, _ = sentences(CONLLU_TEXT)
    assert first.with_tree(first.heads, first.deprels) is first
    changed = first.with_tree([2, 0, 5, 5, 1, 5, -1, 1], [*first.deprels[:6], "", "punct"])
    assert changed.heads.tolist() == [2, 0, 5, 5, 1, 5, -1, 1]
    assert changed.deprels[6] == "_"
    assert {row[8] for row in changed.rows} == {"_"}  # DEPS would belong to the old tree
    assert changed.rows[4][9] == "Gloss=sea|SpaceAfter=No"
    assert len(changed.ranges) == 2 and "2.1" not in str(changed)
    conllx = sentences(CONLLX_TEXT, "conllx")[0].with_tree([0, 1, 1, 1], ["a", "b", "c", "d"])
    assert all(row[8:] == ("_", "_") for row in conllx.rows)


HEADS = ("0", "1", "2", "3", "_", "9", "-")
WORDS = [WORD.format(i, i, head, "x").rstrip("\n") for i in (1, 2, 3) for head in HEADS]
UNANNOTATED = [WORD.format(i, i, "_", "_").rstrip("\n") for i in (1, 2)]
OTHERS = ["", " ", "# c", "1-2\tx" + REST, "1.1\tx" + REST, "a\tb", "\ufeff", "é"]
LINES = st.sampled_from(WORDS + UNANNOTATED + OTHERS)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["conllx", "conllu"]),
)
def test_any_text_is_read_or_refused(lines, line_end, close, format):
    text = line_end.join(lines) + (line_end if close else "")
    try:
        read = list(parse_treebank(text, format))
    except TreebankError:
        return
    if read:
        assert "".join(treebank_texts(read)) == text
        assert all(isinstance(each, TreebankSentence) and len(each) for each in read)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_bytes_are_read_or_refused(tmp_path_factory, data):
    content = bytearray(CONLLU_TEXT.encode("utf8"))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = write(tmp_path_factory.mktemp("damaged"), bytes(content))
    report = check_treebank(path)
    try:
        read = list(read_treebank(path))
    except TreebankError:
        assert report.errors
    else:
        assert not report.errors
        assert "".join(treebank_texts(read)).encode("utf8") == bytes(content)
