"""What is compared: three configs that train on the same docs for the same number of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.util import load_config
from thinc.api import Config

from spacy_mtt.pipeline.replacement import replace_parser

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SENTENCES_PER_DOC = 10  # as `spacy convert -n 10` makes them


@dataclass(frozen=True)
class Contender:
    """A parser. title: in tables. config: makes its config, without paths, steps and seed."""

    name: str
    title: str
    config: Callable[[], Config]


def spacy_parser() -> Config:
    """spaCy's parser as `spacy init config -p parser -o efficiency` sets it up."""
    return load_config(CONFIGS / "spacy-parser.cfg", interpolate=False)


def same_vectors() -> Config:
    """The same config with `mtt_parser` in the place of `parser`, and nothing else changed: `mtt fill-config`."""
    return replace_parser(spacy_parser())[0]


def recommended() -> Config:
    """Our own."""
    return load_config(CONFIGS / "recommended.cfg", interpolate=False)


CONTENDERS = {
    each.name: each
    for each in (
        Contender("spacy", "spaCy's `parser`", spacy_parser),
        Contender("same", "`mtt_parser`, same token vectors", same_vectors),
        Contender("recommended", "`mtt_parser`, `configs/recommended.cfg`", recommended),
    )
}


def contender(name: str) -> Contender:
    """One of CONTENDERS, or `over-PACKAGE-KIND`: a parser over the frozen token vectors of a pipeline package.

    KIND: `parser`, spaCy's; `mtt_parser`; `recurrence`, `mtt_parser` that reads the vectors with a recurrence.
    ValueError for any other name.
    """
    if name in CONTENDERS:
        return CONTENDERS[name]
    prefix, _, rest = name.partition("-")
    package, _, kind = rest.rpartition("-")
    if prefix != "over" or kind not in KINDS or not package:
        raise ValueError(f"{name!r} is no contender: it must be one of {', '.join(CONTENDERS)} or over-PACKAGE-KIND")
    return Contender(name, KINDS[kind], lambda: over_package(package, kind))


KINDS = {
    "parser": "spaCy's `parser`",
    "mtt_parser": "`mtt_parser`",
    "recurrence": "`mtt_parser` with a recurrence",
}


def over_package(package: str, kind: str) -> Config:
    """The config of spaCy's parser or ours that listens to the tok2vec of a package, which does not learn."""
    config = spacy_parser()
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": spacy.load(package).get_pipe("tok2vec").model.get_dim("nO"),
        "upstream": "tok2vec",
    }
    config["components"]["parser"]["model"]["tok2vec"] = listener
    if kind != "parser":
        config = replace_parser(config, recurrence=kind == "recurrence")[0]
    config["components"]["tok2vec"] = {"source": package}
    config["nlp"]["lang"] = spacy.load(package).lang
    config["training"] |= {"frozen_components": ["tok2vec"], "annotating_components": ["tok2vec"]}
    return config


def config_for(contender: Contender, corpus: Path, steps: int, seed: int) -> Config:
    """The whole config: docs of ten sentences without boundaries, ten evaluations on the dev part."""
    config = contender.config()
    config["paths"] |= {"train": str(corpus / "train.conllu"), "dev": str(corpus / "dev.conllu")}
    for part in ("train", "dev"):
        config["corpora"][part] |= {"gold_sents": False, "sents_per_doc": SENTENCES_PER_DOC}
    config["system"]["seed"] = seed
    config["training"] |= {"max_steps": steps, "eval_frequency": max(1, steps // 10), "patience": 0}
    rate = config["training"]["optimizer"]["learn_rate"]
    if isinstance(rate, dict) and "total_steps" in rate:
        rate["total_steps"] = steps
    return config
