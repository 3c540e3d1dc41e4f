"""A wheel built from the sdist, installed into an empty environment and used from another folder."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: object, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]} {done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from the sdist of a copy of what git tracks: no stray file helps, and none is missing in it."""
    folder = tmp_path_factory.mktemp("build")
    source = folder / "source"
    files = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT).split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, cwd=folder)  # the wheel from the sdist
    (built,) = (folder / "dist").glob("*.whl")
    return built


@pytest.mark.slow
def test_distribution_works_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "environment", with_pip=True)
    python = tmp_path / "environment" / ("Scripts" if os.name == "nt" else "bin") / "python"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=elsewhere)
    assert run(python, ROOT / "tests" / "installed.py", cwd=elsewhere).strip() == "['nsubj', 'ROOT']"
    load = "import spacy; print([t.dep_ for t in spacy.load('pipeline')('it works')])"
    assert run(python, "-c", load, cwd=elsewhere).strip() == "['nsubj', 'ROOT']"
    assert "evaluate" in run(python, "-m", "spacy", "mtt", "--help", cwd=elsewhere)
    assert "TreeDistribution" in run(python, "-c", "import spacy_mtt; print(spacy_mtt.__all__)", cwd=elsewhere)
