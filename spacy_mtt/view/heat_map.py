"""The probabilities of all arcs of a sentence as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.util import escape_html

CELL, LETTER = 30, 8  # pixels: a side of a square, the width of a letter
COLOR, CHOSEN = "#08519c", "#b3541e"
LEAST_DRAWN, LEAST_WRITTEN = 0.001, 0.05  # probabilities


def heat_map(
    names: Sequence[str], marginals: np.ndarray, heads: np.ndarray, *, direction: str = "ltr", lang: str = "en"
) -> str:
    """An SVG: a row for each head, a column for each modifier, the darker the more probable, framed where of the parse.

    names: n+1, of the root and the words. marginals: (n+1, n+1) by head and modifier. heads: (n,) nodes 0..n.
    direction: of the text; columns run as it does. ValueError if the shapes do not match.
    """
    n = len(names) - 1
    if marginals.shape != (n + 1, n + 1) or len(heads) != n:
        raise ValueError(
            f"{n} words need marginals of shape {(n + 1, n + 1)} and {n} heads, not {marginals.shape} and {len(heads)}"
        )
    side = LETTER * max(map(len, names)) + 20
    width, height = side + n * CELL + 2, side + (n + 1) * CELL + 2
    columns = [side + CELL * (n - 1 - word if direction == "rtl" else word) for word in range(n)]
    rows = [side + CELL * head for head in range(n + 1)]
    parts = [_names(names, columns, rows, side), _frame(side, n)]
    for head, word in zip(*np.nonzero(marginals[:, 1:] >= LEAST_DRAWN), strict=True):
        at = f"{names[head]} → {names[word + 1]}"
        parts.append(_cell(columns[word], rows[head], float(marginals[head, word + 1]), at))
    for word, head in enumerate(heads.tolist()):
        parts.append(
            f'<rect class="mtt-chosen" x="{columns[word] + 1}" y="{rows[head] + 1}" width="{CELL - 2}" '
            f'height="{CELL - 2}" fill="none" stroke="{CHOSEN}" stroke-width="2"/>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:lang="{lang}" class="mtt-heat-map" width="{width}" '
        f'height="{height}" style="max-width: none; height: {height}px; color: #000000; background: #ffffff; '
        f'font-family: Arial; font-size: 13px">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _names(names: Sequence[str], columns: list[int], rows: list[int], side: int) -> str:
    """Heads at the left, modifiers above, upright."""
    middle = CELL // 2 + 4
    lines = [
        f'<text class="mtt-head" x="{side - 8}" y="{y + middle}" text-anchor="end" fill="currentColor">'
        f"{escape_html(name)}</text>"
        for name, y in zip(names, rows, strict=True)
    ]
    for name, x in zip(names[1:], columns, strict=True):
        lines.append(
            f'<text class="mtt-modifier" transform="translate({x + middle} {side - 8}) rotate(-90)" '
            f'fill="currentColor">{escape_html(name)}</text>'
        )
    return "\n".join(lines)


def _frame(side: int, n: int) -> str:
    return (
        f'<rect x="{side}" y="{side}" width="{n * CELL}" height="{(n + 1) * CELL}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.3"/>'
    )


def _cell(x: int, y: int, probability: float, at: str) -> str:
    square = (
        f'<rect class="mtt-cell" x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{COLOR}" '
        f'fill-opacity="{probability:.3f}"><title>{escape_html(at)}: {probability:.4f}</title></rect>'
    )
    if probability < LEAST_WRITTEN:
        return square
    color = "#ffffff" if probability > 0.5 else "#000000"
    return (
        f'{square}<text x="{x + CELL // 2}" y="{y + CELL // 2 + 4}" text-anchor="middle" pointer-events="none" '
        f'font-size="11px" fill="{color}">{probability:.2f}</text>'
    )
