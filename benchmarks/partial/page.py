"""The table and the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy.page import markdown

PAGE = """# Learning from a part of the heads

Made by `{command}`.

{treebank}: `configs/recommended.cfg`, {steps:,} steps each, on the training sentences with the heads and labels of
some words only; the other heads are summed over. Words are drawn at random, or, *by entropy*, {seed_share:g} % at
random and the others where the model of these is least sure of the head. Scores on the {part} part, gold boundaries,
CoNLL-X.

{table}
![LAS against the share of words with a head]({picture})
"""


@dataclass(frozen=True)
class Point:
    """A model: how many percent of the words had a head, how they were chosen, and its scores."""

    share: float
    chosen: str
    uas: float
    las: float


def page(points: Sequence[Point], *, full: float, picture: str, **texts) -> str:
    """full: LAS of all heads. texts: command, treebank, steps, seed_share, part."""
    rows = [
        [f"{point.share:g} %", point.chosen, f"{point.uas:.2f}", f"{point.las:.2f}", f"{point.las - full:+.2f}"]
        for point in points
    ]
    table = markdown(("words with a head", "chosen", "UAS", "LAS", "LAS less that of all heads"), rows)
    return PAGE.format(table=table, picture=picture, **texts)


def draw(points: Sequence[Point], path: Path) -> None:
    """LAS against the share, a line for each way to choose."""
    from benchmarks.plots import new_figure

    figure, (panel,) = new_figure(1)
    for chosen in dict.fromkeys(point.chosen for point in points):
        own = sorted((point.share, point.las) for point in points if point.chosen == chosen)
        panel.plot(*zip(*own, strict=True), marker="o", label=chosen)
    shares = sorted({point.share for point in points})
    panel.set(xscale="log", xlabel="words with a head, percent", ylabel="LAS")
    panel.set_xticks(shares, [f"{share:g}" for share in shares])
    panel.minorticks_off()
    panel.grid(True, alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
