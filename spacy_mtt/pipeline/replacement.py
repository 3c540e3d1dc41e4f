"""Putting `mtt_parser` in the place of spaCy's parser in a config."""

from __future__ import annotations

from typing import Any

from spacy.util import load_model_from_config
from thinc.api import Config

REPLACED = ("parser", "beam_parser")
RECURRENT_WIDTH = 256
# spaCy's configs have no falling rate and no averages, and see few words in their first steps: rates of 0.33, which
# pay off after many passes, leave a parser behind for thousands of steps.
DROPOUT = 0.1


class ReplacementError(ValueError):
    """A config in which no parser can be replaced: one sentence."""


def replace_parser(config: Config, *, recurrence: bool | None = None) -> tuple[Config, list[str]]:
    """The complete config with `mtt_parser` in place of spaCy's parser, and what is lost that was set.

    config: a config for `spacy train`, complete or not, its variables as they stand; it is not changed.
    recurrence: the parser reads its token vectors with a recurrence of its own, `spacy_mtt.RecurrentEncoder.v1`. None:
        if their width is set, as it is for all but transformers, whose vectors know of the whole text already.

    The component keeps its name, its place, its scorer and where its token vectors come from: a listener stays a
    listener. All else stays as it is.

    Raises ReplacementError if the config does not have one parser of spaCy's, with a `tok2vec`.
    """
    config = Config(config).copy()
    name = _parser_name(config)
    old = config["components"][name]
    tok2vec = old.get("model", {}).get("tok2vec")
    if not isinstance(tok2vec, dict):
        raise ReplacementError(f"[components.{name}.model.tok2vec] is missing: the parser's token vectors are unknown")
    model = {"@architectures": "spacy_mtt.BiaffineParser.v1", "tok2vec": tok2vec}
    if recurrence or (recurrence is None and _width_setting(tok2vec) is not None):
        model |= {"tok2vec": _with_recurrence(tok2vec, name), "vector_dropout": DROPOUT, "hidden_dropout": DROPOUT}
    kept = {key: old[key] for key in ("scorer",) if key in old}
    config["components"][name] = {"factory": "mtt_parser", **kept, "model": model}
    lost = []
    if _drop_labels(config, name):
        lost.append(f"[initialize.components.{name}]: labels of spaCy's parser do not fit, they are found in the data")
    return _filled(config), lost


def _parser_name(config: Config) -> str:
    components = config.get("components", {})
    found = [name for name, block in components.items() if block.get("factory") in REPLACED]
    if len(found) == 1:
        return found[0]
    if found:
        raise ReplacementError(f"there are several parsers, {' and '.join(found)}: leave one of them in the config")
    factories = ", ".join(f"{name} ({_origin(block)})" for name, block in components.items())
    raise ReplacementError(f"no component has the factory parser or beam_parser; there are: {factories or 'none'}")


def _origin(block: dict[str, Any]) -> str:
    return f"sourced from {block['source']}" if "source" in block else str(block.get("factory", "no factory"))


def _width_setting(tok2vec: dict[str, Any]) -> str | None:
    """Where the width of its vectors is set, below the block of the tok2vec; None if it is not."""
    if "width" in tok2vec:
        return "width"
    return "encode.width" if "width" in tok2vec.get("encode", {}) else None


def _with_recurrence(tok2vec: dict[str, Any], name: str) -> dict[str, Any]:
    """A recurrence over the vectors of `tok2vec`, which may be a listener."""
    width = _width_setting(tok2vec)
    if width is None:
        raise ReplacementError(
            f"[components.{name}.model.tok2vec] has no setting width: the recurrence needs the width of its vectors"
        )
    encode = {
        "@architectures": "spacy_mtt.RecurrentEncoder.v1",
        "width": RECURRENT_WIDTH,
        "embed_width": f"${{components.{name}.model.tok2vec.embed.{width}}}",
        "window_depth": 0,
    }
    return {"@architectures": "spacy.Tok2Vec.v2", "embed": tok2vec, "encode": encode}


def _drop_labels(config: Config, name: str) -> bool:
    """Take out the labels that the component would be initialised with; whether there were any."""
    settings = config.get("initialize", {}).get("components", {}).get(name, {})
    return settings.pop("labels", None) is not None


def _filled(config: Config) -> Config:
    """All settings filled in, as `spacy init fill-config` does; sourced components stay as they are."""
    filled = load_model_from_config(config, auto_fill=True, validate=False).config
    filled = load_model_from_config(filled).config  # what is written can be read
    sourced = {name: block for name, block in config["components"].items() if "source" in block}
    filled["components"].update(sourced)
    return filled
