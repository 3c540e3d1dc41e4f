"""The parts that the benchmark of the low-rank model trains on and scores."""

import pytest

from benchmarks.low_rank_run import part_name, parts_of

SENTENCE = "1\t{0}\t{0}\tN\tN\t_\t0\troot\t_\t_\n\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train.conll").write_text("".join(SENTENCE.format(f"w{i}") for i in range(23)), encoding="utf8")
    (tmp_path / "test.conll").write_text(SENTENCE.format("t"), encoding="utf8")
    return tmp_path


def forms(sentences):
    return [sentence.rows[0][1] for sentence in sentences]


def test_blocks_are_contiguous_and_together_the_training_file(folder):
    scored = []
    for number in range(5):
        train, block = map(forms, parts_of(folder, f"block:{number}/5"))
        assert block and not set(train) & set(block)
        assert train[: len(scored)] == scored and len(train) + len(block) == 23
        scored += block
    assert scored == [f"w{i}" for i in range(23)]


def test_the_test_part_is_the_test_file_and_dev_every_tenth_sentence(folder):
    train, test = map(forms, parts_of(folder, "test"))
    assert len(train) == 23 and test == ["t"]
    train, dev = map(forms, parts_of(folder, "dev"))
    assert dev == ["w9", "w19"] and len(train) == 21


@pytest.mark.parametrize("text", ["block:5/5", "block:0/1", "block:1", "train"])
def test_other_parts_are_refused(text):
    with pytest.raises(ValueError, match="is no part: it must be dev, test or block:K/N"):
        part_name(text)


@pytest.mark.parametrize("text", ["dev", "test", "block:9/10"])
def test_parts_have_names(text):
    assert part_name(text) == text
