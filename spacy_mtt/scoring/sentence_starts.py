"""`spacy_mtt.SentenceStarts.v1`: from token vectors to the log-odds that each token starts a sentence."""

from __future__ import annotations

from thinc.api import Linear, Model, chain, expand_window, with_array, zero_init
from thinc.types import Floats2d

from .dropout import FixedDropout
from .maxout import Maxout


def build_sentence_starts(
    *, hidden_width: int = 64, window_size: int = 1, maxout_pieces: int = 2, dropout: float = 0.1
) -> Model[list[Floats2d], list[Floats2d]]:
    """A classifier of tokens: those that start a sentence.

    hidden_width, maxout_pieces: of the maxout layer over each token's vector.
    window_size: the neighbours to either side whose hidden vectors are seen beside the token's own.
    dropout: on the hidden vectors; `training.dropout` does not reach it.

    Input: for each doc its token vectors (n, width). Output: for each doc (n, 1). The last layer starts at zero.
    """
    layers = chain(
        Maxout(nO=hidden_width, nP=maxout_pieces),
        FixedDropout(dropout),
        expand_window(window_size),
        Linear(nO=1, nI=hidden_width * (2 * window_size + 1), init_W=zero_init),
    )
    return with_array(layers, pad=window_size)
