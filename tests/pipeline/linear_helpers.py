"""Small pipelines with the linear scorer."""

from __future__ import annotations

import pickle
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import SGD

from spacy_mtt.treebanks.corpus import TreebankCorpus

TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-dutch"
HASHED = {"@misc": "spacy_mtt.HashTable.v1", "bits": 16}
DICTIONARY = {"@misc": "spacy_mtt.FeatureDictionary.v1"}
OBJECTIVES = {
    "perceptron": {"@misc": "spacy_mtt.Perceptron.v1"},
    "mira": {"@misc": "spacy_mtt.Mira.v1", "C": 0.05},
    "max-margin": {"@misc": "spacy_mtt.ExponentiatedGradient.v1", "C": 0.05},
    "log-linear-eg": {"@misc": "spacy_mtt.ExponentiatedGradient.v1", "loss": "log_linear", "C": 0.5},
    "log-likelihood": {"@misc": "spacy_mtt.LogLikelihood.v1"},
}


def linear_pipeline(objective: dict, *, table: dict = HASHED, count: int = 40) -> tuple[Language, list[Example]]:
    """A pipeline without training, and the examples that it was initialised with."""
    model = {"@architectures": "spacy_mtt.LinearArcScorer.v1", "table": table, "label_bits": 12}
    return pipeline(model, objective, count=count)


def low_rank_pipeline(
    objective: dict, *, table: dict = HASHED, count: int = 40, **settings
) -> tuple[Language, list[Example]]:
    """The same with the low-rank scorer, without dropout unless `settings` have it."""
    model = {"@architectures": "spacy_mtt.LowRankTensorArcScorer.v1", "table": table, "label_bits": 12}
    return pipeline({**model, "rank": 8, "dropout": 0.0, **settings}, objective, count=count)


def pipeline(model: dict, objective: dict, *, count: int) -> tuple[Language, list[Example]]:
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config={"model": model, "objective": objective})
    examples = treebank(nlp, count=count)
    nlp.initialize(lambda: examples)
    return nlp, examples


def treebank(nlp: Language, part: str = "train", count: int = 40) -> list[Example]:
    """Sentences of an embedded treebank with one root each."""
    found = TreebankCorpus(TREEBANK / f"{part}.conll", gold_tags=True)(nlp)
    return [each for each in found if sum(token.head == token for token in each.reference) == 1][:count]


def plain_steps(*, averages: bool = False, rate: float = 1.0, L2: float = 0.0, clip: float = 0.0) -> SGD:
    return SGD(rate, L2=L2, grad_clip=clip, use_averages=averages)


def train(nlp: Language, examples: list[Example], optimizer: SGD, passes: int) -> list[dict]:
    """One example a step. Returns the losses of each pass."""
    losses = []
    for _ in range(passes):
        losses.append({})
        for example in examples:
            nlp.update([example], sgd=optimizer, losses=losses[-1])
    return losses


def las(nlp: Language, examples: list[Example]) -> float:
    return nlp.evaluate([Example(each.predicted.copy(), each.reference) for each in examples])["dep_las"]


def saved_and_loaded(nlp: Language, folder: Path) -> list[Language]:
    """The pipeline again, by way of disk, of bytes and of pickle."""
    nlp.to_disk(folder)
    return [
        spacy.load(folder),
        spacy.blank("xx").from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ]
