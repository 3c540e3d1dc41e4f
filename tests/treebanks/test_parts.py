"""Train, dev and test part: the rule where a file is missing, and that nothing changes on the way."""

import pytest

from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.parts import PartFile, write_parts
from spacy_mtt.treebanks.reading import read_treebank


def conllx(count: int, name: str) -> str:
    return "".join(
        f"1\t{name}{i}\t_\tN\tN\t_\t2\tnsubj\t_\t_\n2\tx\t_\tV\tV\t_\t0\tROOT\t_\t_\n\n" for i in range(1, count + 1)
    )


def conllu(count: int, name: str) -> str:
    return "".join(f"# {i}\n1\t{name}{i}\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n" for i in range(1, count + 1))


def files(tmp_path, ending: str, **texts: str) -> dict[str, PartFile]:
    for part, text in texts.items():
        (tmp_path / f"{part}{ending}").write_text(text, encoding="utf8", newline="")
    return {part: PartFile(tmp_path / f"{part}{ending}") for part in texts}


def names(path) -> list[str]:
    return [sentence.forms[0] for sentence in read_treebank(path)]


def test_three_parts_in_conllu_stay_byte_for_byte(tmp_path):
    texts = {part: conllu(12, part) for part in ("train", "dev", "test")}
    counts = write_parts(files(tmp_path, ".conllu", **texts), tmp_path / "out")
    assert counts == {"train": 12, "dev": 12, "test": 12}
    for part, text in texts.items():
        assert (tmp_path / "out" / f"{part}.conllu").read_bytes() == text.encode("utf8")


def test_without_dev_every_tenth_sentence_of_train_is_taken(tmp_path):
    counts = write_parts(files(tmp_path, ".conll", train=conllx(25, "w"), test=conllx(11, "t")), tmp_path)
    assert counts == {"train": 23, "dev": 2, "test": 11}
    assert names(tmp_path / "dev.conllu") == ["w10", "w20"]
    assert names(tmp_path / "train.conllu") == [f"w{i}" for i in range(1, 26) if i not in (10, 20)]
    assert names(tmp_path / "test.conllu") == [f"t{i}" for i in range(1, 12)]


def test_another_share(tmp_path):
    write_parts(files(tmp_path, ".conll", train=conllx(5, "w"), test=conllx(1, "t")), tmp_path, every=2)
    assert names(tmp_path / "dev.conllu") == ["w2", "w4"]
    with pytest.raises(TreebankError, match="every = 1"):
        write_parts(files(tmp_path, ".conll", train=conllx(5, "w"), test=conllx(1, "t")), tmp_path, every=1)


def test_without_train_the_dev_file_is_the_train_part(tmp_path):
    counts = write_parts(files(tmp_path, ".conllu", dev=conllu(10, "d"), test=conllu(3, "t")), tmp_path / "out")
    assert counts == {"train": 9, "dev": 1, "test": 3}
    assert names(tmp_path / "out" / "dev.conllu") == ["d10"]


def test_trees_labels_and_words_survive_and_become_utf8(tmp_path):
    text = conllx(10, "ñ").encode("latin-1")
    (tmp_path / "train.conll").write_bytes(text)
    part = PartFile(tmp_path / "train.conll", "latin-1")
    write_parts({"train": part, "dev": part, "test": part}, tmp_path / "out")
    found = list(read_treebank(tmp_path / "out" / "test.conllu"))
    gold = list(part.sentences())
    assert [each.forms for each in found] == [each.forms for each in gold]
    assert [each.deprels for each in found] == [each.deprels for each in gold]
    assert [each.heads.tolist() for each in found] == [each.heads.tolist() for each in gold]


@pytest.mark.parametrize(
    ("parts", "reason"), [(["train"], "no test part"), (["test"], "no train part"), ([], "nothing")]
)
def test_treebanks_without_enough_parts(tmp_path, parts, reason):
    with pytest.raises(TreebankError, match=reason):
        write_parts(files(tmp_path, ".conll", **{part: conllx(3, part) for part in parts}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_treebank_too_small_to_cut(tmp_path):
    with pytest.raises(TreebankError, match=r"dev\.conllu: would hold no sentence"):
        write_parts(files(tmp_path, ".conll", train=conllx(9, "w"), test=conllx(1, "t")), tmp_path / "out")
    assert not (tmp_path / "out" / "dev.conllu").exists()


def test_the_real_treebanks_keep_their_test_sentences(treebanks, tmp_path):
    folder = treebanks / "conllx-basque-nltk"
    parts = {part: PartFile(folder / f"{part}.conll", "iso-8859-1") for part in ("train", "test")}
    assert write_parts(parts, tmp_path) == {"train": 2336, "dev": 259, "test": 580}
    for found, gold in zip(read_treebank(tmp_path / "test.conllu"), parts["test"].sentences(), strict=True):
        assert found.forms == gold.forms and found.deprels == gold.deprels
        assert (found.heads == gold.heads).all()
