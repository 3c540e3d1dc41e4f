"""How fast inference is: ours and every peer that is installed, in one process and one thread.

    python -m benchmarks.inference [--quick] [--out docs/benchmarks]

writes inference.md (ratios), inference.svg (time per sentence of all) and growth.svg (ours up to n = 2000) into the
folder.
"""

from __future__ import annotations

import os

# One thread. Libraries read these when they are imported, so they come first.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from benchmarks import growth, plots, tables
from benchmarks.contenders import installed
from benchmarks.contenders.contender import TASKS
from benchmarks.timing import Plan, measure

LENGTHS = (10, 20, 40, 80, 160, 320)
QUICK = Plan(rounds=3, sentences=256, seconds=0.05, longest=1.0)
DISTRIBUTIONS = ("numpy", "scipy", "torch", "torch-struct", "supar", "ufal.chu-liu-edmonds", "networkx")


def measure_all(contenders, plan: Plan, lengths, deviation: float) -> dict:
    """{(task, single_root): {n: {name: seconds per sentence, by round}}}"""
    results = {}
    for task in TASKS:
        entrants = [contender for contender in contenders if contender.task == task]
        for single_root in (False, True):
            cells = results[task, single_root] = {}
            for n in lengths:
                start = time.perf_counter()
                cells[n] = measure(entrants, n, single_root, plan, deviation)
                root = "single" if single_root else "multi"
                print(f"{task.title}, {root}-root, n = {n}: {time.perf_counter() - start:.0f} s", flush=True)
    return results


def describe_versions() -> str:
    found = []
    for name in DISTRIBUTIONS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Python {platform.python_version()}, " + ", ".join(found)


def describe_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return model


def limit_torch_threads() -> None:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the inference beside every peer that is installed.")
    parser.add_argument("--quick", action="store_true", help="a rough idea within a minute or two")
    parser.add_argument("--deviation", type=float, default=1.0, help="standard deviation of the scores")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="leave out sentences longer than this")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="folder for table and plots")
    arguments = parser.parse_args()
    limit_torch_threads()
    contenders, missing = installed()
    for name, why in missing.items():
        print(f"left out: {name} ({why})")
    plan = QUICK if arguments.quick else Plan()
    lengths = [n for n in LENGTHS if n <= arguments.longest]
    results = measure_all(contenders, plan, lengths, arguments.deviation)
    arguments.out.mkdir(parents=True, exist_ok=True)
    page = tables.speed_page(
        results,
        machine=f"{describe_processor()}, one thread. {describe_versions()}.",
        missing=sorted(missing),
        deviation=arguments.deviation,
        plan=plan,
    )
    (arguments.out / "inference.md").write_text(page, encoding="utf8")
    print(page)
    plots.plot_times(results, arguments.out / "inference.svg")
    curves = growth.measure_growth(quick=arguments.quick)
    plots.plot_growth(curves, arguments.out / "growth.svg")
    for name, (ns, seconds, power) in curves.items():
        slope = np.polyfit(np.log(ns[ns >= 100]), np.log(seconds[ns >= 100]), 1)[0]
        print(f"{name}: from 100 words on, time grows as n^{slope:.2f} (bound: n^{power})")


if __name__ == "__main__":
    main()
