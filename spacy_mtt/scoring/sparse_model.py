"""Models of sparse features: how they are made, and how they find their features in the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from spacy_mtt.features.atoms import Words, informative_columns
from spacy_mtt.features.extraction import ArcKeys

from .linear_weights import COLUMNS, LinearWeights
from .scored_units import InT, forward
from .scores import Scores
from .units import Units, settled
from .words import words_of

Trees = Iterable[tuple[list[Doc], Units, np.ndarray]]


def sparse_model(
    name: str,
    weights: LinearWeights,
    *,
    coarse: bool | None,
    lemmas: bool | None,
    morphology: bool | None,
    nO: int | None,
) -> Model[InT, Scores]:
    """The model of some weights; the other arguments are those of `spacy_mtt.LinearArcScorer.v1`."""
    model: Model[InT, Scores] = Model(
        name,
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
    """Where the weights of a scorer with sparse features are."""
    return model.shims[0]


def prepare(model: Model[InT, Scores], get_references: Callable[[], Iterable[Doc]], get_trees: Callable[[], Trees]):
    """Choose columns and features for the training data, and start anew.

    get_references: gives the annotated docs. get_trees: gives docs as the parser will see them, with units and the
    heads of all words, -1 where unknown. Each is called only if it is needed.
    """
    shim, columns = weights_of(model), dict(model.attrs["columns"])
    if None in columns.values():
        found = informative_columns(map(shim.words, _words(get_references())))
        columns = {name: found[name] if chosen is None else chosen for name, chosen in columns.items()}
    shim.set_columns(columns)
    shim.start(shim.maker.of(_keys_and_heads(shim, get_trees)), lambda: _words_and_heads(shim, get_trees))


def _words(docs: Iterable[Doc]) -> Iterator[Words]:
    for doc in docs:
        yield from words_of([doc], Units(np.array([0]), [np.arange(len(doc))], [len(doc)]))


def _words_and_heads(shim: LinearWeights, get_trees: Callable[[], Trees]) -> Iterator[tuple[Words, np.ndarray]]:
    for docs, units, heads in get_trees():
        words = map(shim.words, words_of(docs, units))
        yield from zip(words, units.split(heads), strict=True)


def _keys_and_heads(shim: LinearWeights, get_trees: Callable[[], Trees]) -> Iterator[tuple[ArcKeys, np.ndarray]]:
    for words, heads in _words_and_heads(shim, get_trees):
        yield shim.extractor(words), heads


def init(model: Model[InT, Scores], X: InT | None = None, Y=None) -> None:
    """Without `prepare`: columns by the sample X."""
    if not model.has_dim("nO"):
        raise ValueError("the scorer has no labels: set nO of its output layer before it is initialised")
    if weights_of(model).table is None:
        docs, units = ([], None) if X is None else (X[0], settled(X[1]))
        none = np.empty(0, dtype=np.intp)
        prepare(model, lambda: docs, lambda: [] if units is None else [([], Units(none, [], []), none)])


def resize_output(model: Model[InT, Scores], nO: int) -> Model[InT, Scores]:
    """Raise the number of labels to nO."""
    weights_of(model).add_label_columns(nO)
    model.set_dim("nO", nO, force=True)
    return model
