"""`spacy_mtt.LinearArcScorer.v1`: arc scores and label scores from sparse features of words and tags."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from spacy_mtt.features.atoms import Words, informative_columns
from spacy_mtt.features.extraction import SlotFeatures

from .linear_weights import COLUMNS, LinearWeights, UnitGradient
from .scores import ScoreGradients, Scores
from .tables import HashTableMaker, TableMaker
from .units import Units
from .words import words_of

InT = tuple[list[Doc], Units]
Trees = Iterable[tuple[list[Doc], Units, np.ndarray]]


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
    if not 1 <= label_bits <= 30:
        raise ValueError(f"label_bits is {label_bits}, but must be in 1..30")
    weights = LinearWeights(HashTableMaker() if table is None else table, label_bits)
    model: Model[InT, Scores] = Model(
        "linear_arc_scorer",
        forward,
        init=init,
        dims={"nO": None},
        shims=[weights],
        attrs={
            "columns": dict(zip(COLUMNS, (coarse, lemmas, morphology), strict=True)),
            "resize_output": resize_output,
            "prepare": prepare,
        },
    )
    model.set_ref("output_layer", model)
    if nO is not None:
        resize_output(model, nO)
    return model


def weights_of(model: Model[InT, Scores]) -> LinearWeights:
    """Where the weights of a linear scorer are."""
    return model.shims[0]


def prepare(model: Model[InT, Scores], get_references: Callable[[], Iterable[Doc]], get_trees: Callable[[], Trees]):
    """Choose columns and features for the training data, and start with weights of 0.

    get_references: gives the annotated docs. get_trees: gives docs as the parser will see them, with units and the
    heads of all words, -1 where unknown. Each is called only if it is needed.
    """
    shim, columns = weights_of(model), dict(model.attrs["columns"])
    if None in columns.values():
        found = informative_columns(_words(get_references()))
        columns = {name: found[name] if chosen is None else chosen for name, chosen in columns.items()}
    shim.set_columns(columns)
    shim.set_table(shim.maker.of(_keys_and_heads(shim, get_trees)))


def _words(docs: Iterable[Doc]) -> Iterator[Words]:
    for doc in docs:
        yield from words_of([doc], Units(np.array([0]), [np.arange(len(doc))], [len(doc)]))


def _keys_and_heads(shim: LinearWeights, get_trees: Callable[[], Trees]) -> Iterator[tuple]:
    for docs, units, heads in get_trees():
        yield from zip(
            map(shim.extractor, words_of(docs, units)), np.split(heads, np.cumsum(units.lengths)[:-1]), strict=True
        )


def init(model: Model[InT, Scores], X: InT | None = None, Y=None) -> None:
    """Without `prepare`: columns by the sample X."""
    if not model.has_dim("nO"):
        raise ValueError("the linear scorer has no labels: set nO of its output layer before it is initialised")
    if weights_of(model).table is None:
        docs, units = ([], None) if X is None else X
        none = np.empty(0, dtype=np.intp)
        prepare(model, lambda: docs, lambda: [] if units is None else [([], Units(none, [], []), none)])


def resize_output(model: Model[InT, Scores], nO: int) -> Model[InT, Scores]:
    """Raise the number of labels to nO."""
    weights_of(model).add_label_columns(nO)
    model.set_dim("nO", nO, force=True)
    return model


def forward(model: Model[InT, Scores], inputs: InT, is_train: bool) -> tuple[Scores, Callable]:
    docs, units = inputs
    words = words_of(docs, units)
    _mind_tags(weights_of(model), words, is_train)
    scored = _ScoredUnits(weights_of(model), units, [weights_of(model).features_of(each) for each in words], is_train)
    asarray = model.ops.asarray

    def labels_at(head_rows):
        return asarray(scored.labels_at(model.ops.to_numpy(head_rows)))

    def labels_everywhere():
        return [asarray(bucket) for bucket in scored.labels_everywhere()]

    def backprop(gradients: ScoreGradients) -> list:
        scored.backprop(gradients, model.ops.to_numpy)
        return []

    arcs = [asarray(bucket) for bucket in scored.arcs()]
    return Scores(units, arcs, labels_at, labels_everywhere, linear=scored), backprop


def _mind_tags(shim: LinearWeights, words: list[Words], is_train: bool) -> None:
    """Note in training whether words have tags, and say so if the words to parse have none."""
    if (is_train and shim.has_tags) or not words:
        return
    tagged = any(any(each.tags) for each in words)
    if is_train:
        shim.has_tags = tagged
    elif shim.has_tags and not tagged:
        warnings.warn(
            "the linear parser was trained with tags, but these docs have none: put a tagger before it in the "
            "pipeline, or set token.tag",
            stacklevel=2,
        )


class _ScoredUnits:
    """The features of the units of a batch, and their scores by the weights of the moment: `LinearScores`."""

    def __init__(self, shim: LinearWeights, units: Units, features: list[SlotFeatures], is_train: bool):
        self.shim = shim
        self.units = units
        self.features = features
        self.arc_weights, self.label_weights = shim.weights(is_train)
        self._heads: list[np.ndarray] | None = None  # of the last call of labels_at

    def arcs(self) -> list[np.ndarray]:
        """For each bucket (B, N+1, N+1)."""
        scale, weights = self.arc_weights
        return self._padded(lambda features: scale * features.score(weights))

    def labels_everywhere(self) -> list[np.ndarray]:
        """For each bucket (B, N+1, N+1, L)."""
        scale, weights = self.label_weights
        return self._padded(lambda features: scale * features.score_labels(weights), self.shim.n_labels)

    def labels_at(self, head_rows: np.ndarray) -> np.ndarray:
        """(n_words, L)."""
        scale, weights = self.label_weights
        self._heads = self._local(head_rows)
        parts = [each.score_labels(weights, heads) for each, heads in zip(self.features, self._heads, strict=True)]
        return scale * np.concatenate(parts) if parts else np.zeros((0, self.shim.n_labels))

    def backprop(self, gradients: ScoreGradients, to_numpy: Callable) -> None:
        """Hand the gradient of each unit to the weights."""
        arcs = self._unpadded([to_numpy(each) for each in gradients.arcs])
        labels, heads = [None] * len(self.units), [None] * len(self.units)
        if gradients.labels_at is not None:
            labels = np.split(to_numpy(gradients.labels_at), np.cumsum(self.units.lengths)[:-1])
            heads = self._heads
        elif gradients.labels_everywhere is not None:
            labels = self._unpadded([to_numpy(each) for each in gradients.labels_everywhere])
        parts = zip(self.features, arcs, labels, heads, strict=True)
        self.shim.add_gradients([UnitGradient(*part) for part in parts], gradients.is_step)

    def squared_norm(self, unit: int, coefficients: np.ndarray) -> float:
        features = self.features[unit]
        if coefficients.ndim == 2:
            return features.squared_norm(coefficients)
        of_labels = features.squared_norm_of_labels(coefficients, 1 << self.shim.label_bits)
        return features.squared_norm(coefficients.sum(axis=2)) + of_labels

    def label_norms(self, head_rows: np.ndarray) -> np.ndarray:
        rows = 1 << self.shim.label_bits
        heads = self._local(head_rows)
        return np.concatenate([each.row_norms(tree, rows) for each, tree in zip(self.features, heads, strict=True)])

    def weights_squared_norm(self, *, labels: bool) -> float:
        return self.shim.arcs.squared_norm + (self.shim.labels.squared_norm if labels else 0.0)

    def _local(self, head_rows: np.ndarray) -> list[np.ndarray]:
        """Flat head rows as heads (n,) in 0..n of each unit."""
        heads = head_rows - np.repeat(self.units.starts, self.units.lengths)
        return np.split(heads, np.cumsum(self.units.lengths)[:-1])

    def _padded(self, score: Callable[[SlotFeatures], np.ndarray], *last: int) -> list[np.ndarray]:
        padded = []
        for bucket in self.units.buckets:
            size = bucket.rows.shape[1]
            scores = np.zeros((len(bucket.units), size, size, *last))
            for row, unit, n in zip(scores, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
                row[: n + 1, : n + 1] = score(self.features[unit])
            padded.append(scores)
        return padded

    def _unpadded(self, padded: list[np.ndarray]) -> list[np.ndarray]:
        """The parts (n+1, n+1 ...) of each unit, from those of buckets."""
        parts: list = [None] * len(self.units)
        for bucket, arrays in zip(self.units.buckets, padded, strict=True):
            for array, unit, n in zip(arrays, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
                parts[unit] = array[: n + 1, : n + 1]
        return parts
