"""project.yml: its assets are those of the treebanks, its commands exist, and its workflows run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
import spacy
import srsly
import typer.main
from spacy.cli._util import app
from weasel.util.config import load_project_config

from spacy_mtt.treebanks.assets import file_md5, read_assets
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sources import GitDocuments, Url, ZipMember

ROOT = Path(__file__).parents[1]
PROJECT = srsly.read_yaml(ROOT / "project.yml")
GRAMMAR = ROOT / "assets" / "grammar-english"
COMMIT = re.compile(r"[0-9a-f]{40}")


def test_every_asset_has_a_source_a_place_and_a_checksum():
    assets = [asset for files in read_assets(ROOT / "project.yml").values() for asset in files]
    assert len(assets) == len(PROJECT["assets"]) > 30
    assert len({asset.dest for asset in assets}) == len(assets)
    for asset, entry in zip(assets, PROJECT["assets"], strict=True):
        assert str(asset.dest) == entry["dest"] and entry["dest"].startswith("assets/treebanks/")
        assert re.fullmatch("[0-9a-f]{32}", entry["checksum"])
        assert entry["extra"] is True, "an asset that spaCy would download unasked"
        if isinstance(asset.source, Url):
            assert asset.source.address.startswith("https://raw.githubusercontent.com/")
            assert COMMIT.search(asset.source.address)
        elif isinstance(asset.source, ZipMember):
            assert asset.description and COMMIT.search(asset.source.address)
        else:
            assert isinstance(asset.source, GitDocuments)
            assert asset.description and COMMIT.fullmatch(asset.source.commit)


def test_every_treebank_has_a_test_part_and_something_to_train_on():
    for name, assets in read_assets(ROOT / "project.yml").items():
        parts = {asset.part for asset in assets}
        assert "test" in parts and parts & {"train", "dev"}, name


def test_the_checksums_are_those_of_the_files(treebanks):
    files = {path for path in treebanks.rglob("*") if path.suffix in (".conll", ".conllu")}
    assets = [asset for files in read_assets(ROOT / "project.yml").values() for asset in files]
    assert {treebanks / asset.treebank / asset.name for asset in assets} == files
    readme = (treebanks / "README.md").read_text(encoding="utf8")
    stated = dict(re.findall(r"^\| (\S+/\S+) \| \d+ \| ([0-9a-f]{32}) \|", readme, re.MULTILINE))
    for asset in assets:
        name = f"{asset.treebank}/{asset.name}"
        assert asset.checksum == stated[name] == file_md5(treebanks / name), name


def spacy_command(words: list[str]):
    """The click command that the words after `python -m spacy` name."""
    spacy.util.registry.cli.get_all()  # what `python -m spacy` does to find the commands of plugins
    command = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
        if not hasattr(command, "commands"):
            return command
    raise AssertionError(words)


def test_every_script_line_is_a_command_with_options_that_it_has():
    config = load_project_config(ROOT)
    names = {command["name"] for command in config["commands"]}
    assert {name for steps in config["workflows"].values() for name in steps} <= names
    for entry in config["commands"]:
        assert entry["help"] and entry["script"]
        for line in entry["script"]:
            words = shlex.split(line)
            assert "${" not in line and words[0] == "python"
            if words[1:3] != ["-m", "spacy"]:
                continue
            command = spacy_command(words[3:])
            known = {name for parameter in command.params for name in parameter.opts}
            options = {word for word in words if word.startswith("--")}
            if words[3] == "train":
                options = {option for option in options if "." not in option}
            assert options <= known, (line, options - known)


def test_overrides_of_the_training_scripts_are_settings_of_their_configs():
    for entry in load_project_config(ROOT)["commands"]:
        for words in map(shlex.split, entry["script"]):
            if words[3:4] == ["train"]:
                config = spacy.util.load_config(ROOT / words[4], interpolate=True)
                for option in (word[2:] for word in words if word.startswith("--") and "." in word):
                    *sections, name = option.split(".")
                    assert name in reduce(getitem, sections, config), option


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A copy of the project in which the English grammar is a treebank of its own, `tiny`, and nothing else is there.

    The folder of treebanks has `tiny` without a dev file, in CoNLL-X.
    """
    folder = tmp_path / "project with a space"
    shutil.copytree(ROOT / "configs", folder / "configs")
    shutil.copytree(GRAMMAR, folder / "assets" / GRAMMAR.name)
    treebank = tmp_path / "folder of treebanks" / "tiny"
    treebank.mkdir(parents=True)
    assets = []
    for part, count in (("train", 80), ("test", 12)):
        text = (GRAMMAR / f"{part}.conll").read_text(encoding="utf8")
        (treebank / f"{part}.conll").write_text("\n\n".join(text.split("\n\n")[:count]) + "\n\n", encoding="utf8")
        dest = f"assets/treebanks/tiny/{part}.conll"
        assets.append({"dest": dest, "checksum": file_md5(treebank / f"{part}.conll")})
    srsly.write_yaml(folder / "project.yml", {**PROJECT, "assets": assets})
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return folder


def run(project: Path, *arguments: str, module: str = "spacy") -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, encoding="utf8", check=False)


def overrides(project: Path, **variables) -> list[str]:
    variables = {"treebank": "tiny", "treebanks_folder": project.parent / "folder of treebanks", **variables}
    return [text for name, value in variables.items() for text in (f"--vars.{name}", str(value))]


@pytest.mark.slow
def test_quickstart_runs(project):
    done = run(project, "project", "run", "quickstart", ".", "--vars.quickstart_steps", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"CoNLL-X", "spaCy"} <= set(re.findall(r"[\w-]+", done.stdout))
    assert len(re.findall(r"^\d+\. ", done.stdout, re.MULTILINE)) == 5
    scores = json.loads((project / "metrics" / "grammar-english.json").read_text(encoding="utf8"))
    assert 0 <= scores["conllx"]["LAS"] <= scores["conllx"]["UAS"] <= 100
    assert (project / "output" / "parse.svg").read_text(encoding="utf8").startswith("<svg")


@pytest.mark.slow
def test_treebank_workflow_runs_and_stops_at_a_wrong_checksum(project):
    variables = overrides(project, steps=2, eval_frequency=1, package_build="none")
    done = run(project, "project", "run", "treebank", ".", *variables)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = {
        part: len(list(read_treebank(project / f"corpus/tiny/{part}.conllu"))) for part in ("train", "dev", "test")
    }
    assert parts == {"train": 72, "dev": 8, "test": 12}
    assert json.loads((project / "metrics" / "tiny.mtt_parser.json").read_text(encoding="utf8"))["speed"]["words"] > 100
    package = project / "packages" / "tiny" / "xx_mtt_parser-0.1.0"
    nlp = spacy.load(package / "xx_mtt_parser" / "xx_mtt_parser-0.1.0")
    assert all(token.dep_ for token in nlp("It works"))
    meta = json.loads((package / "meta.json").read_text(encoding="utf8"))
    assert any(requirement.startswith("spacy-mtt") for requirement in meta["requirements"])

    shutil.rmtree(project / "assets" / "treebanks")
    with open(project.parent / "folder of treebanks" / "tiny" / "test.conll", "ab") as file:
        file.write(b"\n")
    done = run(project, "project", "run", "treebank", ".", *variables)
    assert done.returncode == 1
    assert "test.conll: expected the MD5" in done.stderr and "prepare" not in done.stdout
    assert not (project / "assets" / "treebanks" / "tiny" / "test.conll").exists()
