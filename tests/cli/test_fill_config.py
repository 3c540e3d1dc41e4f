"""`mtt fill-config`: what it changes in a config, that the result trains, and what it refuses."""

import pytest
import spacy
from spacy import registry
from spacy.cli.init_config import init_config
from spacy.ml.models import build_hash_embed_cnn_tok2vec
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Config
from typer.testing import CliRunner

from spacy_mtt.cli import app
from tests.test_configs import settings


@pytest.fixture
def base() -> Config:
    """A complete config of spaCy's own."""
    return init_config(lang="en", pipeline=["tagger", "parser", "ner"], optimize="efficiency", gpu=False)


@pytest.fixture
def fill(tmp_path):
    """Run the command on a config: the exit code, the config it wrote if it did, what it said."""

    def fill(config: Config, *options: str):
        source, target = tmp_path / "base.cfg", tmp_path / "folder" / "filled.cfg"
        config.to_disk(source, interpolate=False)
        result = CliRunner().invoke(app, ["fill-config", str(source), str(target), *options])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        filled = Config().from_disk(target, interpolate=False) if target.exists() else None
        return result.exit_code, filled, result.output

    return fill


def examples(nlp) -> list[Example]:
    gold = Doc(nlp.vocab, words=["she", "sleeps"], heads=[1, 1], deps=["nsubj", "ROOT"], tags=["P", "V"])
    return [Example(Doc(nlp.vocab, words=["she", "sleeps"]), gold)]


@pytest.mark.parametrize("options", [[], ["--no-recurrence"]])
def test_the_parser_is_replaced_and_nothing_else(base, fill, options):
    code, filled, output = fill(base, *options)
    assert code == 0 and "mtt_parser" in output
    before, after = settings(base), settings(filled)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert all(name.startswith("components.parser.") for name in changed)
    assert filled["components"]["parser"]["factory"] == "mtt_parser"
    listener = base["components"]["parser"]["model"]["tok2vec"]
    tok2vec = filled["components"]["parser"]["model"]["tok2vec"]
    assert listener["width"] == "${components.tok2vec.model.encode.width}"
    assert listener == (tok2vec if options else tok2vec["embed"])
    complete = load_model_from_config(filled, auto_fill=True).config
    assert complete["components"] == filled["components"]


@pytest.mark.parametrize("options", [[], ["--no-recurrence"]])
def test_the_result_trains_and_parses(base, fill, options):
    nlp = load_model_from_config(fill(base, *options)[1])
    nlp.select_pipes(disable=["ner"])
    data = examples(nlp)
    optimizer = nlp.initialize(lambda: data)
    tok2vec = nlp.get_pipe("tok2vec")
    assert tok2vec.listening_components == ["tagger", "parser"]
    before = tok2vec.model.to_bytes()
    for _ in range(60):
        nlp.update(data, sgd=optimizer)
    doc = nlp("she sleeps")
    assert [(token.head.i, token.dep_, token.tag_) for token in doc] == [(1, "nsubj", "P"), (1, "ROOT", "V")]
    assert tok2vec.model.to_bytes() != before


def test_an_incomplete_config_is_filled(fill):
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1, "embed_size": 50}
    tok2vec.update(window_size=1, maxout_pieces=2, subword_features=True, pretrained_vectors=None)
    model = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "tok2vec": tok2vec}
    config = Config({"nlp": {"lang": "xx", "pipeline": ["syntax"]}})
    config["components"] = {"syntax": {"factory": "beam_parser", "model": model}}
    code, filled, _ = fill(config)
    assert code == 0
    assert filled["nlp"]["pipeline"] == ["syntax"] and filled["components"]["syntax"]["factory"] == "mtt_parser"
    assert filled["components"]["syntax"]["model"]["tok2vec"]["embed"] == tok2vec
    assert filled["training"]["optimizer"]["@optimizers"] == "Adam.v1"


@registry.architectures("tests.UnknownWidth.v1")
def unknown_width():
    """Token vectors whose width is no setting, as those of a transformer."""
    return build_hash_embed_cnn_tok2vec(
        width=8, depth=1, embed_size=50, window_size=1, maxout_pieces=2, subword_features=True, pretrained_vectors=None
    )


def test_vectors_of_unknown_width_are_read_without_a_recurrence(base, fill):
    tok2vec = {"@architectures": "tests.UnknownWidth.v1"}
    base["components"]["parser"]["model"]["tok2vec"] = tok2vec
    code, filled, _ = fill(base)
    assert code == 0
    model = filled["components"]["parser"]["model"]
    assert model["tok2vec"] == tok2vec and model["hidden_dropout"] == 0.33


def test_the_width_may_be_that_of_the_encoder(base, fill):
    base["components"]["parser"]["model"]["tok2vec"] = base["components"]["tok2vec"]["model"]
    code, filled, _ = fill(base)
    assert code == 0
    tok2vec = filled["components"]["parser"]["model"]["tok2vec"]
    assert tok2vec["encode"]["embed_width"] == "${components.parser.model.tok2vec.embed.encode.width}"
    assert filled.interpolate()["components"]["parser"]["model"]["tok2vec"]["encode"]["embed_width"] == 96


def test_labels_of_the_old_parser_go(base, fill):
    base["initialize"]["components"]["parser"] = {"labels": {"@readers": "spacy.read_labels.v1", "path": "x.json"}}
    code, filled, output = fill(base)
    assert code == 0 and "labels of spaCy's parser do not fit" in output
    assert "labels" not in filled["initialize"]["components"].get("parser", {})


def test_sourced_components_stay_sourced(base, fill, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    base["components"]["sentencizer"] = {"source": str(tmp_path / "pipeline")}
    base["nlp"]["pipeline"] = ["sentencizer", *base["nlp"]["pipeline"]]
    code, filled, _ = fill(base)
    assert code == 0 and filled["components"]["sentencizer"] == {"source": str(tmp_path / "pipeline")}


def test_the_output_stream(base, tmp_path):
    base.to_disk(tmp_path / "base.cfg", interpolate=False)
    result = CliRunner().invoke(app, ["fill-config", str(tmp_path / "base.cfg")])
    assert result.exit_code == 0
    printed = Config().from_str(result.stdout, interpolate=False)
    assert printed["components"]["parser"]["factory"] == "mtt_parser"


def without_parser(config):
    del config["components"]["parser"]
    config["nlp"]["pipeline"].remove("parser")


def with_two_parsers(config):
    config["components"]["second"] = config["components"]["parser"]


def without_tok2vec(config):
    del config["components"]["parser"]["model"]


def without_width(config):
    del config["components"]["parser"]["model"]["tok2vec"]["width"]


@pytest.mark.parametrize(
    "change,message",
    [
        (without_parser, "no component has the factory parser or beam_parser; there are: "),
        (with_two_parsers, "several parsers, parser and second"),
        (without_tok2vec, "[components.parser.model.tok2vec] is missing"),
        (without_width, "has no setting width"),
    ],
)
def test_what_cannot_be_replaced(base, fill, change, message):
    change(base)
    code, filled, output = fill(base, "--recurrence")
    assert code == 1 and filled is None and message in output and output.count("\n") == 1
