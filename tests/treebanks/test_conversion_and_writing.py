import os

import pytest

from spacy_mtt.treebanks.conversion import to_conllu, to_conllx
from spacy_mtt.treebanks.docbins import read_docbin, write_docbin
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import replacing, treebank_texts, write_conllu, write_conllx, write_treebank
from tests.treebanks.samples import CONLLU_TEXT, CONLLX_TEXT, sentences


def test_conllu_to_conllx():
    converted = to_conllx(sentences(CONLLU_TEXT)[0])
    assert str(converted).split("\n")[:6] == [
        "1\tVamos\tir\tVERB\tV\tMood=Imp|Number=Plur\t0\troot\t_\t_",
        "2\tnos\tnosotros\tPRON\tPRON\tCase=Acc,Dat|Number=Plur\t1\tobj\t_\t_",
        "3\ta\ta\tADP\tE\t_\t5\tcase\t_\t_",
        "4\tel\tel\tDET\tDET\tGender=Masc\t5\tdet\t_\t_",
        "5\tmar\tmar\tNOUN\tS\t_\t1\tobl:arg\t_\t_",
        "6\t10_000\t10_000\tNUM\tZ\tNumType=Card\t5\tnummod\t_\t_",
    ]
    assert to_conllx(converted) is converted


def test_conllx_to_conllu_and_back():
    first, second = sentences(CONLLX_TEXT, "conllx")
    converted = to_conllu(first)
    assert str(converted).split("\n")[:2] == [
        "1\tJa\tja\t_\tAdv\teigen|ev\t0\tROOT\t_\t_",
        "2\thij\thij\t_\tPronPer\tper|3\t3\tsu\t_\tCPOSTAG=Pron",
    ]
    assert to_conllu(second).rows[0][3:5] == ("ADJ", "Adj")
    assert to_conllu(converted) is converted
    back = to_conllx(converted)
    assert [row[:8] for row in back.rows] == [row[:8] for row in first.rows]


def test_write_and_read(tmp_path):
    path = tmp_path / "t.conllu"
    assert write_treebank(path, sentences(CONLLU_TEXT)) == 2
    assert path.read_text("utf8") == CONLLU_TEXT
    assert write_conllx(tmp_path / "t.conll", read_treebank(path)) == 2
    assert len(list(read_treebank(tmp_path / "t.conll"))) == 2
    assert write_conllu(tmp_path / "u.conllu", sentences(CONLLX_TEXT, "conllx")) == 2
    assert len(list(read_treebank(tmp_path / "u.conllu"))) == 2
    assert sorted(os.listdir(tmp_path)) == ["t.conll", "t.conllu", "u.conllu"]


def test_the_last_sentence_of_a_file_can_become_an_inner_one():
    open_end = sentences(CONLLX_TEXT.rstrip("\n"), "conllx")
    text = "".join(treebank_texts([*open_end, *open_end]))
    assert text == CONLLX_TEXT + CONLLX_TEXT.rstrip("\n")


def test_failed_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.conllu"
    path.write_text("old")

    def broken():
        yield sentences(CONLLU_TEXT)[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_treebank(path, broken())
    with pytest.raises(TreebankError, match="'á' in sentence 1 is not in ascii"):
        write_treebank(path, sentences(CONLLU_TEXT), encoding="ascii")
    with pytest.raises(TreebankError, match="unknown encoding 'klingon'"):
        write_treebank(path, sentences(CONLLU_TEXT), encoding="klingon")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["t.conllu"]
    with pytest.raises(TreebankError, match="cannot be written"), replacing(tmp_path / "no" / "t.conllu"):
        pass


def test_docbins(tmp_path):
    path = tmp_path / "t.spacy"
    assert write_docbin(path, sentences(CONLLU_TEXT), sents_per_doc=2) == 1
    assert "".join(map(str, read_docbin(path))) == CONLLU_TEXT
    assert [each.format.name for each in read_docbin(path, "conllx")] == ["conllx", "conllx"]
    with pytest.raises(TreebankError, match="sents_per_doc = 0"):
        write_docbin(path, [], sents_per_doc=0)
    path.write_bytes(b"no docbin")
    with pytest.raises(TreebankError, match=r"is no \.spacy file"):
        list(read_docbin(path))
    with pytest.raises(TreebankError, match="cannot be read"):
        list(read_docbin(tmp_path / "missing.spacy"))
