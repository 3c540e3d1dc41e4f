"""`spacy_mtt.BiaffineParser.v1`: from token vectors to arc scores and label scores."""

from __future__ import annotations

from collections.abc import Callable

from spacy.tokens import Doc
from thinc.api import Linear, Model
from thinc.types import Floats1d, Floats2d

from . import label_biaffine
from .arc_biaffine import ArcBiaffine
from .dropout import FixedDropout
from .label_biaffine import LabelBiaffine
from .maxout import Maxout, no_gradient
from .scores import ScoreGradients, Scores
from .tags import TAGS
from .units import Segmentation, Units, settled

InT = tuple[list[Doc], Segmentation]
HIDDEN = ("arc_head", "arc_modifier", "label_head", "label_modifier")


def build_biaffine_parser(
    tok2vec: Model[list[Doc], list[Floats2d]],
    *,
    arc_width: int = 128,
    label_width: int = 32,
    maxout_pieces: int = 2,
    vector_dropout: float = 0.1,
    hidden_dropout: float = 0.33,
    distance: bool = True,
    tags: bool = True,
    segmenter: Model[list[Floats2d], list[Floats2d]] | None = None,
    nO: int | None = None,
) -> Model[InT, Scores]:
    """A deep biaffine parser (Dozat and Manning 2017) with distance terms.

    tok2vec: from docs to token vectors, its own or a listener.
    arc_width, label_width: the widths of the hidden vectors that words have as heads and as modifiers.
    maxout_pieces: the pieces of the maxout layers that make the hidden vectors.
    vector_dropout, hidden_dropout: dropout on the token vectors and on the hidden vectors. These rates
        are the model's own: `training.dropout` only reaches the tok2vec.
    distance: whether arc scores have terms of the binned signed distance.
    tags: whether the token vectors also learn to tell the universal part of speech; in training alone, it costs nothing
        in prediction.
    segmenter: from token vectors to the log-odds of a sentence start, `spacy_mtt.SentenceStarts.v1`; None if sentence
        boundaries always come from elsewhere.
    nO: the number of labels; left open, it is set by the labels that the component finds.

    The root is a trained vector. Both biaffine forms start at zero. Input: docs and their
    units, or how these are made from the segmenter's scores; output: `Scores`.
    """
    layers = {
        "tok2vec": tok2vec,
        "vector_dropout": FixedDropout(vector_dropout),
        "arc_head": _hidden(arc_width, maxout_pieces),
        "arc_modifier": _hidden(arc_width, maxout_pieces),
        "label_head": _hidden(label_width, maxout_pieces),
        "label_modifier": _hidden(label_width, maxout_pieces),
        "hidden_dropout": FixedDropout(hidden_dropout),
        "arcs": ArcBiaffine(arc_width, distance=distance),
        "labels": LabelBiaffine(label_width, nO),
    }
    if tags:
        layers["tags"] = Linear(nO=len(TAGS))
    if segmenter is not None:
        layers["segmenter"] = segmenter
    return Model(
        "biaffine_parser",
        forward,
        init=init,
        layers=list(layers.values()),
        refs={**layers, "output_layer": layers["labels"]},
        params={"root": None},
        attrs={"resize_output": resize_output},
    )


def _hidden(width: int, pieces: int) -> Model[Floats2d, Floats2d]:
    return Maxout(nO=width, nP=pieces)


def init(model: Model[InT, Scores], X: InT | None = None, Y=None) -> None:
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X[0] if X is not None else None)
    width = tok2vec.get_dim("nO")
    for name in (*HIDDEN, "tags"):
        if model.has_ref(name):
            model.get_ref(name).set_dim("nI", width)
            model.get_ref(name).initialize()
    if model.has_ref("segmenter"):
        model.get_ref("segmenter").initialize(X=[model.ops.alloc2f(1, width)])
    if not model.get_ref("labels").has_dim("nO"):
        raise ValueError("the biaffine parser has no labels: set nO of its output layer before it is initialised")
    model.get_ref("arcs").initialize()
    model.get_ref("labels").initialize()
    root = 0.1 * model.ops.xp.random.standard_normal(width)
    model.set_param("root", model.ops.asarray1f(root))


def resize_output(model: Model[InT, Scores], nO: int) -> Model[InT, Scores]:
    """Raise the number of labels to nO."""
    old = model.get_ref("labels")
    if not old.has_dim("nO"):
        old.set_dim("nO", nO)
        return model
    new = label_biaffine.widened(old, nO)
    model.layers[model.layers.index(old)] = new
    model.set_ref("labels", new)
    model.set_ref("output_layer", new)
    return model


def forward(model: Model[InT, Scores], inputs: InT, is_train: bool) -> tuple[Scores, Callable]:
    docs, segmentation = inputs
    tokens, backprop_tok2vec = model.get_ref("tok2vec")(docs, is_train)
    starts, backprop_starts = None, None
    if is_train or not isinstance(segmentation, Units):
        starts, backprop_starts = _start_scores(model, tokens, is_train)
    units = settled(segmentation, starts)
    vectors, backprop_vectors = _node_vectors(model, tokens, units, is_train)
    hidden, backprop_hidden = _hidden_vectors(model, vectors, is_train)
    arcs, backprop_arcs = model.get_ref("arcs")((hidden["arc_head"], hidden["arc_modifier"], units), is_train)
    labels = model.get_ref("labels")
    H, M = hidden["label_head"], hidden["label_modifier"]
    word_rows = model.ops.xp.asarray(units.word_rows)

    tags, backprop_tags = _tag_scores(model, vectors, word_rows) if is_train else (None, None)
    label_backprops = {}

    def labels_at(head_rows):
        scores, label_backprops["at"] = label_biaffine.score_arcs(labels, H, M, head_rows, word_rows, is_train)
        return scores

    def labels_everywhere():
        scores, label_backprops["everywhere"] = label_biaffine.score_all_arcs(labels, H, M, units, is_train)
        return scores

    def backprop(gradients: ScoreGradients):
        d_hidden = dict(zip(("arc_head", "arc_modifier"), backprop_arcs(gradients.arcs), strict=True))
        asked = {"at": gradients.labels_at, "everywhere": gradients.labels_everywhere}
        d_labels = [label_backprops[way](d_scores) for way, d_scores in asked.items() if d_scores is not None]
        if d_labels:
            d_hidden["label_head"] = sum(dH for dH, _ in d_labels)
            d_hidden["label_modifier"] = sum(dM for _, dM in d_labels)
        d_vectors = backprop_hidden(d_hidden)
        if gradients.tags is not None:
            d_vectors[word_rows] += backprop_tags(gradients.tags)
        d_tokens = backprop_vectors(d_vectors)
        if gradients.starts is not None:
            d_tokens += model.ops.flatten(backprop_starts(gradients.starts))
        return backprop_tok2vec(model.ops.unflatten(d_tokens, [len(doc) for doc in docs]))

    return Scores(units, arcs, labels_at, labels_everywhere, tags, starts if is_train else None), backprop


def _start_scores(model, tokens: list[Floats2d], is_train: bool) -> tuple[Floats1d | None, Callable | None]:
    """The log-odds of sentence starts (n_tokens,), if the model has them."""
    if not model.has_ref("segmenter"):
        return None, None
    scores, backprop = model.get_ref("segmenter")(tokens, is_train)
    lengths = [len(each) for each in tokens]

    def backprop_flat(d_starts: Floats1d) -> list[Floats2d]:
        return backprop(model.ops.unflatten(d_starts.reshape(-1, 1), lengths))

    return model.ops.flatten(scores).reshape(-1), backprop_flat


def _tag_scores(model, vectors: Floats2d, word_rows) -> tuple[Floats2d | None, Callable | None]:
    """Scores of part-of-speech tags (n_words, number of tags), if the model has them."""
    if not model.has_ref("tags"):
        return None, None
    return model.get_ref("tags")(vectors[word_rows], True)


def _node_vectors(model, tokens: list[Floats2d], units: Units, is_train: bool) -> tuple[Floats2d, Callable]:
    """The vectors of all nodes (T, width) in the flat layout: tokens' from the tok2vec, the root's trained.

    The backward pass gives the gradient of all tokens (n_tokens, width).
    """
    xp = model.ops.xp
    token_rows, word_rows = xp.asarray(units.token_rows), xp.asarray(units.word_rows)
    flat = model.ops.flatten(tokens)
    X = model.ops.alloc2f(len(units.is_root), flat.shape[1])
    X[word_rows] = flat[token_rows]
    X[xp.asarray(units.starts)] = model.get_param("root")
    X, backprop_dropout = model.get_ref("vector_dropout")(X, is_train)

    def backprop(dX: Floats2d) -> Floats2d:
        dX = backprop_dropout(dX)
        model.inc_grad("root", dX[xp.asarray(units.starts)].sum(axis=0))
        d_flat = model.ops.alloc2f(*flat.shape)
        d_flat[token_rows] = dX[word_rows]
        return d_flat

    return X, backprop


def _hidden_vectors(model, X: Floats2d, is_train: bool) -> tuple[dict[str, Floats2d], Callable]:
    """The hidden vectors (T, width) that each node has as head and as modifier, of arcs and of labels."""
    if not is_train:  # no dropout, no way back
        return {name: model.get_ref(name).predict(X) for name in HIDDEN}, no_gradient
    outputs, backprops = {}, {}
    for name in HIDDEN:
        hidden, backprop_layer = model.get_ref(name)(X, is_train)
        outputs[name], backprop_dropout = model.get_ref("hidden_dropout")(hidden, is_train)
        backprops[name] = (backprop_layer, backprop_dropout)

    def backprop(d_outputs: dict[str, Floats2d]) -> Floats2d:
        dX = model.ops.alloc2f(*X.shape)
        for name, d_output in d_outputs.items():
            backprop_layer, backprop_dropout = backprops[name]
            dX += backprop_layer(backprop_dropout(d_output))
        return dX

    return outputs, backprop
