"""`python -m benchmarks.partial`: the right heads are kept, and the command does everything once."""

import numpy as np
import pytest

from benchmarks.partial.__main__ import main
from benchmarks.partial.annotation import doubtful_words, head_entropies, random_words, with_heads
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.reading import read_treebank
from tests.pipeline.helpers import SENTENCES, gold_doc
from tests.pipeline.test_probabilities import soft_parser
from tests.test_accuracy_benchmark import tiny_corpus


@pytest.fixture
def sentences():
    vocab = soft_parser()[0].vocab
    return [each for sentence in SENTENCES for each in doc_to_sentences(gold_doc(vocab, sentence))]


@pytest.fixture
def model(tmp_path):
    soft_parser()[0].to_disk(tmp_path / "model")
    return tmp_path / "model"


def test_random_shares_are_nested(sentences):
    words = sum(map(len, sentences))
    some, more = random_words(sentences, 0.25, 3), random_words(sentences, 0.5, 3)
    assert (some.sum(), more.sum()) == (round(0.25 * words), round(0.5 * words))
    assert (more | ~some).all()
    assert (some != random_words(sentences, 0.25, 4)).any()


def test_heads_of_other_words_are_open(sentences):
    known = random_words(sentences, 0.5, 0)
    found = with_heads(sentences, known)
    heads = np.concatenate([each.heads for each in found])
    gold = np.concatenate([each.heads for each in sentences])
    np.testing.assert_array_equal(heads, np.where(known, gold, -1))
    labels = [label for each in found for label in each.deprels]
    own = [label for each in sentences for label in each.deprels]
    assert labels == [label if keep else "_" for label, keep in zip(own, known.tolist(), strict=True)]


def test_the_most_doubtful_words_come_first(sentences, model):
    known = random_words(sentences, 0.2, 0)
    entropies = head_entropies(sentences, known, model, 2)
    assert entropies[known] == pytest.approx(0.0, abs=1e-12)
    chosen = doubtful_words(sentences, known, 0.5, model, sents_per_doc=2)
    assert chosen.sum() == round(0.5 * len(known)) and chosen[known].all()
    new = chosen & ~known
    assert entropies[new].min() >= entropies[~chosen].max()
    with pytest.raises(ValueError, match=r"more than a share of 0\.1"):
        doubtful_words(sentences, known, 0.1, model, sents_per_doc=2)


@pytest.mark.slow
def test_the_whole_command(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    tiny_corpus(tmp_path / "corpus" / "tiny")
    folders = [text for name in ("corpus", "models", "records") for text in (f"--{name}", str(tmp_path / name))]
    shares = ["--random", "50", "--entropy", "50", "--start", "20"]
    given = ["--treebank", "tiny=2", *folders, *shares, "--out", str(tmp_path / "page.md")]
    main(given)
    page = (tmp_path / "page.md").read_text()
    assert all(f"| {row} |" in page for row in ("100 % | at random", "20 % | at random", "50 % | by entropy"))
    assert "nan" not in page and (tmp_path / "records" / "partial.svg").is_file()
    kept = list(read_treebank(tmp_path / "corpus" / "tiny.random.50" / "train.conllu"))
    heads = np.concatenate([each.heads for each in kept])
    assert (heads >= 0).sum() == round(len(heads) / 2)
    assert "training" in capsys.readouterr().out
    main(given)
    assert "training" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*given, "--start", "60"])
