"""Runs of the experiment on a tiny treebank: the same results on every backend, and nothing is done twice."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from weasel.util.config import load_project_config

from benchmarks.koo2007 import grid, minimum_risk, paper
from benchmarks.koo2007.__main__ import main, options_of
from benchmarks.koo2007.corpora import load_corpus
from benchmarks.koo2007.grid import run, workers
from benchmarks.koo2007.jobs import RISK, Final, RiskSearch, Search
from benchmarks.koo2007.protocol import SETTINGS, next_jobs
from benchmarks.koo2007.report import outcome
from benchmarks.koo2007.store import Store
from benchmarks.koo2007.titles import TITLES
from spacy_mtt.treebanks.assets import read_assets
from spacy_mtt.treebanks.evaluation import evaluate_conllx

ROOT = Path(__file__).parents[2]


@pytest.fixture
def calls(monkeypatch) -> list:
    """The jobs that are run in this process, in their order."""
    found: list = []
    for kind in (Search, Final):
        monkeypatch.setattr(kind, "run", _counted(kind.run, found))
    return found


def _counted(run_job, found):
    def counted(job):
        found.append(job)
        return run_job(job)

    return counted


def results_of(folder) -> dict[str, dict]:
    return {path.name: json.loads(path.read_text(encoding="utf8"))["result"] for path in folder.rglob("*.json")}


def do_all(treebank, store, backend="loky", n_jobs=1) -> None:
    with workers(backend, n_jobs):
        assert list(run([treebank], store)) == [[treebank]]


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_other_backends_give_the_same(treebank, tmp_path, calls, monkeypatch):
    store = Store(tmp_path / "one process")
    put = Store.put

    def stopping(self, job, result, seconds):
        put(self, job, result, seconds)
        if len(calls) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Store, "put", stopping)
    with pytest.raises(KeyboardInterrupt):
        do_all(treebank, store)
    assert len(results_of(store.folder)) == 5
    monkeypatch.setattr(Store, "put", put)
    do_all(treebank, store)
    assert len(calls) == len(set(calls)) == len(results_of(store.folder)) >= 20
    assert not next_jobs(treebank, store.get)
    do_all(treebank, store)
    assert len(calls) == len(set(calls)), "a job was run again"

    found = outcome(treebank, store)
    test = load_corpus(treebank.project, "tiny").test
    for setting in SETTINGS:
        result = found.results[setting]
        trees = [each.with_tree(heads, each.deprels) for each, heads in zip(test, result["heads"], strict=True)]
        assert result["UAS"] == pytest.approx(evaluate_conllx(test, trees).scores["UAS"])
        assert result["UAS"] > 60 and found.choices[setting].uas > 60

    monkeypatch.undo()
    for backend in ("dask", "loky"):
        other = Store(tmp_path / backend)
        do_all(treebank, other, backend, n_jobs=2)
        assert results_of(other.folder) == results_of(store.folder)


@pytest.mark.slow
def test_the_command_writes_the_page_and_resumes(treebank, tmp_path, calls, capsys):
    page = tmp_path / "docs" / "koo2007.md"
    arguments = ["--treebanks", "tiny", "--project", str(treebank.project), "--results", str(tmp_path / "results")]
    arguments += ["--out", str(page)]
    main([*arguments, "--report"])
    assert "Not run to the end, so not in the tables: tiny." in page.read_text(encoding="utf8") and not calls
    main(arguments)
    done, text = len(calls), page.read_text(encoding="utf8")
    assert done >= 20
    for heading in ("Table 1", "Table 2", "Table 3", "Sign tests", "What holds", "Chosen on the validation part"):
        assert f"\n## {heading}" in text
    found = outcome(treebank, Store(tmp_path / "results"))
    assert all(f"{found.uas(setting):.2f}" in text for setting in SETTINGS)
    main(arguments)
    assert len(calls) == done and page.read_text(encoding="utf8") == text

    with pytest.raises(SystemExit, match=r"error: .*unknown treebank 'none'"):
        main([*arguments, "--treebanks", "none"])


def test_the_project_gives_options_that_the_command_has():
    (script,) = [each["script"] for each in load_project_config(ROOT)["commands"] if each["name"] == "koo2007-run"]
    (words,) = map(shlex.split, script)
    assert words[:3] == ["python", "-m", "benchmarks.koo2007"]
    options = options_of(words[3:])
    assert options.treebanks == ["all"] and options.folder == "" and options.jobs == 1


def test_the_ten_treebanks_are_in_the_project():
    assets = read_assets(ROOT / "project.yml")
    assert len(TITLES) == 10
    for name, title in TITLES.items():
        assert {"test"} < {asset.part for asset in assets[name]}
        assert title.paper is None or title.paper in paper.LANGUAGES


def test_wrong_backends_are_named(monkeypatch):
    with (
        pytest.raises(ValueError, match="the backend is 'threads', but must be one of loky, dask, ray"),
        workers("threads", 1),
    ):
        pass
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="the backend ray needs the package ray"), workers("ray", 1):
        pass
    with pytest.raises(ValueError, match="of no use to the backend loky"), workers("loky", 1, "tcp://nowhere:1"):
        pass


def test_a_job_of_another_worker_is_not_run_again(treebank, tmp_path, calls):
    store = Store(tmp_path)
    job = next_jobs(treebank, store.get)[0]
    store.put(job, {"curve": []}, 0.0)
    grid.do(job, store)
    assert not calls


@pytest.mark.slow
def test_minimum_risk_is_run_once_and_told(treebank, tmp_path, calls, capsys):
    page = tmp_path / "koo2007.md"
    arguments = ["--treebanks", "tiny", "--project", str(treebank.project), "--results", str(tmp_path / "results")]
    main([*arguments, "--out", str(page)])
    assert "Minimum risk" not in page.read_text(encoding="utf8")
    before = len(calls)
    minimum_risk.main(arguments)
    assert {type(job) for job in calls[before:]} == {RiskSearch, Final} and calls[-1].decoding == RISK
    done, line = len(calls), capsys.readouterr().out.splitlines()[-1]
    minimum_risk.main(arguments)
    assert len(calls) == done
    choice, result = outcome(treebank, Store(tmp_path / "results")).risk
    assert f"UAS {choice.uas:.2f} validation, {result['UAS']:.2f} test" in line and result["UAS"] > 60
    main([*arguments, "--out", str(page), "--report"])
    assert f"| {choice.C:g} | {choice.passes} | {choice.uas:.2f} | {result['UAS']:.2f} |" in page.read_text("utf8")
