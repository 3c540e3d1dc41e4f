"""The plots of the speed measurements. matplotlib is imported only here, when a plot is drawn."""

from __future__ import annotations

import numpy as np


def new_figure(columns: int):
    """(figure, its panels in one row)."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "spacy_mtt"  # the same picture gives the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, columns, figsize=(4.2 * columns, 4.2), squeeze=False, layout="constrained")
    return figure, axes[0]


def plot_times(results: dict, path) -> None:
    """Microseconds per sentence of every contender, one panel a task, single-root where a peer can."""
    tasks = list(dict.fromkeys(task for task, _ in results))
    figure, panels = new_figure(len(tasks))
    for task, panel in zip(tasks, panels, strict=True):
        multi, single = results[task, False], results[task, True]
        names = dict.fromkeys(name for cells in (*single.values(), *multi.values()) for name in cells)
        for name in names:
            cells = single if any(name in cell for cell in single.values()) else multi
            points = [(n, 1e6 * np.median(cell[name])) for n, cell in cells.items() if name in cell]
            label = name if cells is single else f"{name} (multi-root)"
            style = {"color": "black", "linewidth": 2.5} if name == "spacy_mtt" else {"linewidth": 1.2}
            if name.startswith("floor"):
                style["linestyle"] = ":"
            panel.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label, **style)
        panel.set(xscale="log", yscale="log", title=task.title, xlabel="words")
        panel.title.set_fontsize(10)
        panel.set_xticks(list(single), [str(n) for n in single])
        panel.minorticks_off()
        panel.grid(True, alpha=0.3)
        panel.legend(fontsize=7)
    panels[0].set_ylabel("microseconds per sentence, one thread")
    figure.savefig(path, metadata={"Date": None})


def plot_growth(curves: dict, path) -> None:
    """Milliseconds per sentence against its length, with the slope of the bound drawn through the last point."""
    figure, (panel,) = new_figure(1)
    for name, (lengths, seconds, power) in curves.items():
        (line,) = panel.plot(lengths, 1e3 * seconds, marker="o", markersize=3, label=name)
        bound = 1e3 * seconds[-1] * (lengths / lengths[-1]) ** power
        panel.plot(lengths, bound, linestyle=":", linewidth=1, color=line.get_color(), label=f"n^{power}")
    panel.set(xscale="log", yscale="log", xlabel="words", ylabel="milliseconds per sentence, one thread")
    panel.grid(True, alpha=0.3)
    panel.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
