"""`spacy_mtt.LowRankTensorArcScorer.v1`: RBGParser's scorer, sparse features of arcs beside a tensor of low rank."""

from __future__ import annotations

from typing import Literal

from thinc.api import Model

from .low_rank_weights import LowRankTensor
from .scored_units import InT
from .scores import Scores
from .sparse_model import sparse_model
from .tables import HashTableMaker, TableMaker


def build_low_rank_tensor_arc_scorer(
    *,
    gamma: float = 0.3,
    rank: int = 50,
    start: Literal["random", "svd"] = "random",
    update: Literal["joint", "alternating"] = "joint",
    seed: int = 0,
    dropout: float = 0.5,
    join_tags: bool = False,
    min_word_freq: int = 2,
    table: TableMaker | None = None,
    coarse: bool | None = None,
    lemmas: bool | None = None,
    morphology: bool | None = None,
    label_bits: int = 18,
    nO: int | None = None,
) -> Model[InT, Scores]:
    """The low-rank tensor model (Lei et al. 2014, section 4):

        s(h -> m) = gamma <theta, phi(h -> m)> + (1 - gamma) sum_r (U phi_h)_r (V phi_m)_r (W dis(h - m))_r

    gamma: in 0..1. 1 is the linear scorer, exactly; 0 does without weights of arcs. Labels are scored at given arcs by
        weights of their own, of sparse features of arcs, as in the linear scorer.
    rank: how many components the tensor has.
    start: where they start from: "random" unit vectors, or "svd", the singular vectors of what a pass of MIRA learns
        (section 4.2), which takes the time of that pass.
    update: a step moves all parameters, or, "alternating", theta and one of U, V and W in turn, in which a step of
        `spacy_mtt.Mira.v1` meets the margin exactly.
    seed: of the start and of the dropout.
    dropout: the probability with which a component is left out of an update, as in neural networks; `training.dropout`
        does not reach it. 0 for the model as its authors train it.
    min_word_freq: features of words found in fewer training sentences have no weights.
    join_tags: whether fine tags are joined with morphology (see `Words.with_joined_tags`), for few and coarse ones.

    table, coarse, lemmas, morphology, label_bits, nO, and what features are read from: as in
    `spacy_mtt.LinearArcScorer.v1`. `Mira.v1` makes its own steps; all other objectives give a gradient, and need the
    optimizer "SGD.v1"; its grad_clip is the longest gradient of the arcs of a sentence. Features of words are those of
    the words of the training data.
    """
    weights = LowRankTensor(
        HashTableMaker() if table is None else table,
        label_bits,
        gamma=gamma,
        rank=rank,
        join_tags=join_tags,
        min_word_freq=min_word_freq,
        start=start,
        update=update,
        seed=seed,
        dropout=dropout,
    )
    return sparse_model(
        "low_rank_tensor_arc_scorer", weights, coarse=coarse, lemmas=lemmas, morphology=morphology, nO=nO
    )
