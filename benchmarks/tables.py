"""The speed measurements as a page of markdown."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Plan

OURS = "spacy_mtt"


def speed_page(results: dict, *, machine: str, missing: list[str], deviation: float, plan: Plan) -> str:
    """Ratios to our time, each the median over the rounds; above 1: we are faster."""
    lines = [
        "# Speed of the inference",
        "",
        "Written by `python -m benchmarks.inference`. " + machine,
        "",
        f"Scores are dense and normal with standard deviation {deviation:g}. Batches of at most 32 sentences of one "
        "length, all sentences distinct. Each number is a peer's time divided by ours, the median over "
        f"{plan.rounds} rounds in which all took turns: **above 1 we are faster**. Peers get their own layout "
        "ready-made; ours is `TreeDistribution`, with its checks of the input. Non-projective sums of peers are in "
        "float64, their "
        "projective ones in float32, which is faster for them; ours are always in float64. `-` means more than "
        f"{plan.longest:g} seconds a sentence, or that the peer cannot do it.",
        "",
    ]
    if missing:
        lines += ["Not installed, so not measured: " + ", ".join(missing) + ".", ""]
    for (task, single_root), cells in results.items():
        title = task.title[0].upper() + task.title[1:]
        lines += [f"## {title}, {'single' if single_root else 'multi'}-root", "", *_table(cells), ""]
    return "\n".join(lines)


def _table(cells: dict) -> list[str]:
    names = list(dict.fromkeys(name for cell in cells.values() for name in cell if name != OURS))
    rows = ["| | " + " | ".join(f"n = {n}" for n in cells) + " |", "|---|" + "---:|" * len(cells)]
    ours = [f"{1e6 * np.median(cell[OURS]):,.1f}" for cell in cells.values()]
    rows.append("| ours, microseconds a sentence | " + " | ".join(ours) + " |")
    for name in names:
        rows.append(f"| {name} | " + " | ".join(_ratio(cell, name) for cell in cells.values()) + " |")
    return rows


def _ratio(cell: dict, name: str) -> str:
    if name not in cell:
        return "-"
    ratio = np.median(np.array(cell[name]) / np.array(cell[OURS]))
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"
