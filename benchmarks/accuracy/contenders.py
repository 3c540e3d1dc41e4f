"""What is compared: three configs that train on the same docs for the same number of steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
