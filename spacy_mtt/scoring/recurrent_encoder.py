"""`spacy_mtt.RecurrentEncoder.v1`: a convolution over neighbouring words, then a recurrence over the whole doc."""

from __future__ import annotations

from thinc.api import Dropout, Model, chain, clone, expand_window, list2ragged, ragged2list, residual, with_array
from thinc.types import Floats2d

from .maxout_norm import MaxoutNorm, Norm
from .recurrence import ElementwiseRecurrence


def build_recurrent_encoder(
    *,
    width: int = 256,
    depth: int = 1,
    embed_width: int = 96,
    window_depth: int = 2,
    window_size: int = 1,
    maxout_pieces: int = 3,
) -> Model[list[Floats2d], list[Floats2d]]:
    """An encoder for `spacy.Tok2Vec.v2` whose vectors know of the whole doc, at less than the cost of an LSTM.

    width: the width of the vectors it gives, even: half of it for each direction. depth: recurrent layers, each with
        layer normalisation.
    embed_width: the width of the embeddings it gets.
    window_depth, window_size, maxout_pieces: layers as in `spacy.MaxoutWindowEncoder.v2` before the recurrence, the
        words that each sees to either side, and the pieces of its units; a window_depth of 0 leaves them out.

    A doc is one sequence: its sentence boundaries play no part, and no doc sees another. `training.dropout` is applied
    in the window layers and before every recurrent layer.
    """
    for name, value, least in (("depth", depth, 1), ("window_depth", window_depth, 0)):
        if value < least:
            raise ValueError(f"{name} of the recurrent encoder must be {least} or more, not {value}")
    layers = []
    if window_depth:
        layers.append(_window_layers(embed_width, window_size, maxout_pieces, window_depth))
    layers.append(list2ragged())
    for layer in range(depth):
        layers += [
            Dropout(0.0),
            ElementwiseRecurrence(width, width if layer else embed_width),
            with_array(Norm(width)),
        ]
    model = chain(*layers, ragged2list())
    model.set_dim("nO", width)
    return model


def _window_layers(width: int, window_size: int, pieces: int, depth: int) -> Model[list[Floats2d], list[Floats2d]]:
    """Residual layers over the words around each; docs have as many rows of zeros between them as layers look past."""
    layer = chain(expand_window(window_size), MaxoutNorm(width, width * (2 * window_size + 1), pieces), Dropout(0.0))
    return with_array(clone(residual(layer), depth), pad=window_size * depth)
