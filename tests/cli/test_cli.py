import importlib.metadata
import json
import subprocess
import sys

import pytest
import spacy
from spacy.cli._util import app as spacy_app
from spacy.training import Example
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.treebanks.docs import sentence_to_doc
from spacy_mtt.treebanks.reading import read_treebank
from tests.treebanks.samples import CONLLU_TEXT, CONLLX_TEXT, sentences

GOOD = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n3\t.\t_\tX\t_\t_\t1\tpunct\t_\t_\n\n"
CROSSED = "".join(f"{i}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for i, head in ((1, 0), (2, 4), (3, 1), (4, 1))) + "\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in `tmp_path`; gives the exit code and the words of both streams."""
    monkeypatch.chdir(tmp_path)
    files = {"u.conllu": CONLLU_TEXT, "x.conll": CONLLX_TEXT, "good.conllu": GOOD, "crossed.conllu": CROSSED}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf8")

    def run(*args):
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A pipeline with spaCy's own parser, initialised and hardly trained."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    gold = sentences(GOOD * 2 + CONLLU_TEXT)
    examples = []
    for each in gold:
        reference = sentence_to_doc(each, nlp.vocab)
        predicted = spacy.tokens.Doc(nlp.vocab, words=each.forms)
        examples.append(Example(predicted, reference))
    nlp.initialize(lambda: examples)
    path = tmp_path_factory.mktemp("model") / "pipeline"
    nlp.to_disk(path)
    return path


def test_spacy_has_the_commands():
    assert "mtt" in [group.name for group in spacy_app.registered_groups]


@pytest.mark.skipif(
    "mtt" not in {each.name for each in importlib.metadata.entry_points(group="spacy_cli")},
    reason="the package is not installed with its entry points",
)
def test_python_m_spacy():
    result = subprocess.run(
        [sys.executable, "-m", "spacy", "mtt", "--help"], capture_output=True, text=True, check=True
    )
    assert all(command in result.stdout for command in ("check", "convert", "evaluate"))


@pytest.mark.parametrize("command", ["check", "convert", "evaluate", "fetch", "prepare", "show"])
def test_help(run, command):
    code, output = run(command, "--help")
    assert code == 0 and "Usage" in output


def test_check_good_files(run):
    code, output = run("check", "u.conllu", "x.conll", "crossed.conllu")
    assert code == 0
    rows = [line.split() for line in output.splitlines()]
    assert rows[1] == ["u.conllu", "2", "9", "0.00", "0.00", "0.00", "0", "0"]
    # x.conll: the root arc of word 3 is crossed by nothing, one of two sentences has two roots.
    assert rows[2] == ["x.conll", "2", "6", "0.00", "0.00", "50.00", "0", "0"]
    # crossed: 4 -> 2 and 1 -> 3 cross (2 of 4 arcs), 4 -> 2 is non-projective (1 of 4).
    assert rows[3] == ["crossed.conllu", "1", "4", "50.00", "25.00", "0.00", "0", "0"]


def test_check_bad_files(run, tmp_path):
    (tmp_path / "bad.conllu").write_text(
        GOOD + "1\ta\t_\t_\t_\t_\t2\tx\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\nword\n\n"
    )
    code, output = run("check", "missing.conllu", "bad.conllu", "good.conllu")
    assert code == 1
    assert "missing.conllu: no such file" in output
    assert "bad.conllu:5: error: no word of this sentence has the head 0" in output
    assert "bad.conllu:5: error: the heads form a cycle: 1 ('a') -> 2 ('b') -> 1" in output
    assert "bad.conllu:8: error: 1 column instead of 10: 'word'" in output
    rows = {line.split()[0]: line.split() for line in output.splitlines()}
    assert rows["bad.conllu"][1:] == ["1", "3", "0.00", "0.00", "0.00", "3", "0"]
    assert rows["good.conllu"][1:3] == ["1", "3"]


def test_convert_there_and_back(run, tmp_path):
    for name, text in (("u.conllu", CONLLU_TEXT), ("x.conll", CONLLX_TEXT)):
        assert run("convert", name, "t.spacy", "--sents-per-doc", 2)[0] == 0
        code, output = run("convert", "t.spacy", f"back-{name}")
        assert code == 0 and f"back-{name}: 2 sentences" in output
        assert (tmp_path / f"back-{name}").read_text("utf8") == text


def test_convert_formats_and_encodings(run, tmp_path):
    assert run("convert", "u.conllu", "u.txt", "--to", "conllx", "--output-encoding", "latin1")[0] == 0
    assert run("convert", "u.txt", "u2.conllu", "--from", "conllx", "--encoding", "latin1")[0] == 0
    assert [len(each) for each in read_treebank(tmp_path / "u2.conllu")] == [8, 1]


def test_convert_errors(run, tmp_path):
    (tmp_path / "bad.conllu").write_text(GOOD + "word\n\n")
    (tmp_path / "out.conll").write_text("old")
    for args, expected in (
        (("bad.conllu", "out.conll"), "bad.conllu:5: 1 column instead of 10"),
        (("bad.conllu", "out.spacy"), "bad.conllu:5: 1 column instead of 10"),
        (("u.conllu", "out.txt"), "tells no treebank format"),
        (("u.conllu", "no/out.conllu"), "cannot be written"),
        (("missing.conllu", "out.conll"), "missing.conllu: no such file"),
        (("missing.spacy", "out.conll"), "missing.spacy: cannot be read"),
        (("a.spacy", "b.spacy"), "both .spacy files"),
        (("u.conllu", "out.conll", "--output-encoding", "ascii"), "is not in ascii"),
    ):
        code, output = run("convert", *args)
        assert code == 1 and expected in output and output.count("\n") == 1, output
    assert (tmp_path / "out.conll").read_text() == "old"
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp" or path.name == "out.spacy"]


def test_evaluate_files(run, tmp_path):
    (tmp_path / "p.conllu").write_text(GOOD.replace("1\tdep", "3\tdep").replace("1\tpunct", "1\tdep"))
    code, output = run("evaluate", "good.conllu", "p.conllu", "--output", "scores.json")
    assert code == 0
    # CoNLL-X: a right, b wrong, "." skipped. UD: 2 of 3 heads, 1 of 3 labelled arcs.
    # spaCy: gold arcs of a and b, predicted of a, b and "." (no gold arc); a is right: 2 * 1 / (2 + 3).
    rows = {line.split(" | ")[0].strip(): line.split() for line in output.splitlines()}
    assert rows["UAS"] == ["UAS", "|", "50.00", "|", "66.67", "|", "40.00"]
    assert rows["LAS"] == ["LAS", "|", "50.00", "|", "33.33", "|", "40.00"]
    scores = json.loads((tmp_path / "scores.json").read_text("utf8"))
    assert scores["conllx"]["counts"]["scored words"] == 2
    assert scores["ud"]["UAS"] == pytest.approx(200 / 3)
    assert scores["nonprojective"]["recall"] is None and "speed" not in scores


def test_evaluate_several_roots(run, tmp_path):
    code, output = run("evaluate", "x.conll", "x.conll", "--output", "scores.json")
    assert code == 0 and "UD: sentence 1 of gold (x.conll:1): 2 words are roots (1, 3)" in output
    scores = json.loads((tmp_path / "scores.json").read_text("utf8"))
    assert "2 words are roots" in scores["ud"]["rejected"] and scores["conllx"]["UAS"] == 100


@pytest.mark.parametrize("settings", [[], ["--gold-tags"], ["--sents", "predicted"]])
def test_evaluate_a_pipeline(run, model, tmp_path, settings):
    args = ["u.conllu", "--model", model, "--save-parses", "p.conllu", "--output", "scores.json", *settings]
    code, output = run("evaluate", *args)
    assert code == 0, output
    assert "9 words in" in output and "words per second" in output
    scores = json.loads((tmp_path / "scores.json").read_text("utf8"))
    assert scores["speed"]["words"] == 9
    code, again = run("evaluate", "u.conllu", "p.conllu")
    table = [line for line in output.splitlines() if " | " in line]
    assert table and table == [line for line in again.splitlines() if " | " in line]


def test_evaluate_errors(run, model, tmp_path):
    (tmp_path / "other.conllu").write_text(GOOD.replace("b", "c"))
    for args, expected in (
        (("good.conllu",), "give either a file of predicted trees or --model"),
        (("good.conllu", "good.conllu", "--model", model), "and not both"),
        (("good.conllu", "good.conllu", "--save-parses", "p.conllu"), "--save-parses needs --model"),
        (("good.conllu", "--model", "no_such_model"), "the pipeline no_such_model cannot be loaded"),
        (("good.conllu", "--model", tmp_path), "cannot be loaded"),
        (("good.conllu", "--model", model, "--save-parses", "p.txt"), "tells no treebank format"),
        (("missing.conllu", "good.conllu"), "missing.conllu: no such file"),
        (("good.conllu", "good.conllu", "--encoding", "klingon"), "unknown encoding 'klingon'"),
        (("good.conllu", "good.conllu", "--format", "conll09"), "unknown treebank format 'conll09'"),
    ):
        code, output = run("evaluate", *args)
        assert code == 1 and expected in output and "Traceback" not in output, (args, output)
    code, output = run("evaluate", "good.conllu", "other.conllu")
    assert code == 1 and "word 2 of sentence 1 is 'b' in gold" in output
    assert "the texts differ at character 2" in output


def test_check_lists_no_more_warnings_than_wanted(run, tmp_path):
    lines = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "roots.conllu").write_text(lines * 5, encoding="utf8")
    for options, listed, rest in (((), 5, ""), (("-w", "2"), 2, "3 more warnings"), (("--max-warnings", "5"), 5, "")):
        code, output = run("check", *options, tmp_path / "roots.conllu")
        assert code == 0 and output.count(": warning: ") == listed and rest in output
        assert ("more warnings" in output) == bool(rest)
