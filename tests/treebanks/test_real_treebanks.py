"""Real treebanks: every byte and every figure. Skipped without the treebanks folder."""

import re
from itertools import islice

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_mtt.treebanks.docs import USER_DATA_KEY, sentences_to_doc
from spacy_mtt.treebanks.evaluation import (
    EvaluationError,
    evaluate_conllx,
    evaluate_nonprojective,
    evaluate_spacy,
    evaluate_ud,
    examples_from,
)
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.reading import check_treebank, read_treebank
from spacy_mtt.treebanks.writing import treebank_texts

# All files take a minute; those without the mark have one file of each kind of trouble.
SIZES = [pytest.param(300_000, id="small"), pytest.param(10**9, id="all", marks=pytest.mark.slow)]


def files(folder, size):
    """All treebank files of less than `size` bytes."""
    found = sorted(path for path in folder.glob("*/*.conll*") if path.stat().st_size < size)
    assert found
    return found


def encoding_of(path):
    return "latin1" if "basque" in path.parent.name else "utf8"


def read(path):
    return list(read_treebank(path, encoding=encoding_of(path)))


@pytest.mark.parametrize("size", SIZES)
def test_every_file_comes_back_byte_for_byte(treebanks, size):
    for path in files(treebanks, size):
        text = "".join(treebank_texts(read_treebank(path, encoding=encoding_of(path))))
        assert text.encode(encoding_of(path)) == path.read_bytes(), path


def documented_figures(treebanks):
    """{folder: {part: (sentences, words, crossing, non-projective, multi-root)}} from the folder's table."""
    figures = {}
    for line in (treebanks / "README.md").read_text("utf8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 9 and re.match(r"(UD_|conllx-)", cells[0]):
            triples = [[part.strip() for part in cell.split(" / ")] for cell in cells[4:]]
            columns = zip(*triples, strict=True)
            figures[cells[0]] = dict(zip(("train", "dev", "test"), columns, strict=True))
    return figures


@pytest.mark.parametrize("size", SIZES)
def test_figures(treebanks, size):
    figures = documented_figures(treebanks)
    assert figures
    checked = 0
    for folder, parts in figures.items():
        for part, expected in parts.items():
            paths = [
                path
                for path in (treebanks / folder).glob(f"{part}.conll*")
                if path in files(treebanks, size) and "official" not in path.name
            ]
            if not paths or expected[0] == "–":
                continue
            report = check_treebank(paths[0], encoding=encoding_of(paths[0]))
            found = report.statistics
            percentages = (found.crossing_percent, found.nonprojective_percent, found.multi_root_percent)
            shown = (str(found.sentences), str(found.words), *(f"{each:.2f}" for each in percentages))
            assert shown == expected, paths[0]
            assert report.errors == 0
            checked += 1
    assert checked


def test_docs_give_the_lines_back(treebanks):
    for path in files(treebanks, 10**9):
        gold = list(islice(read_treebank(path, encoding=encoding_of(path)), 100))
        docs = [sentences_to_doc(gold[i : i + 5], Vocab()) for i in range(0, len(gold), 5)]
        data = DocBin(docs=docs, store_user_data=True).to_bytes()
        back = [each for doc in DocBin().from_bytes(data).get_docs(Vocab()) for each in doc_to_sentences(doc)]
        assert list(map(str, back)) == list(map(str, gold)), path


def test_docs_hold_the_trees_without_the_kept_text(treebanks):
    """The kept text could hide a loss: without it, heads and labels have to be in the Doc itself."""
    for path in files(treebanks, 300_000):
        vocab = Vocab()
        for sentence in read(path)[:100]:
            doc = sentences_to_doc([sentence], vocab)
            del doc.user_data[USER_DATA_KEY]
            heads = [0 if token.head == token else token.head.i + 1 for token in doc]
            assert heads == sentence.heads.tolist()
            assert [token.dep_ for token in doc] == sentence.deprels
            assert all(token.has_head() for token in doc)


@pytest.mark.parametrize("name", ["UD_Turkish-IMST/test.conllu", "conllx-dutch-alpino6000/test.conll"])
def test_gold_against_itself(treebanks, name):
    gold = read(treebanks / name)
    assert set(evaluate_conllx(gold, gold).scores.values()) == {100.0}
    assert set(evaluate_nonprojective(gold, gold).scores.values()) == {100.0}
    assert set(evaluate_spacy(examples_from(gold, gold, Vocab())).scores.values()) == {100.0}
    if name.startswith("UD_"):
        assert set(evaluate_ud(gold, gold).scores.values()) == {100.0}
    else:
        with pytest.raises(EvaluationError, match="words are roots"):
            evaluate_ud(gold, gold)
