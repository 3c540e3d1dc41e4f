import pytest
import spacy
from spacy.cli._util import show_validation_error
from spacy.util import registry

from spacy_mtt.treebanks.corpus import CorpusError, TreebankCorpus
from spacy_mtt.treebanks.errors import TreebankError
from tests.treebanks.samples import CONLLU_TEXT, CONLLX_TEXT


@pytest.fixture
def nlp():
    return spacy.blank("xx")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "a.conllu").write_text(CONLLU_TEXT, "utf8")
    (tmp_path / "b" / "c.conll").write_text(CONLLX_TEXT, "utf8")
    (tmp_path / "notes.txt").write_text("no treebank")
    (tmp_path / ".hidden.conllu").write_text("no treebank")
    return tmp_path


def test_examples(nlp, folder):
    first, second = TreebankCorpus(folder / "a.conllu")(nlp)
    assert [token.text for token in first.predicted] == [token.text for token in first.reference]
    assert not first.predicted.has_annotation("DEP") and not first.predicted.has_annotation("TAG")
    assert [token.is_sent_start for token in first.predicted] == [True] + [False] * 7
    assert first.get_aligned("DEP", as_string=True)[4] == "obl:arg"
    assert first.get_aligned_parse(projectivize=False)[0] == [0, 0, 4, 4, 0, 4, 0, 0]
    assert len(second) == 1


def test_gold_tags_and_no_boundaries(nlp, folder):
    (example,) = TreebankCorpus(folder / "a.conllu", gold_tags=True, gold_sents=False, sents_per_doc=2)(nlp)
    assert example.predicted[0].tag_ == "V" and example.predicted[0].lemma_ == "ir"
    assert [token.is_sent_start for token in example.predicted][1:] == [None] * 8
    assert len(list(example.reference.sents)) == 2


def test_several_roots_stay_one_sentence(nlp, folder):
    example = next(TreebankCorpus(folder / "b" / "c.conll")(nlp))
    assert len(list(example.predicted.sents)) == 1
    assert len(list(example.reference.sents)) == 2


def test_folder(nlp, folder):
    assert [len(each.predicted) for each in TreebankCorpus(folder)(nlp)] == [8, 1, 4, 2]
    assert [len(each.predicted) for each in TreebankCorpus(folder, sents_per_doc=3)(nlp)] == [9, 6]
    assert [len(each.predicted) for each in TreebankCorpus(folder, format="conllx")(nlp)] == [4, 2]
    assert [len(each.predicted) for each in TreebankCorpus(folder, limit=3)(nlp)] == [8, 1, 4]
    assert [len(each.predicted) for each in TreebankCorpus(folder, max_length=4)(nlp)] == [1, 4, 2]
    with pytest.raises(CorpusError, match="no file in this folder"):
        TreebankCorpus(folder / "b", format="conllu")


def test_shuffling(nlp, tmp_path):
    path = tmp_path / "t.conllu"
    sentences = []
    for n in range(1, 13):
        sentences.append("".join(f"{i}\tw\t_\t_\t_\t_\t{i - 1}\tx\t_\t_\n" for i in range(1, n + 1)))
    path.write_text("\n".join(sentences) + "\n")

    def passes(**settings):
        corpus = TreebankCorpus(path, shuffle=True, **settings)
        return [[len(each.predicted) for each in corpus(nlp)] for _ in range(2)]

    first, second = passes(seed=1)
    assert sorted(first) == list(range(1, 13)) and first != sorted(first) and first != second
    assert passes(seed=1) == [first, second] != passes(seed=2)


def test_config(nlp, folder):
    config = {"corpus": {"@readers": "spacy_mtt.TreebankCorpus.v1", "path": str(folder), "limit": 1}}
    corpus = registry.resolve(config)["corpus"]
    assert isinstance(corpus, TreebankCorpus) and len(list(corpus(nlp))) == 1
    assert registry.readers.get("spacy_mtt.TreebankCorpus.v1") is TreebankCorpus


def test_errors(nlp, folder, capsys):
    (folder / "bad.conllu").write_text("1\ta\t_\t_\t_\t_\t7\tx\t_\t_\n\n")
    (folder / "unknown.tsv").write_text("")
    for settings, expected in (
        ({"path": folder / "no.conllu"}, "no such file or folder"),
        ({"path": None}, "has no path"),
        ({"path": folder / "unknown.tsv"}, "tells no treebank format"),
        ({"path": folder, "sents_per_doc": 0}, "sents_per_doc = 0"),
        ({"path": folder, "limit": -1}, "limit = -1"),
    ):
        with pytest.raises(TreebankError, match=expected):
            TreebankCorpus(**settings)
    with pytest.raises(TreebankError, match=r"bad\.conllu:1: the head '7'") as caught:
        list(TreebankCorpus(folder / "bad.conllu")(nlp))
    assert str(caught.value).count("\n") == 0


def test_spacy_train_shows_one_sentence(folder, capsys):
    """`spacy train` builds corpora and draws the first examples inside this context."""
    with pytest.raises(SystemExit), show_validation_error(hint_fill=False):
        TreebankCorpus(folder / "no.conllu")
    shown = capsys.readouterr()
    assert "no.conllu: no such file or folder" in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err
