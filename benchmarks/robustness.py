"""How exact sums over non-projective trees are: ours and every peer that is installed, on hard scores.

    python -m benchmarks.robustness [--quick] [--out docs/benchmarks]

writes robustness.md into the folder, and fails if our answer is wrong in any case.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.contenders import installed
from benchmarks.contenders.contender import NONPROJECTIVE_SUMS, Contender
from benchmarks.exact import exact_sums
from benchmarks.hard_scores import Case, all_cases

TOLERANCE = 1e-3  # of marginals absolute, of log Z relative: what is off by more is wrong
OUT_OF_RANGE = 1e-5


@dataclass
class Tally:
    """What became of one contender in one group of cases."""

    cases: int = 0
    wrong: int = 0
    exceptions: int = 0
    not_finite: int = 0
    out_of_range: int = 0
    marginal_error: float = 0.0  # the largest among finite answers
    log_z_error: float = 0.0

    def add(self, answer, exact) -> None:
        self.cases += 1
        if answer is None:
            self.exceptions += 1
            self.wrong += 1
            return
        log_z, marginals = float(answer[0][0]), answer[1][0]
        arcs = np.ones(marginals.shape, dtype=bool)
        arcs[:, 0] = False
        np.fill_diagonal(arcs, False)
        if not (np.isfinite(log_z) and np.isfinite(marginals[arcs]).all()):
            self.not_finite += 1
            self.wrong += 1
            return
        marginal_error = np.abs(marginals - exact[1])[arcs].max()
        log_z_error = abs(log_z - exact[0]) / max(1.0, abs(exact[0]))
        self.out_of_range += ((marginals < -OUT_OF_RANGE) | (marginals > 1 + OUT_OF_RANGE))[arcs].any()
        self.wrong += marginal_error > TOLERANCE or log_z_error > TOLERANCE
        self.marginal_error = max(self.marginal_error, float(marginal_error))
        self.log_z_error = max(self.log_z_error, float(log_z_error))

    def __str__(self) -> str:
        kinds = {"exception": self.exceptions, "NaN or inf": self.not_finite, "outside [0, 1]": self.out_of_range}
        notes = [f"{count} {kind}" for kind, count in kinds.items() if count]
        errors = f"{self.marginal_error:.0e}, {self.log_z_error:.0e}"
        if self.exceptions + self.not_finite == self.cases:
            errors = "no answer"
        return f"{self.wrong}/{self.cases} ({'; '.join([errors, *notes])})"


@dataclass
class Column:
    contender: Contender
    groups: dict[str, Tally] = field(default_factory=dict)

    @property
    def wrong(self) -> int:
        return sum(tally.wrong for tally in self.groups.values())

    @property
    def cases(self) -> int:
        return sum(tally.cases for tally in self.groups.values())


def answer_of(contender: Contender, scores: np.ndarray, single_root: bool):
    """What it answers for one sentence, or None where it raises an exception."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            prepared = contender.prepare(scores[None].copy(), single_root)
            return contender.read(contender.solve(prepared))
        except Exception:  # whatever a library raises, it is no answer
            return None


def judge(contenders: list[Contender], cases: list[Case], dtype, single_root: bool) -> list[Column]:
    columns = [Column(contender) for contender in contenders]
    for case in cases:
        scores = case.scores.astype(dtype)
        exact = exact_sums(scores.astype(np.float64), single_root)
        for column in columns:
            answer = answer_of(column.contender, scores, single_root)
            column.groups.setdefault(case.group, Tally()).add(answer, exact)
    return columns


def table(columns: list[Column]) -> list[str]:
    lines = ["| scores | " + " | ".join(column.contender.name for column in columns) + " |"]
    lines.append("|---|" + "---|" * len(columns))
    for group in columns[0].groups:
        lines.append(f"| {group} | " + " | ".join(str(column.groups[group]) for column in columns) + " |")
    totals = (f"**{column.wrong}/{column.cases}**" for column in columns)
    lines.append("| **all** | " + " | ".join(totals) + " |")
    return lines


INTRODUCTION = """# Exactness of sums over non-projective trees

Written by `python -m benchmarks.robustness`. Each cell: cases wrong / cases (the largest error of a marginal, and of
log Z relative to its size, among finite answers; what else went wrong). Wrong is a marginal off by more than 1e-3,
log Z by more than 1e-3 of itself, NaN, infinity or an exception. The exact answers are LU in mpmath, with as many
digits as it takes. float32 tables give float32 scores to each library, and the exact answer is that of the rounded
scores. The list of cases is weighted to the extreme: its totals rank libraries, they are no rates of failure.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Judge sums over trees on hard scores.")
    parser.add_argument("--quick", action="store_true", help="leave out sentences of more than 8 words")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="folder for the table")
    arguments = parser.parse_args()
    contenders, missing = installed()
    contenders = [
        contender for contender in contenders if contender.task == NONPROJECTIVE_SUMS and contender.read is not None
    ]
    cases = [case for case in all_cases() if not arguments.quick or len(case.scores) <= 9]
    lines, ours_wrong = [INTRODUCTION], 0
    if missing:
        lines.append(f"Not installed, so not judged: {', '.join(sorted(missing))}.\n")
    for dtype in (np.float64, np.float32):
        for single_root in (False, True):
            columns = judge(contenders, cases, dtype, single_root)
            ours_wrong += sum(column.wrong for column in columns if column.contender.kind == "ours")
            root = "single" if single_root else "multi"
            lines += [f"## {np.dtype(dtype).name}, {root}-root", "", *table(columns), ""]
            print("\n".join(lines[-len(columns[0].groups) - 6 :]), flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "robustness.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf8")
    return 1 if ours_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
