"""`spacy_mtt.LinearArcScorer.v1`: arc scores and label scores from sparse features of words and tags."""

from __future__ import annotations

from thinc.api import Model

from .linear_weights import LinearWeights
from .scored_units import InT
from .scores import Scores
from .sparse_model import sparse_model
from .tables import HashTableMaker, TableMaker


def build_linear_arc_scorer(
    *,
    table: TableMaker | None = None,
    coarse: bool | None = None,
    lemmas: bool | None = None,
    morphology: bool | None = None,
    label_bits: int = 18,
    nO: int | None = None,
) -> Model[InT, Scores]:
    """A linear model of first-order features (McDonald, Crammer and Pereira 2005): score(h -> m) = w . phi(h -> m).

    table: which features have weights: `spacy_mtt.HashTable.v1` (the default, 2^22 slots) or
        `spacy_mtt.FeatureDictionary.v1`, those of the training trees.
    coarse, lemmas, morphology: whether features are made of `token.pos_` beside `tag_`, of `lemma_`, and of `morph`;
        None: if the training data say more by it (see `informative_columns`).
    label_bits: the weights of labels are hashed to 2^label_bits slots for each label.
    nO: the number of labels; left open, it is set by the labels that the component finds.

    Features are read from the docs as they are annotated when the parser comes to them: tags from components before
    it, or from the corpus. Training needs steps of few features at a time: the objectives `spacy_mtt.Perceptron.v1`,
    `Mira.v1` and `ExponentiatedGradient.v1` make their own; `LogLikelihood.v1` takes the optimizer "SGD.v1" with
    grad_clip = 0. An optimizer with averages makes the model parse with the mean of its weights.
    Input: docs and their units; output: `Scores` in float64.
    """
    weights = LinearWeights(HashTableMaker() if table is None else table, label_bits)
    return sparse_model("linear_arc_scorer", weights, coarse=coarse, lemmas=lemmas, morphology=morphology, nO=nO)
