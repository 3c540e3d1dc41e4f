"""What is measured: ways to solve a task, ours and others', all behind one form.

Each module here knows one library. It is imported only when asked for, and a library that is not installed is left out.
"""

from __future__ import annotations

from importlib import import_module

from benchmarks.contenders.contender import Contender

MODULES = ("ours", "with_torch_struct", "with_supar", "with_ufal", "with_networkx", "floors")


def installed() -> tuple[list[Contender], dict[str, str]]:
    """All contenders whose libraries can be imported, and for each library that cannot, why."""
    contenders, missing = [], {}
    for module in MODULES:
        try:
            contenders += import_module(f"benchmarks.contenders.{module}").CONTENDERS
        except ImportError as error:
            missing[module.removeprefix("with_")] = str(error)
    return contenders, missing
