"""Decoding by minimum risk, which is no part of the experiment: log-linear models, non-projective training.

    python -m benchmarks.koo2007.minimum_risk --from FOLDER --treebanks conllx-dutch-alpino6000

C and passes are chosen on the validation part as decoded by minimum risk, and the test part is scored once. Results
are kept beside the others, and told on the page that `python -m benchmarks.koo2007 --report` writes.
"""

from __future__ import annotations

import sys

from benchmarks.koo2007.__main__ import options_of, treebanks
from benchmarks.koo2007.grid import do
from benchmarks.koo2007.jobs import RiskSearch, Treebank
from benchmarks.koo2007.protocol import final_job, searches
from benchmarks.koo2007.report import RISK_SETTING, minimum_risk
from benchmarks.koo2007.store import Store
from spacy_mtt.treebanks.assets import fetch_treebank
from spacy_mtt.treebanks.errors import TreebankError


def run(treebank: Treebank, store: Store) -> None:
    """Do what has not been done."""
    while left := [job for job in searches(treebank, *RISK_SETTING, store.get, RiskSearch) if store.get(job) is None]:
        for job in left:
            do(job, store)
    do(final_job(treebank, *RISK_SETTING, store.get, RiskSearch), store)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    options = options_of(arguments)
    project, store = options.project.resolve(), Store(options.results.resolve())
    try:
        for name in options.treebanks:
            for _ in fetch_treebank(name, project, folder=options.folder or None):
                pass
        for treebank in treebanks(project, options.treebanks):
            run(treebank, store)
            choice, result = minimum_risk(treebank, store)
            print(
                f"{treebank.name}: C {choice.C:g}, {choice.passes} passes, "
                f"UAS {choice.uas:.2f} validation, {result['UAS']:.2f} test"
            )
    except (TreebankError, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
