"""docs/accuracy.md and its plot, from what was found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev

import spacy

import spacy_mtt
from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.jobs import Record
from spacy_mtt.treebanks.evaluation.results import percent

PART = "test"
HEADER = """# Accuracy, beside spaCy's own parser

Written by `{command}` ({versions}).

All parsers are trained on the same docs, ten sentences of the treebank each, for the same number of steps, and find
sentence boundaries themselves; no tags, no pretrained vectors. `same` is spaCy's config with `mtt_parser` in the
place of `parser` and nothing else changed (`python -m spacy mtt fill-config`): the same token vectors, which it reads
with a recurrence, the same batches and optimizer. `recommended` is `configs/recommended.cfg`, with its own optimizer,
and with batches of 1000 words from the first, where spaCy's grow from 100 to 1000: in 3000 steps it sees 1.9 times as
many words.

Of ten evaluations the model with the best score on the dev part, with predicted boundaries, is kept. Docs of ten
sentences are scored with gold boundaries set (UAS and LAS by the rules of CoNLL-X, words of punctuation alone left out)
and with those that the parser finds (by spaCy's, F-scores without words labelled `punct`; sentences: F of their spans).
Mean over {seeds} seeds, with the standard deviation between them. Non-projective arcs: gold boundaries, all seeds
together. Words per second: `nlp.pipe` on one thread, boundaries predicted, all three in turn in one process, as ratios
to spaCy's parser, the median over rounds. Training: the processor time of a step as a ratio to spaCy's parser.
"""


@dataclass(frozen=True)
class Found:
    """What was found on a treebank. runs: by contender, for each seed the records "training", "dev" and "test".

    speeds: by batch size, of each contender in each round; None if not measured.
    """

    treebank: str
    steps: int
    runs: dict[str, list[dict[str, Record]]]
    speeds: dict[str, list[list[float]]] | None

    def values(self, contender: str, part: str, boundaries: str, rules: str, score: str) -> list[float | None]:
        """A score of each seed; None where the rules reject the treebank or there is nothing to score."""
        found = [run[part][boundaries][rules] for run in self.runs[contender]]
        return [None if each is None else each["scores"].get(score) for each in found]

    def mean(self, *which: str) -> float | None:
        """Over seeds."""
        values = [value for value in self.values(*which) if value is not None]
        return fmean(values) if values else None

    def gain(self, contender: str, part: str, boundaries: str, rules: str) -> float:
        """Points of LAS over spaCy's parser."""
        return self.mean(contender, part, boundaries, rules, "LAS") - self.mean("spacy", part, boundaries, rules, "LAS")

    def sents_f(self, contender: str, part: str) -> float:
        """F of predicted sentences, the mean over seeds."""
        return self.mean(contender, part, "predicted", "spaCy", "sentences")

    def nonprojective(self, contender: str, part: str) -> dict[str, int]:
        """Counts of `evaluate_nonprojective` with gold boundaries, summed over seeds."""
        found = [run[part]["gold"]["non-projective"]["counts"] for run in self.runs[contender]]
        return {name: sum(each[name] for each in found) for name in found[0]}

    def speed(self, contender: str, size: str) -> float | None:
        """Words per second, a ratio to spaCy's parser."""
        if self.speeds is None:
            return None
        own, reference = (self.speeds[size][list(CONTENDERS).index(name)] for name in (contender, "spacy"))
        return median(a / b for a, b in zip(own, reference, strict=True))

    def cost(self, contender: str) -> float:
        """Processor time of training, a ratio to spaCy's parser."""
        own, reference = (
            fmean(run["training"]["seconds"]["cpu"] for run in self.runs[name]) for name in (contender, "spacy")
        )
        return own / reference


def page(found: Sequence[Found], command: str, plot: str) -> str:
    """The whole Markdown page."""
    versions = f"spacy-mtt {spacy_mtt.__version__}, spaCy {spacy.__version__}, Python {sys.version.split()[0]}"
    seeds = max((len(each.runs["spacy"]) for each in found), default=0)
    sections = [HEADER.format(command=command, versions=versions, seeds=seeds)]
    if found:
        sections += [gains(found), f"![LAS over spaCy's parser]({plot})\n"]
        sections += [accuracy(found, "test"), accuracy(found, "dev"), nonprojective(found), speed(found)]
    return "\n".join(sections)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], text: int = 2) -> str:
    """A table; all but the first columns are numbers."""
    rules = [" --- " if place < text else " ---: " for place in range(len(columns))]
    lines = ["| " + " | ".join(columns) + " |", "|" + "|".join(rules) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def gains(found: Sequence[Found]) -> str:
    """LAS over spaCy's parser, by treebank and on average."""
    ways = (("gold", "CoNLL-X"), ("predicted", "spaCy"))
    cells = [(name, *way) for name in CONTENDERS if name != "spacy" for way in ways]
    rows = []
    for each in found:
        rows.append([each.treebank, *(f"{each.gain(name, PART, *way):+.2f}" for name, *way in cells)])
    means = [fmean(each.gain(name, PART, *way) for each in found) for name, *way in cells]
    rows.append(["average", *(f"**{mean:+.2f}**" for mean in means)])
    least = [min(each.gain(name, PART, *way) for each in found) for name, *way in cells]
    rows.append(["least", *(f"{value:+.2f}" for value in least)])
    columns = ["treebank", *(f"{name}, {boundaries} boundaries" for name, boundaries, _ in cells)]
    return "## LAS over spaCy's parser\n\nPoints, test part.\n\n" + markdown(columns, rows, 1)


def accuracy(found: Sequence[Found], part: str) -> str:
    """The scores of a part."""
    shown = (
        ("gold", "CoNLL-X", "UAS"),
        ("gold", "CoNLL-X", "LAS"),
        ("predicted", "spaCy", "UAS"),
        ("predicted", "spaCy", "LAS"),
    )
    rows = []
    for each in found:
        for name in CONTENDERS:
            cells = [_with_deviation(each.values(name, part, *way)) for way in shown]
            rows.append([each.treebank, name, *cells, f"{each.sents_f(name, part):.1f}"])
    columns = ("treebank", "parser", *(f"{score}, {way} boundaries" for way, _, score in shown), "sentences F")
    return f"## The {part} parts\n\n" + markdown(columns, rows)


def _with_deviation(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return f"{fmean(known):.2f}" + (f" ± {stdev(known):.2f}" if len(known) > 1 else "")


def nonprojective(found: Sequence[Found]) -> str:
    """Precision and recall of non-projective arcs."""
    rows = []
    for each in found:
        for name in CONTENDERS:
            counts = each.nonprojective(name, PART)
            recall = percent(counts["recovered gold arcs"], counts["gold arcs"])
            precision = percent(counts["correct predicted arcs"], counts["predicted arcs"])
            shares = ["-" if value is None else f"{value:.1f}" for value in (recall, precision)]
            numbers = [str(counts[key]) for key in ("gold arcs", "recovered gold arcs", "predicted arcs")]
            rows.append([each.treebank, name, *numbers, *shares])
    columns = ("treebank", "parser", "gold", "found", "predicted", "recall", "precision")
    return "## Non-projective arcs of the test parts\n\n" + markdown(columns, rows)


def speed(found: Sequence[Found]) -> str:
    """Ratios to spaCy's parser."""
    sizes = next((list(each.speeds) for each in found if each.speeds), [])
    rows = []
    for each in found:
        for name in CONTENDERS:
            ratios = [each.speed(name, size) for size in sizes]
            shown = ["-" if ratio is None else f"{ratio:.2f}" for ratio in ratios]
            rows.append([each.treebank, name, *shown, f"{each.cost(name):.2f}", f"{each.steps:,}"])
    columns = ("treebank", "parser", *(f"words/s, {size} docs a batch" for size in sizes), "training", "steps")
    return "## Speed\n\n" + markdown(columns, rows)


def draw(found: Sequence[Found], path: Path) -> None:
    """LAS over spaCy's parser as bars, a group for each treebank."""
    from benchmarks.plots import new_figure

    figure, (panel,) = new_figure(1)
    figure.set_size_inches(8.0, 0.5 * len(found) + 1.6)
    bars: list[tuple[str, Callable[[Found], float]]] = [
        ("same token vectors", lambda each: each.gain("same", PART, "gold", "CoNLL-X")),
        ("recommended", lambda each: each.gain("recommended", PART, "gold", "CoNLL-X")),
    ]
    height = 0.8 / len(bars)
    for number, (label, value) in enumerate(bars):
        places = [place + (number - 0.5) * height for place in range(len(found))]
        panel.barh(places, [value(each) for each in found], height=height, label=label)
    panel.set_yticks(range(len(found)), [each.treebank for each in found], fontsize=8)
    panel.invert_yaxis()
    panel.axvline(0.0, color="black", linewidth=0.8)
    panel.set_xlabel("LAS over spaCy's parser, test part, gold boundaries")
    panel.grid(True, axis="x", alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})
