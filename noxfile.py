"""The tests on every Python, with the oldest and with the newest packages that pyproject.toml allows.

nox                                                          all of them
nox -s "tests-3.13(oldest)" -- tests/pipeline -x             one, with arguments for pytest
"""

import os
import re
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.reuse_existing_virtualenvs = True
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
RESOLUTIONS = {"oldest": "lowest-direct", "newest": "highest"}
USED = [re.match(r"[\w.-]+", each)[0] for each in nox.project.load_toml("pyproject.toml")["project"]["dependencies"]]


@nox.session(python=PYTHONS)
@nox.parametrize("packages", list(RESOLUTIONS), ids=list(RESOLUTIONS))
def tests(session: nox.Session, packages: str) -> None:
    """Only the packages that we use ourselves are old; theirs, and those that run the tests, are new."""
    given = ("--resolution", RESOLUTIONS[packages], "--only-binary", ":all:", "--python-version", session.python)
    compiled = session.run("uv", "pip", "compile", "-q", *given, "pyproject.toml", external=True, silent=True)
    constraints = Path(session.create_tmp()) / "constraints.txt"
    pins = [line for line in compiled.splitlines() if line.partition("==")[0] in USED]
    constraints.write_text("\n".join(pins) + "\n", encoding="utf8")
    session.log(", ".join(pins))
    session.install("-e", ".[dev]", "-c", str(constraints))
    session.run("python", "-m", "pytest", *(session.posargs or ["-n", "auto"]), env={"OMP_NUM_THREADS": "1"})


@nox.session(python=PYTHONS[-1])
@nox.parametrize("compiler", ["gcc", "clang"])
def kernels(session: nox.Session, compiler: str) -> None:
    """The kernels compile without a warning."""
    session.install("Cython>=3.1", "numpy", "setuptools>=77")
    include = session.run("python", "-c", "import sysconfig; print(sysconfig.get_path('include'))", silent=True).strip()
    for source in sorted(Path("spacy_mtt").rglob("*.pyx")):
        made = Path(session.create_tmp()) / f"{source.stem}.c"
        session.run("cython", "-3", str(source), "-o", str(made), silent=True)
        folders = (f"-I{include}", f"-I{source.parent}")
        command = (compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers")
        session.run(*command, "-O3", "-fPIC", *folders, "-c", str(made), "-o", os.devnull, external=True, silent=True)
