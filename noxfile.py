"""The tests on every Python, with the oldest and with the newest packages that pyproject.toml allows.

nox                                                          all of them
nox -s "tests-3.13(oldest)" -- tests/pipeline -x             one, with arguments for pytest
"""

from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}


@nox.session(python=PYTHONS)
@nox.parametrize("packages", list(RESOLUTIONS), ids=list(RESOLUTIONS))
def tests(session: nox.Session, packages: str) -> None:
    """Only the packages that users need are old; those that run the tests are new."""
    constraints = Path(session.create_tmp()) / "constraints.txt"
    given = ("--resolution", RESOLUTIONS[packages], "--only-binary", ":all:", "--python-version", session.python)
    session.run(
        "uv", "pip", "compile", "--quiet", "--no-deps", *given, "pyproject.toml", "-o", constraints, external=True
    )
    session.install("-e", ".[dev]", "-c", constraints)
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "auto"]), env={"OMP_NUM_THREADS": "1"})
