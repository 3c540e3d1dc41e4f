"""`mtt show`: the table and the picture tell the parse."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_mtt.cli import app

TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-english" / "test.conll"


@Language.component("show_test_parser", assigns=["token.head", "token.dep"])
def parse_like_a_rule(doc: Doc) -> Doc:
    """The second word of each sentence is the root; word 1 hangs from word 3, so that its arc crosses the root's."""
    if not len(doc):
        return doc
    starts = [i for i, token in enumerate(doc) if i == 0 or token.is_sent_start]
    heads, labels = [], []
    for start, end in zip(starts, [*starts[1:], len(doc)], strict=True):
        length = end - start
        for i in range(length):
            head = min(1, length - 1)
            if length > 3 and i in (0, 3):
                head = 2 if i == 0 else 1
            heads.append(start + head)
            labels.append("ROOT" if i == head else f"d{i + 1}")
    return Doc(doc.vocab, words=[t.text for t in doc], heads=heads, deps=labels, user_data=doc.user_data)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("show_test_parser")
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return str(path)


def show(*arguments):
    return CliRunner().invoke(app, ["show", *map(str, arguments)])


def conllu(tmp_path, *trees: list[tuple[str, int, str]]) -> Path:
    path = tmp_path / "t.conllu"
    lines = [
        "".join(f"{i}\t{w}\t_\tX\t_\t_\t{h}\t{d}\t_\t_\n" for i, (w, h, d) in enumerate(tree, 1)) + "\n"
        for tree in trees
    ]
    path.write_text("".join(lines), encoding="utf8")
    return path


SHORT = [("Dogs", 2, "nsubj"), ("bark", 0, "root")]
LONG = [("It", 3, "d1"), ("is", 0, "root"), ("so", 2, "d3"), ("good", 2, "d4")]


def test_the_table_has_each_word_with_its_head_and_label(model, tmp_path):
    result = show(model, conllu(tmp_path, SHORT, LONG))
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "1. Dogs bark",
        "  1  Dogs    d1    2  bark  treebank: nsubj 2 bark",
        "  2  bark    root  0  root",
        "",
        "2. It is so good",
        "  1  It    x  d1    3  so",
        "  2  is       root  0  root",
        "  3  so       d3    2  is",
        "  4  good  x  d4    2  is",
        "",
    ]


def test_text_is_parsed_with_the_sentences_of_the_pipeline(model):
    result = show(model, "--text", "Dogs bark. Cats do not bark.", "--n", 1, "--first", 2)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("2. Cats do not bark .\n") and "Dogs" not in result.output


def arcs(svg: Path) -> int:
    ElementTree.parse(svg)  # well-formed
    return len(re.findall('class="displacy-arc"', svg.read_text(encoding="utf8")))


def test_the_picture_has_every_arc_of_the_first_parse_with_crossing_arcs(model, tmp_path):
    wide = [*LONG, ("&", 2, "<x>")]
    result = show(model, conllu(tmp_path, SHORT, wide, LONG), "--svg", tmp_path / "p.svg")
    assert result.exit_code == 0, result.output
    assert "p.svg: sentence 2" in result.output
    assert arcs(tmp_path / "p.svg") == len(wide) - 1


def test_the_picture_is_of_the_first_parse_if_no_arcs_cross(model, tmp_path):
    result = show(model, conllu(tmp_path, SHORT, SHORT), "--svg", tmp_path / "p.svg", "--compact")
    assert "p.svg: sentence 1" in result.output and arcs(tmp_path / "p.svg") == 1


def test_parses_with_crossing_arcs_can_come_first(model, tmp_path):
    treebank = conllu(tmp_path, *[SHORT] * 70, LONG, SHORT, LONG, LONG)
    result = show(model, treebank, "--crossing", "--n", 2)
    assert re.findall(r"^(\d+)\. ", result.output, re.MULTILINE) == ["71", "73"]
    result = show(model, treebank, "--crossing", "--n", 5)
    assert re.findall(r"^(\d+)\. ", result.output, re.MULTILINE) == ["71", "73", "74", "1", "2"]


def test_only_the_wanted_sentences_are_shown(model):
    result = show(model, TREEBANK, "--first", 199, "--n", 5)
    assert result.exit_code == 0
    assert re.findall(r"^(\d+)\. ", result.output, re.MULTILINE) == ["199", "200"]


def test_bad_input_is_one_sentence(model, tmp_path):
    for arguments, reason in (
        ((model,), "either a treebank file or --text"),
        ((model, TREEBANK, "--text", "x"), "either a treebank file or --text"),
        ((model, TREEBANK, "--first", 201), "no sentence 201"),
        ((model, "--text", ""), "no sentence 1"),
        ((model, tmp_path / "none.conllu"), "no such file"),
        ((tmp_path / "none", TREEBANK), "cannot be loaded"),
        ((model, TREEBANK, "--svg", tmp_path / "no" / "folder.svg"), "cannot be written"),
    ):
        result = show(*arguments)
        assert result.exit_code == 1 and reason in result.output, (arguments, result.output)
        assert "Traceback" not in result.output


def test_a_pipeline_without_a_parser(tmp_path):
    spacy.blank("xx").to_disk(tmp_path / "blank")
    for source in ((TREEBANK,), ("--text", "Dogs bark.")):
        result = show(tmp_path / "blank", *source)
        assert result.exit_code == 1 and "gives no word a head" in result.output
