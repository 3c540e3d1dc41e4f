"""Saved parsers are whole, or the file that is not is named; loading runs no code; a killed save leaves the old one."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly

from spacy_mtt.pipeline.saving import AtomicSaving
from tests.pipeline.helpers import parse_of, random_parser
from tests.pipeline.linear_helpers import OBJECTIVES, linear_pipeline, low_rank_pipeline

PIPELINES = {
    "biaffine": random_parser,
    "linear": lambda: linear_pipeline(OBJECTIVES["perceptron"], count=5)[0],
    "low-rank": lambda: low_rank_pipeline(OBJECTIVES["mira"], count=5)[0],
}


@pytest.fixture(params=PIPELINES)
def saved(request, tmp_path) -> Path:
    PIPELINES[request.param]().to_disk(tmp_path / "nlp")
    return tmp_path / "nlp"


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("name", ["cfg", "model", "checksums.json"])
@pytest.mark.parametrize("damage", [cut, flip, lambda data: b""], ids=["cut", "flipped", "emptied"])
def test_a_damaged_file_is_named(saved, name, damage):
    path = saved / "mtt_parser" / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"mtt_parser/(cfg|model|checksums\.json): ") as caught:
        spacy.load(saved)
    assert "\n" not in str(caught.value)
    assert name == "checksums.json" or f"mtt_parser/{name}: was changed or cut off" in str(caught.value)


@pytest.mark.parametrize("name", ["cfg", "model"])
def test_a_missing_file_is_named(saved, name):
    (saved / "mtt_parser" / name).unlink()
    with pytest.raises(ValueError, match=f"mtt_parser/{name}: is missing"):
        spacy.load(saved)


@pytest.mark.parametrize("damage", [cut, lambda data: b"", lambda data: data[:40]], ids=["cut", "emptied", "start"])
def test_without_checksums_the_folder_is_named(saved, damage):
    (saved / "mtt_parser" / "checksums.json").unlink()
    spacy.load(saved)
    path = saved / "mtt_parser" / "model"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="mtt_parser: cannot be loaded: "):
        spacy.load(saved)


def test_checksums_lead_nowhere_else(saved):
    path = saved / "mtt_parser" / "checksums.json"
    srsly.write_json(path, {"../config.cfg": "x"})
    with pytest.raises(ValueError, match="is no file of this folder"):
        spacy.load(saved)


def test_what_is_excluded_is_not_missed(tmp_path):
    nlp = random_parser()
    parser = nlp.get_pipe("mtt_parser")
    parser.to_disk(tmp_path / "parser", exclude=["model"])
    fresh = random_parser(1).get_pipe("mtt_parser")
    fresh.from_disk(tmp_path / "parser", exclude=["model"])
    assert fresh.labels == parser.labels


def test_loading_unpickles_nothing(saved, monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("something was unpickled")

    monkeypatch.setattr(pickle, "loads", forbidden)
    monkeypatch.setattr(pickle, "load", forbidden)
    monkeypatch.setattr(pickle, "Unpickler", forbidden)
    nlp = spacy.load(saved)
    assert len(list(nlp("the cat saw").sents)) == 1
    for path in saved.rglob("*"):
        assert path.is_dir() or not path.read_bytes().startswith(b"\x80\x04")  # how a pickle begins


# ---- saving

KILLED = """
import os, signal, sys
from spacy_mtt.pipeline.saving import AtomicSaving
from tests.pipeline.helpers import random_parser
nlp = random_parser(1)
parser = nlp.get_pipe("mtt_parser")
type(parser).to_disk = lambda self, path, **_: (os.makedirs(path), os.kill(os.getpid(), signal.SIGKILL))
AtomicSaving()(nlp).to_disk(sys.argv[1])
"""


def test_a_save_that_is_killed_leaves_the_old_model(tmp_path):
    nlp = random_parser()
    AtomicSaving()(nlp).to_disk(tmp_path / "model")
    text = "the cat saw a dog"
    before = parse_of(spacy.load(tmp_path / "model")(text))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    killed = subprocess.run([sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path / "model")], env=environment)
    assert killed.returncode == -signal.SIGKILL
    assert parse_of(spacy.load(tmp_path / "model")(text)) == before


def test_a_new_save_takes_the_place_of_the_old_one(tmp_path):
    old, new = random_parser(), random_parser(1)
    old.add_pipe("sentencizer", first=True)
    AtomicSaving()(old).to_disk(tmp_path / "model")
    assert AtomicSaving()(new) is new
    new.to_disk(tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    assert not (tmp_path / "model" / "sentencizer").exists()
    expected = new.get_pipe("mtt_parser").model.get_ref("arcs").get_param("W")
    found = spacy.load(tmp_path / "model").get_pipe("mtt_parser").model.get_ref("arcs").get_param("W")
    np.testing.assert_array_equal(found, expected)
    assert "to_disk" not in vars(new)


def test_other_folders_are_not_emptied(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    AtomicSaving()(random_parser()).to_disk(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine" and (tmp_path / "meta.json").is_file()
    spacy.load(tmp_path)
