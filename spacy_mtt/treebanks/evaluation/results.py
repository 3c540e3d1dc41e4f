"""What an evaluation returns, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


class EvaluationError(ValueError):
    """Two treebanks cannot be compared by a rule set; the message is one sentence that names the place."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one rule set in percent (None: there was nothing to score) and the counts behind them."""

    rules: str
    scores: dict[str, float | None]
    counts: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict:
        """A dict for JSON."""
        return {"rules": self.rules, **self.scores, "counts": dict(self.counts)}


def percent(part: float, whole: float) -> float | None:
    """100 * part / whole, None if `whole` is 0."""
    return 100 * part / whole if whole else None


def format_table(columns: Mapping[str, Evaluation | EvaluationError]) -> str:
    """Rule sets side by side, one score a line; `-` where a rule set has no such score or nothing to score.

    A rule set that rejects the files has an empty column, and its reason stands below the table.
    """
    names = list(columns)
    shown = {name: each.scores for name, each in columns.items() if isinstance(each, Evaluation)}
    metrics = list(dict.fromkeys(metric for scores in shown.values() for metric in scores))
    rows = [["", *names]]
    for metric in metrics:
        values = (shown.get(name, {}).get(metric) for name in names)
        rows.append([metric, *("-" if value is None else f"{value:.2f}" for value in values)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(names) + 1)]
    lines = [" | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    lines += [f"{name}: {each}" for name, each in columns.items() if isinstance(each, EvaluationError)]
    return "\n".join(lines)
