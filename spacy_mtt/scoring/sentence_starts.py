"""`spacy_mtt.SentenceStarts.v1`: from token vectors to the log-odds that a token starts a sentence."""

from __future__ import annotations

from thinc.api import Linear, Maxout, Model, chain, expand_window, with_array, zero_init
from thinc.types import Floats2d


def build_sentence_starts(
    *, width: int = 64, window_size: int = 1, maxout_pieces: int = 2
) -> Model[list[Floats2d], list[Floats2d]]:
    """A small classifier of tokens, to share the token vectors of a parser.

    width, maxout_pieces: of the hidden layer.
    window_size: how many tokens to either side it sees beside the token itself, of the same doc.

    Input: the token vectors of each doc (n, width of the vectors). Output: (n, 1), the log-odds of a sentence start; 0
    before training.
    """
    hidden = Maxout(nO=width, nP=maxout_pieces, normalize=True)
    layers = chain(expand_window(window_size=window_size), hidden, Linear(nO=1, init_W=zero_init))
    return with_array(layers, pad=window_size)
