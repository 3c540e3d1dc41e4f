"""Every config in configs/ is complete, and trains from treebank files."""

from itertools import islice
from pathlib import Path

import pytest
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config

from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank

ROOT = Path(__file__).parents[1]
CONFIGS = sorted((ROOT / "configs").glob("*.cfg"))
TREEBANK = ROOT / "assets" / "grammar-english"

pytestmark = pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)


def settings(config: Config, section: str = "") -> dict[str, object]:
    """All settings by their dotted names."""
    found: dict[str, object] = {}
    for key, value in config.items():
        if isinstance(value, dict) and value:
            found.update(settings(value, f"{section}{key}."))
        else:
            found[f"{section}{key}"] = value
    return found


def test_filling_changes_no_setting_and_adds_none_to_the_components(path):
    config = load_config(path, interpolate=True)
    filled = load_model_from_config(load_config(path), auto_fill=True).config.interpolate()
    given, full = settings(config), settings(filled)
    assert {name: full.get(name) for name in given} == given
    components = {name for name in full if name.startswith("components.")}
    assert components == {name for name in given if name.startswith("components.")}


def test_registry_fills_each_model_without_change(path):
    for name, component in load_config(path, interpolate=True)["components"].items():
        for key, block in component.items():
            if isinstance(block, dict) and any(each.startswith("@") for each in block):
                filled = registry.fill(Config({key: block}), validate=True)[key]
                assert filled == block, f"{name}.{key}"


def test_a_trained_pipeline_can_learn_on(path):
    nlp = load_model_from_config(load_config(path), auto_fill=True)
    assert nlp.resume_training() is not None


@pytest.fixture
def trained(path):
    """The pipeline after two steps on the embedded treebank."""
    overrides = {
        "paths.train": str(TREEBANK / "train.conll"),
        "paths.dev": str(TREEBANK / "dev.conll"),
        "corpora.train.limit": 120,
        "corpora.dev.limit": 20,
        "training.max_steps": 2,
        "training.eval_frequency": 1,
    }
    nlp = init_nlp(load_config(path, overrides=overrides, interpolate=False))
    train(nlp, use_gpu=-1)
    return nlp


def test_training_gives_a_parser_that_keeps_sentence_boundaries(trained, path):
    sentences = list(islice(read_treebank(TREEBANK / "test.conll"), 60))
    for per_doc in (1, 3):
        parsed = parse_with(trained, sentences, sents_per_doc=per_doc, gold_tags="gold_tags = true" in path.read_text())
        assert [len(sentence) for sentence in parsed.sentences] == [len(sentence) for sentence in sentences]
        for example in parsed.examples:
            doc = example.predicted
            assert all(token.dep_ for token in doc)
            starts = [token.i for token in doc if token.is_sent_start]
            assert starts == [token.i for token in doc if token.i == token.sent.start]
            assert len(starts) == per_doc
