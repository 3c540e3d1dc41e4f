"""Decoding by minimum risk, which is no part of the experiment: log-linear models, non-projective training.

    python -m benchmarks.koo2007.minimum_risk --from FOLDER --treebanks conllx-dutch-alpino6000

C and passes are chosen on the validation part as decoded by minimum risk, and the test part is scored once. Results
are kept beside the others, and told on the page that `python -m benchmarks.koo2007 --report` writes.
"""

from __future__ import annotations

import sys

from benchmarks.koo2007.__main__ import fetch, names_of, options_of, treebanks
from benchmarks.koo2007.grid import do
from benchmarks.koo2007.jobs import RiskSearch, Treebank
from benchmarks.koo2007.methods import METHODS
from benchmarks.koo2007.protocol import final_job, searches
from benchmarks.koo2007.report import RISK_SETTING, minimum_risk
from benchmarks.koo2007.store import Store
from spacy_mtt.treebanks.errors import TreebankError


def run(treebank: Treebank, store: Store) -> None:
    """Do what has not been done."""
    name, projective = RISK_SETTING
    asked = (treebank, METHODS[name], projective, store.get, RiskSearch)
    while left := [job for job in searches(*asked) if store.get(job) is None]:
        for job in left:
            do(job, store)
    do(final_job(*asked), store)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    options = options_of(arguments)
    project, store = options.project.resolve(), Store(options.results.resolve())
    try:
        fetch(names_of(options), project, options.folder)
        for treebank in treebanks(project, names_of(options)):
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
