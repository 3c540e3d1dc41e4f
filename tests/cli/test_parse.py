"""`mtt parse`: whatever goes in, by whatever workers, however often it was stopped, the parts are the same."""

import json
import multiprocessing
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner

from spacy_mtt.bulk.engines import AHEAD, EngineError, _in_order, dask, here, processes
from spacy_mtt.bulk.inputs import Chunk, InputError, read_chunks
from spacy_mtt.bulk.run import LOG, Run, RunError
from spacy_mtt.bulk.work import Task
from spacy_mtt.cli import app
from spacy_mtt.treebanks.reading import read_treebank
from tests.pipeline.helpers import SENTENCES, parse_of
from tests.pipeline.test_probabilities import soft_parser

TEXTS = [words for words, *_ in SENTENCES] * 3 + ["naïve 😀 text", "x"]
PART = 4


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("parse") / "model"
    soft_parser()[0].to_disk(folder)
    return folder


@pytest.fixture(scope="module")
def expected(model) -> list[Doc]:
    return list(spacy.load(model).pipe(TEXTS))


def write_txt(path: Path) -> None:
    path.write_text("\n\n".join(TEXTS) + "\n", encoding="utf8")


def write_jsonl(path: Path) -> None:
    path.write_text("".join(json.dumps({"id": 1, "text": text}) + "\n" for text in TEXTS), encoding="utf8")


def write_docbin(path: Path) -> None:
    nlp = spacy.blank("xx")
    DocBin(docs=[nlp.make_doc(text) for text in TEXTS]).to_disk(path)


def write_parquet(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"text": TEXTS, "other": TEXTS}), path)


SOURCES = {"txt": write_txt, "jsonl": write_jsonl, "spacy": write_docbin, "parquet": write_parquet}


def run(model: Path, source: Path, output: Path, *options: str) -> str:
    given = ["parse", str(source), str(output), "--model", str(model), "--part-size", str(PART), *options]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return result.output


def fails(*given: str) -> str:
    result = CliRunner().invoke(app, ["parse", *map(str, given)])
    assert result.exit_code == 1 and "Traceback" not in result.output
    return result.output


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


@pytest.mark.parametrize("source", SOURCES)
def test_every_input_gives_the_parses_of_the_pipeline(model, expected, tmp_path, source):
    SOURCES[source](tmp_path / f"in.{source}")
    words = sum(map(len, expected))
    assert f"{len(TEXTS)} texts, {words} words" in run(model, tmp_path / f"in.{source}", tmp_path / "out")
    files = sorted((tmp_path / "out").glob("*.spacy"))
    assert len(files) == -(-len(TEXTS) // PART)
    vocab = spacy.blank("xx").vocab
    found = [doc for file in files for doc in DocBin().from_disk(file).get_docs(vocab)]
    assert [doc.text for doc in found] == TEXTS
    assert list(map(parse_of, found)) == list(map(parse_of, expected))


def test_conllu(model, expected, tmp_path):
    write_txt(tmp_path / "in.txt")
    run(model, tmp_path / "in.txt", tmp_path / "out", "--to", "conllu")
    found = [each for file in sorted((tmp_path / "out").glob("*.conllu")) for each in read_treebank(file)]
    sentences = [sentence for doc in expected for sentence in doc.sents]
    assert [each.forms for each in found] == [[token.text for token in sentence] for sentence in sentences]
    heads = [
        [0 if token.head == token else token.head.i - sentence.start + 1 for token in sentence]
        for sentence in sentences
    ]
    assert [each.heads.tolist() for each in found] == heads


def test_parquet_with_probabilities(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_txt(tmp_path / "in.txt")
    run(model, tmp_path / "in.txt", tmp_path / "out", "--to", "parquet", "--probabilities")
    table = parquet.read_table(tmp_path / "out" / "part-00001.parquet").to_pydict()
    nlp = spacy.load(model, config={"components": {"mtt_parser": {"probabilities": True}}})
    docs = list(nlp.pipe(TEXTS[PART : 2 * PART]))
    assert table["text"] == TEXTS[PART : 2 * PART]
    for row, doc in enumerate(docs):
        assert table["tokens"][row] == [token.text for token in doc]
        assert list(zip(table["heads"][row], table["deps"][row], strict=True)) == parse_of(doc)
        np.testing.assert_allclose(table["dep_prob"][row], [token._.dep_prob for token in doc], rtol=1e-5)
        assert table["sent_starts"][row] == [token.is_sent_start for token in doc]


def test_folders_are_read_in_the_order_of_names(tmp_path):
    (tmp_path / "b.txt").write_text("three\n")
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n\n{"text": "two"}\n')
    (tmp_path / "notes.md").write_text("no text")
    found = list(read_chunks(tmp_path, 5))
    assert [(chunk.number, chunk.first, chunk.texts) for chunk in found] == [(0, 1, ["one", "two"]), (1, 3, ["three"])]


def test_several_processes_write_the_same(model, tmp_path):
    write_txt(tmp_path / "in.txt")
    run(model, tmp_path / "in.txt", tmp_path / "one", "--to", "conllu")
    run(model, tmp_path / "in.txt", tmp_path / "two", "--to", "conllu", "--workers", "2")
    assert parts(tmp_path / "one") == parts(tmp_path / "two")
    run(model, tmp_path / "in.txt", tmp_path / "three")
    with processes(Task(str(model), "spacy", 64), 2) as map_:
        list(Run(tmp_path / "four", "spacy", {}).parts(read_chunks(tmp_path / "in.txt", PART), map_))
    assert parts(tmp_path / "three") == parts(tmp_path / "four")


def test_a_killed_process_is_told_and_loses_nothing(model, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(TEXTS * 8), encoding="utf8")
    run(model, tmp_path / "in.txt", tmp_path / "whole", "--to", "conllu")

    def two_processes():
        with processes(Task(str(model), "conllu", 64), 2) as map_:
            yield from Run(tmp_path / "out", "conllu", {}).parts(read_chunks(tmp_path / "in.txt", PART), map_)

    others = set(multiprocessing.active_children())  # of tests before this one
    found = two_processes()
    next(found)
    for child in set(multiprocessing.active_children()) - others:
        child.kill()
    with pytest.raises(EngineError, match="a worker was killed"):
        list(found)
    assert len(parts(tmp_path / "out")) < len(parts(tmp_path / "whole"))
    list(two_processes())
    assert parts(tmp_path / "out") == parts(tmp_path / "whole")


@pytest.mark.slow
def test_dask_writes_the_same_and_survives_a_worker(model, tmp_path):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "in.txt").write_text("\n".join(TEXTS * 8), encoding="utf8")
    run(model, tmp_path / "in.txt", tmp_path / "local", "--to", "conllu")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        with dask(Task(str(model), "conllu", 64), 2, address) as map_:
            found = Run(tmp_path / "dask", "conllu", {}).parts(read_chunks(tmp_path / "in.txt", PART), map_)
            next(found)
            victim = next(iter(cluster.workers.values())).process.pid
            os.kill(victim, signal.SIGKILL)
            rest = list(found)
    assert len(rest) + 1 == len(parts(tmp_path / "local"))
    assert parts(tmp_path / "dask") == parts(tmp_path / "local")


@pytest.mark.slow
def test_the_command_starts_dask_itself(model, tmp_path):
    pytest.importorskip("distributed")
    write_txt(tmp_path / "in.txt")
    run(model, tmp_path / "in.txt", tmp_path / "local", "--to", "conllu")
    run(model, tmp_path / "in.txt", tmp_path / "dask", "--to", "conllu", "--engine", "dask", "--workers", "2")
    assert parts(tmp_path / "dask") == parts(tmp_path / "local")


def test_a_stopped_run_goes_on(model, tmp_path):
    write_txt(tmp_path / "in.txt")
    run(model, tmp_path / "in.txt", tmp_path / "whole", "--to", "conllu")
    parsed = []

    def counting(chunks):
        with here(Task(str(model), "conllu", 64)) as map_:
            for chunk, result in map_(chunks):
                parsed.append(chunk.number)
                yield chunk, result

    first = Run(tmp_path / "out", "conllu", {}).parts(read_chunks(tmp_path / "in.txt", PART), counting)
    next(first), next(first)
    first.close()
    with open(tmp_path / "out" / LOG, "ab") as log:
        log.write(b'{"part": 2, "te')  # killed while it wrote
    (tmp_path / "out" / "part-00000.conllu").unlink()
    rest = list(Run(tmp_path / "out", "conllu", {}).parts(read_chunks(tmp_path / "in.txt", PART), counting))
    assert parsed == [0, 1, 0, 2, 3, 4] and len(rest) == 5
    assert parts(tmp_path / "out") == parts(tmp_path / "whole")
    again = Run(tmp_path / "out", "conllu", {})
    assert sorted(again.done) == [0, 1, 2, 3, 4]


def test_runs_that_do_not_fit_together(model, tmp_path):
    source = tmp_path / "in.txt"
    write_txt(source)
    run(model, source, tmp_path / "out")
    assert "other settings" in fails(source, tmp_path / "out", "--model", model, "--part-size", 3)
    assert "other settings" in fails(source, tmp_path / "out", "--model", model, "--part-size", PART, "--to", "conllu")
    source.write_text(source.read_text(encoding="utf8").replace("slept", "sang"), encoding="utf8")
    assert "texts 1 to 4 were others" in fails(source, tmp_path / "out", "--model", model, "--part-size", PART)
    with pytest.raises(RunError, match="did not write"):
        Run(tmp_path, "conllu", {})
    with pytest.raises(RunError, match="is a file"):
        Run(source, "conllu", {})


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("in.jsonl", b'{"text": "a"}\n{"text": 3}\n', "in.jsonl:2: there is no string 'text'"),
        ("in.jsonl", b'{"text": "a"}\nnothing\n', "in.jsonl:2: no JSON"),
        ("in.txt", b"good\n\xff\xfe bad\n", "cannot be read as utf8"),
        ("in.spacy", b"nothing", "in.spacy: no DocBin"),
        ("in.doc", b"", "must end in one of"),
    ],
)
def test_bad_inputs_are_named(model, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    assert message in fails(tmp_path / name, tmp_path / "out", "--model", model)


def test_other_errors(model, tmp_path):
    write_txt(tmp_path / "in.txt")
    assert "no such file" in fails(tmp_path / "none.txt", tmp_path / "out", "--model", model)
    output = fails(tmp_path / "in.txt", tmp_path / "out", "--model", model, "--scheduler", "tcp://here:1")
    assert "add --engine dask" in output
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no file that ends in"):
        list(read_chunks(tmp_path / "empty", 3))


def test_chunks_on_their_way_are_bounded():
    class Slow:
        def __init__(self, chunk):
            self.chunk = chunk

        def result(self):
            return self.chunk.number

    read = []

    def chunks():
        for number in range(20):
            read.append(number)
            yield Chunk(number, 1, [], None, 0)

    ahead = AHEAD * 2
    for done, (chunk, result) in enumerate(_in_order(chunks(), submit=Slow, ahead=ahead)):
        assert chunk.number == result == done
        assert len(read) - done <= ahead
    assert len(read) == 20
