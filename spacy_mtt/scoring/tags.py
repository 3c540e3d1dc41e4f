"""Universal part-of-speech tags as an auxiliary target."""

from __future__ import annotations

import numpy as np
from spacy.parts_of_speech import IDS

TAGS = tuple(tag for tag in IDS if tag and tag not in ("EOL", "SPACE"))
_NUMBER_OF_POS = np.full(max(IDS.values()) + 1, -1, dtype=np.intp)
_NUMBER_OF_POS[[IDS[tag] for tag in TAGS]] = np.arange(len(TAGS))


def tag_numbers(pos: np.ndarray) -> np.ndarray:
    """The number in TAGS of each of spaCy's pos values, -1 where there is none."""
    return _NUMBER_OF_POS[pos]
