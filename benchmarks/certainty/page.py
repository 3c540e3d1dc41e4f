"""What was measured, as a page with two pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy.page import markdown
from benchmarks.certainty.measure import SHARES

TABLE_SHARES = (10, 25, 50, 75, 100)
ORDERS = {"certainty": "most certain first", "length": "shortest first", "random": "random"}

PAGE = """# How reliable the probabilities are

Made by `{command}`.

The parsers are those of `python -m benchmarks.accuracy`: `configs/recommended.cfg`, trained on docs of ten sentences.
Here they get gold boundaries, and no tags. The temperature is fitted on the dev part.

## Calibration

Expected calibration error of the probabilities of predicted heads (ten bins), before and after the temperature.

{calibration}
![Reliability diagrams]({reliability})

Of heads with a probability of so much, how many are right; test parts, after the temperature. The area of a point is
the share of words.

## Selective parsing

LAS (CoNLL-X) of a part of the test sentences: those with the largest mean probability of head and label, the
shortest ones, or any ones.

{selective}
![LAS against the share of sentences]({curves})
"""


def page(found: Mapping[str, dict[str, Any]], command: str, reliability: str, curves: str) -> str:
    """found: records by treebank. reliability, curves: where the pictures are, seen from the page."""
    return PAGE.format(
        command=command,
        calibration=calibration(found),
        selective=selective(found),
        reliability=reliability,
        curves=curves,
    )


def calibration(found: Mapping[str, dict[str, Any]]) -> str:
    """Errors before and after."""
    rows = []
    for treebank, record in found.items():
        errors = [record["reliability"][part][when]["ece"] for part in ("dev", "test") for when in ("before", "after")]
        rows.append([treebank, f"{record['temperature']:.3f}", *(f"{error:.4f}" for error in errors)])
    columns = ("treebank", "temperature", "dev, before", "dev, after", "test, before", "test, after")
    return markdown(columns, rows, 1)


def selective(found: Mapping[str, dict[str, Any]]) -> str:
    """LAS of some shares."""
    rows = []
    for treebank, record in found.items():
        for order, title in ORDERS.items():
            curve = dict(zip(SHARES, record["selective"]["LAS"][order], strict=True))
            rows.append([treebank, title, *(f"{curve[share]:.1f}" for share in TABLE_SHARES)])
    return markdown(("treebank", "order", *(f"{share} %" for share in TABLE_SHARES)), rows)


def draw_reliability(found: Mapping[str, dict[str, Any]], path: Path) -> None:
    """A panel for each treebank: the share of right heads against their mean probability."""
    from benchmarks.plots import new_figure

    figure, panels = new_figure(len(found))
    for panel, (treebank, record) in zip(panels, found.items(), strict=True):
        own = {name: np.array(value) for name, value in record["reliability"]["test"]["after"].items()}
        seen = own["counts"] > 0
        sizes = 600 * own["counts"][seen] / own["counts"].sum() + 8
        panel.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":")
        panel.scatter(own["confidence"][seen], own["accuracy"][seen], s=sizes, alpha=0.7)
        panel.set(xlim=(0, 1.03), ylim=(0, 1.03), title=treebank, xlabel="probability", aspect="equal")
        panel.title.set_fontsize(10)
        panel.grid(True, alpha=0.3)
    panels[0].set_ylabel("right heads")
    figure.savefig(path, metadata={"Date": None})


def draw_curves(found: Mapping[str, dict[str, Any]], path: Path) -> None:
    """A panel for each treebank: LAS against the share of sentences, by order."""
    from benchmarks.plots import new_figure

    figure, panels = new_figure(len(found))
    for panel, (treebank, record) in zip(panels, found.items(), strict=True):
        for order, title in ORDERS.items():
            panel.plot(SHARES, record["selective"]["LAS"][order], label=title, marker="o", markersize=3)
        panel.set(title=treebank, xlabel="sentences, percent")
        panel.title.set_fontsize(10)
        panel.grid(True, alpha=0.3)
    panels[0].set_ylabel("LAS")
    panels[0].legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
