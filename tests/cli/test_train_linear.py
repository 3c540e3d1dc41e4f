"""`mtt train-linear`: a pipeline folder like any other, resumed runs like those that never stopped."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.scoring.sparse_model import weights_of
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank

ROOT = Path(__file__).parents[2]
TREEBANK = ROOT / "assets" / "grammar-dutch"
SMALL = ["--corpora.train.limit", "60", "--corpora.dev.limit", "20", "--components.mtt_parser.model.table.bits", "16"]


def train(config: str, output: Path, *options: str):
    arguments = ["train-linear", str(ROOT / "configs" / f"{config}.cfg"), "--output", str(output)]
    paths = ["--paths.train", str(TREEBANK / "train.conll"), "--paths.dev", str(TREEBANK / "dev.conll")]
    return CliRunner().invoke(app, [*arguments, *paths, *SMALL, *options])


def weights(path: Path):
    return weights_of(spacy.load(path).get_pipe("mtt_parser").model).means()


@pytest.mark.parametrize("config", ["linear-perceptron", "linear-mira", "linear-eg", "linear-loglinear", "lowrank"])
def test_trains_saves_and_resumes(config, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    result = train(config, whole, "--passes", "4", "--eval-every", "2")
    assert result.exit_code == 0, result.output
    if config != "lowrank":  # which sums over what no tree can hold, as `spacy train` does
        assert "left out: 2 of 60 sentences (several roots)" in result.output
    assert "pass    2" in result.output and "pass    4" in result.output and "pass    3" not in result.output
    sentences = list(read_treebank(TREEBANK / "test.conll"))[:40]
    parsed = parse_with(spacy.load(whole / "model-best"), sentences, gold_tags=True)
    right = [a.heads == b.heads for a, b in zip(parsed.sentences, sentences, strict=True)]
    assert np.concatenate(right).mean() > 0.7

    assert train(config, parts, "--passes", "2").exit_code == 0
    refused = train(config, parts, "--passes", "4")
    assert refused.exit_code == 1 and "give --resume to go on with it" in refused.output
    other = train(config, parts, "--passes", "4", "--resume", "--training.seed", "7")
    assert other.exit_code == 1 and "of a run with another config or other training data" in other.output
    assert train(config, parts, "--passes", "4", "--resume").exit_code == 0
    if config != "linear-loglinear":  # L-BFGS begins a new memory
        np.testing.assert_allclose(
            weights(parts / "model-last")["arcs"], weights(whole / "model-last")["arcs"], atol=1e-6
        )


def test_labelled_trees_with_computed_features(tmp_path):
    options = ["--passes", "2", "--storage", "computed", "--components.mtt_parser.objective.labelled", "true"]
    result = train("linear-perceptron", tmp_path, *options, "--components.mtt_parser.model.label_bits", "12")
    assert result.exit_code == 0, result.output
    assert "label_loss" not in result.output
    assert all(each.any() for each in weights(tmp_path / "model-last").values())


@pytest.mark.parametrize(
    "config,passes,every", [("linear-perceptron", 10, 1), ("linear-eg", 30, 1), ("linear-loglinear", 100, 5)]
)
def test_passes_that_are_enough(config, passes, every, tmp_path):
    few = ["--corpora.train.limit", "8", "--corpora.dev.limit", "2"]
    result = train(config, tmp_path, *few)
    assert result.exit_code == 0, result.output
    evaluated = [int(line.split()[1]) for line in result.output.splitlines() if line.startswith("pass ")]
    if config == "linear-loglinear":  # stops when it has converged
        assert evaluated[:2] == [5, 10] and evaluated[-1] <= passes
    else:
        assert evaluated == list(range(every, passes + 1, every))


@pytest.mark.parametrize(
    "options,message",
    [
        (["--storage", "disk"], "--storage must be cached or computed, not 'disk'"),
        (["--paths.train", "missing.conll"], "missing.conll: no such file"),
        (["--resume"], "there is nothing to resume"),
        (["--training.optimizer.L2", "0.0"], "training.optimizer.L2 is 0"),
    ],
)
def test_errors_are_one_sentence(options, message, tmp_path):
    result = train("linear-loglinear", tmp_path / "output", *options)
    assert result.exit_code == 1
    assert message in result.output and "Traceback" not in result.output
    assert not (tmp_path / "output" / "model-last").exists()


def test_needs_a_linear_parser(tmp_path):
    arguments = ["train-linear", str(ROOT / "configs" / "biaffine.cfg"), "--output", str(tmp_path)]
    paths = ["--paths.train", str(TREEBANK / "train.conll"), "--paths.dev", str(TREEBANK / "dev.conll")]
    result = CliRunner().invoke(app, [*arguments, *paths, "--corpora.train.limit", "20"])
    assert result.exit_code == 1
    assert "has 0 mtt_parser with a linear or low-rank scorer, but must have one" in result.output
