"""The treebanks in assets/: what assets/README.md promises of them."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from spacy_mtt.inference.trees import crossing_arcs, is_tree

ASSETS = Path(__file__).parents[2] / "assets"
GENERATOR = ASSETS / "grammar" / "generate.py"
SIZES = {"train": 1000, "dev": 200, "test": 200}
LANGUAGES = ("english", "dutch")
FILES = [(language, split) for language in LANGUAGES for split in SIZES]
FORM, COARSE, FINE, HEAD, LABEL = 1, 3, 4, 6, 7

Sentence = list[list[str]]


@cache
def sentences(language: str, split: str) -> list[Sentence]:
    text = (ASSETS / f"grammar-{language}" / f"{split}.conll").read_bytes().decode("utf-8")
    assert text.endswith("\n\n") and "\r" not in text
    return [[row.split("\t") for row in block.split("\n")] for block in text[:-2].split("\n\n")]


def heads_of(sentence: Sentence) -> np.ndarray:
    return np.array([int(row[HEAD]) for row in sentence])


@cache
def crossings(language: str, split: str) -> list[np.ndarray]:
    return [crossing_arcs(heads_of(sentence)) for sentence in sentences(language, split)]


def forms_of(sentence: Sentence) -> tuple[str, ...]:
    return tuple(row[FORM] for row in sentence)


def generator(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", GENERATOR, *arguments], capture_output=True, encoding="utf-8")


def test_the_seed_gives_the_committed_files():
    finished = generator("--check")
    assert finished.returncode == 0, finished.stderr


def test_another_seed_does_not_and_the_check_says_which_file():
    finished = generator("--check", "--seed", "1")
    assert finished.returncode == 1
    assert "train.conll is not what the seed 1 gives" in finished.stderr


def test_the_readme_shows_the_statistics_of_the_files():
    readme = (ASSETS / "README.md").read_text(encoding="utf-8")
    table = generator("--tally").stdout.strip()
    assert len(table.splitlines()) == 2 + len(FILES)
    assert table in readme


@pytest.mark.parametrize("language, split", FILES)
def test_rows_are_conllx(language, split):
    assert len(sentences(language, split)) == SIZES[split]
    for sentence in sentences(language, split):
        assert 3 <= len(sentence) <= 30
        assert [row[0] for row in sentence] == [str(i) for i in range(1, len(sentence) + 1)]
        for row in sentence:
            assert len(row) == 10 and all(row) and row[8:] == ["_", "_"]
            assert not any(blank in column for column in row for blank in " \u00a0")


@pytest.mark.parametrize("language, split", FILES)
def test_sentences_are_trees_whose_roots_are_labelled_so(language, split):
    for sentence in sentences(language, split):
        assert is_tree(heads_of(sentence))
        for row in sentence:
            assert (row[HEAD] == "0") == (row[LABEL] == "ROOT")


@pytest.mark.parametrize("language, split", FILES)
def test_no_phrase_hangs_on_punctuation(language, split):
    for sentence in sentences(language, split):
        for row in sentence:
            assert row[HEAD] == "0" or sentence[int(row[HEAD]) - 1][COARSE] != "PUNCT"
            assert (row[COARSE] == "PUNCT") == (row[LABEL] == "punct")


@pytest.mark.parametrize("language, split", FILES)
def test_at_least_one_arc_in_twenty_crosses_another(language, split):
    assert 0.05 <= np.concatenate(crossings(language, split)).mean() <= 0.12


@pytest.mark.parametrize("language, split", FILES)
def test_two_roots_are_present_and_rare(language, split):
    roots = np.array([(heads_of(sentence) == 0).sum() for sentence in sentences(language, split)])
    assert roots.max() == 2
    assert 0.02 <= (roots == 2).mean() <= 0.03


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_occurs_twice(language):
    forms = [forms_of(sentence) for split in SIZES for sentence in sentences(language, split)]
    assert len(set(forms)) == len(forms) == sum(SIZES.values())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("split", ["dev", "test"])
def test_some_words_are_unseen_in_training(language, split):
    known = {row[FORM].lower() for sentence in sentences(language, "train") for row in sentence}
    unseen = [row[FORM].lower() not in known for sentence in sentences(language, split) for row in sentence]
    assert 0.04 <= np.mean(unseen) <= 0.09


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_are_those_of_the_readme(language):
    readme = (ASSETS / "README.md").read_text(encoding="utf-8")
    paragraph = readme.split("### Labels")[1].split(f"{language.capitalize()} (")[1].split("\n\n")[0]
    documented = paragraph.split("`")[1::2]
    used = {row[LABEL] for sentence in sentences(language, "train") for row in sentence}
    assert set(documented) == used
    assert len(documented) == len(used) == int(paragraph.split(")")[0])
    for split in ("dev", "test"):
        assert {row[LABEL] for sentence in sentences(language, split) for row in sentence} <= used


@pytest.mark.parametrize("language, objects", [("english", "dobj"), ("dutch", "obj1")])
def test_the_same_tags_have_a_pp_on_the_verb_and_on_the_object(language, objects):
    """One sequence of fine tags, the verb on one side, both readings: the tags cannot tell which."""
    on_noun = defaultdict(list)
    coarse = ["DET", "NOUN", "ADP", "DET", "NOUN"]
    for sentence in sentences(language, "train"):
        for i in range(len(sentence) - len(coarse) + 1):
            window = sentence[i : i + len(coarse)]
            noun, preposition = window[1], window[2]
            if [row[COARSE] for row in window] != coarse or noun[LABEL] != objects:
                continue
            if preposition[HEAD] in (noun[0], noun[HEAD]):
                tags = tuple(row[FINE] for row in window)
                on_noun[tags, int(noun[HEAD]) < int(noun[0])].append(preposition[HEAD] == noun[0])
    contested = [readings for readings in on_noun.values() if 0 < sum(readings) < len(readings)]
    assert len(contested) >= 8
    assert sum(map(len, contested)) >= 40


@pytest.mark.parametrize("language, relative", [("english", "relcl"), ("dutch", "rel")])
def test_relative_clauses_leave_their_noun(language, relative):
    """Extraposed ones cross another arc, those in place do not; both kinds are there."""
    apart, together = 0, 0
    for sentence, crossing in zip(sentences(language, "train"), crossings(language, "train"), strict=True):
        for row, crosses in zip(sentence, crossing, strict=True):
            if row[LABEL] == relative:
                apart, together = apart + crosses, together + (not crosses)
    assert apart >= 30 and together >= 30
