"""The figure of docs/inference.md: where LU in float64 fails, and the elimination without subtraction does not.

    python -m benchmarks.cancellation [--out docs/figures]

writes cancellation.svg. Left: two of three words attract each other more and more. Right: normal scores with a growing
standard deviation. Both show the largest error of any marginal, against LU in as many digits as it takes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.contenders.floors import sums_by_inverse
from benchmarks.exact import exact_sums
from benchmarks.plots import new_figure
from spacy_mtt import TreeDistribution

PRECISION = 2.0**-53
WORST = 1e3  # NaN, infinity and larger errors are drawn here


def largest_errors(scores: np.ndarray) -> tuple[float, float]:
    """The largest error of a multi-root marginal, by LU and by ours."""
    exact = exact_sums(scores, single_root=False)[1]
    arcs = exact > -1.0
    arcs[:, 0] = False
    np.fill_diagonal(arcs, False)
    with np.errstate(all="ignore"):
        try:
            by_lu = sums_by_inverse((scores[None], False))[1][0]
        except np.linalg.LinAlgError:  # singular in float64
            by_lu = np.full_like(scores, np.nan)
    ours = TreeDistribution(scores, single_root=False).marginals
    return tuple(_bounded(np.abs(found - exact)[arcs].max()) for found in (by_lu, ours))


def _bounded(error: float) -> float:
    return float(np.clip(error, PRECISION / 2, WORST)) if np.isfinite(error) else WORST


def attraction_curve() -> tuple[np.ndarray, np.ndarray]:
    strengths = np.arange(0.0, 81.0, 2.0)
    errors = []
    for strength in strengths:
        scores = np.zeros((4, 4))
        scores[1, 2] = scores[2, 1] = strength
        errors.append(largest_errors(scores))
    return strengths, np.array(errors)


def deviation_curve(samples: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """(deviations, the samples' errors (deviations, 2)): the worst of the samples."""
    rng = np.random.default_rng(0)
    deviations = np.array([1.0, 2.0, 4.0, 7.0, 10.0, 15.0, 20.0, 30.0, 45.0, 65.0, 100.0])
    errors = [
        np.max([largest_errors(rng.normal(scale=deviation, size=(9, 9))) for _ in range(samples)], axis=0)
        for deviation in deviations
    ]
    return deviations, np.array(errors)


def draw(path: Path) -> None:
    figure, panels = new_figure(2)
    curves = [
        (attraction_curve(), "three words, two of which score each other x, all else 0", "x"),
        (deviation_curve(), "eight words, normal scores: the worst of 12 sentences", "standard deviation"),
    ]
    for panel, ((at, errors), title, xlabel) in zip(panels, curves, strict=True):
        panel.plot(at, errors[:, 0], color="tab:red", marker="o", markersize=3, label="LU: slogdet and inv")
        panel.plot(at, errors[:, 1], color="black", marker="o", markersize=3, label="without subtraction")
        panel.axhline(1.0, color="gray", linewidth=0.8, linestyle=":")
        panel.set(yscale="log", xlabel=xlabel, ylim=(PRECISION / 4, 3 * WORST))
        panel.set_title(title, fontsize=9)
        panel.grid(True, alpha=0.3)
        panel.legend(fontsize=8)
    panels[1].set_xscale("log")
    panels[0].set_ylabel("largest error of a marginal (NaN and more at the top)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw where LU fails.")
    parser.add_argument("--out", type=Path, default=Path("docs/figures"), help="folder for the figure")
    draw(parser.parse_args().out / "cancellation.svg")


if __name__ == "__main__":
    main()
