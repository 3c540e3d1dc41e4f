"""`mtt fetch`: files come from where the project says, are verified, and appear whole or not at all."""

import functools
import http.server
import io
import shutil
import subprocess
import threading
import zipfile
from hashlib import md5
from pathlib import Path

import pytest
import srsly
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.treebanks.assets import read_assets

ROOT = Path(__file__).parents[2]
TRAIN = b"1\tsleep\t_\tV\tV\t_\t0\tROOT\t_\t_\n\n"
TEST = b"1\tdream\t_\tV\tV\t_\t0\tROOT\t_\t_\n\n"


def documents(repository, **changes) -> dict:
    address, commit = repository
    return {"git": address, "commit": commit, "folder": "texts/da", "pattern": r"(\d+)-da\.conll", **changes}


def checksum(data: bytes) -> str:
    return md5(data).hexdigest()


def asset(name: str = "train.conll", data: bytes = TRAIN, **keys) -> dict:
    return {"dest": f"assets/treebanks/tiny/{name}", "checksum": checksum(data), **keys}


@pytest.fixture
def project(tmp_path):
    """Writes a project.yml with the given assets and returns its path."""

    def write(*assets: dict) -> Path:
        path = tmp_path / "project" / "project.yml"
        path.parent.mkdir(exist_ok=True)
        srsly.write_yaml(path, {"assets": list(assets)})
        return path

    return write


@pytest.fixture
def server(tmp_path):
    """An HTTP server over the folder `www`; its requests are listed. /short announces more bytes than it sends."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            if self.path != "/short.conll":
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Length", str(2 * len(TRAIN)))
            self.end_headers()
            self.wfile.write(TRAIN)

        def log_message(self, *arguments):
            pass

    folder, requests = tmp_path / "www", []
    folder.mkdir()
    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    running.folder, running.requests = folder, requests
    running.url = f"http://127.0.0.1:{running.server_port}"
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def fetch(project: Path, *arguments, treebank: str = "tiny"):
    return CliRunner().invoke(app, ["fetch", treebank, "--project", str(project), *map(str, arguments)])


def kept(project: Path) -> dict[str, bytes]:
    """All files beside the project file, hidden ones too."""
    files = (path for path in project.parent.rglob("*") if path.is_file() and path != project)
    return {path.relative_to(project.parent).as_posix(): path.read_bytes() for path in files}


def sentence_of(result) -> str:
    """The one line of a failed command."""
    assert result.exit_code == 1, result.output
    lines = [line for line in result.output.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 and "Traceback" not in result.output
    return lines[0]


def folder_with(tmp_path: Path, **files: bytes) -> Path:
    folder = tmp_path / "folder with a space"
    (folder / "tiny").mkdir(parents=True)
    for name, data in files.items():
        (folder / "tiny" / f"{name}.conll").write_bytes(data)
    return folder


def test_files_are_copied_from_a_folder_and_verified(project, tmp_path):
    path = project(asset(url="http://127.0.0.1:9/train"), asset("test.conll", TEST))
    folder = folder_with(tmp_path, train=TRAIN, test=TEST)
    result = fetch(path, "--from", folder)
    assert result.exit_code == 0, result.output
    assert kept(path) == {"assets/treebanks/tiny/train.conll": TRAIN, "assets/treebanks/tiny/test.conll": TEST}
    assert result.output.count("fetched") == 2


def test_a_verified_file_is_not_fetched_again(project, tmp_path):
    path, folder = project(asset()), folder_with(tmp_path, train=TRAIN)
    fetch(path, "--from", folder)
    shutil.rmtree(folder)
    result = fetch(path, "--from", folder)
    assert result.exit_code == 0 and "is there" in result.output


def test_another_place(project, tmp_path):
    path, folder = project(asset()), folder_with(tmp_path, train=TRAIN)
    assert fetch(path, "--from", folder, "--to", tmp_path / "elsewhere").exit_code == 0
    assert (tmp_path / "elsewhere" / "tiny" / "train.conll").read_bytes() == TRAIN
    assert kept(path) == {}


def test_a_wrong_checksum_stops_and_leaves_nothing(project, tmp_path):
    path, folder = project(asset(), asset("test.conll", TEST)), folder_with(tmp_path, train=TEST, test=TEST)
    message = sentence_of(fetch(path, "--from", folder))
    assert "train.conll" in message and checksum(TRAIN) in message and checksum(TEST) in message
    assert kept(path) == {}


def test_a_wrong_older_file_is_replaced_only_by_the_right_one(project, tmp_path):
    path = project(asset(url=(tmp_path / "good.conll").as_uri()))
    (tmp_path / "good.conll").write_bytes(TRAIN)
    old = path.parent / "assets" / "treebanks" / "tiny" / "train.conll"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"old")
    sentence_of(fetch(path, "--from", folder_with(tmp_path, train=TEST)))
    assert kept(path) == {"assets/treebanks/tiny/train.conll": b"old"}
    assert fetch(path).exit_code == 0
    assert old.read_bytes() == TRAIN


def test_a_folder_without_the_file(project, tmp_path):
    folder = folder_with(tmp_path)
    message = sentence_of(fetch(project(asset(url="file:///x")), "--from", folder))
    assert str(folder / "tiny" / "train.conll") in message and "No such file" in message


def test_an_unknown_treebank_lists_the_known_ones(project):
    other = {**asset(), "dest": "assets/treebanks/other/train.conllu"}
    message = sentence_of(fetch(project(asset(), other), treebank="tinny"))
    assert "'tinny'" in message and "other, tiny" in message


def test_download(project, server):
    (server.folder / "a.conll").write_bytes(TRAIN)
    path = project(asset(url=f"{server.url}/a.conll"))
    assert fetch(path).exit_code == 0
    assert kept(path) == {"assets/treebanks/tiny/train.conll": TRAIN}
    fetch(path)
    assert server.requests == ["/a.conll"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("{server}/none.conll", "404"),
        ("{server}/short.conll", f"after {len(TRAIN)} of {2 * len(TRAIN)} bytes"),
        ("http://127.0.0.1:1/a.conll", "cannot be reached"),
        ("file:///no/such/file.conll", "cannot be reached"),
        ("gopher://127.0.0.1/a.conll", "unknown url type"),
        ("a.conll", "unknown url type"),
    ],
)
def test_failed_downloads_are_one_sentence(project, server, url, reason):
    url = url.format(server=server.url)
    path = project(asset(url=url))
    message = sentence_of(fetch(path))
    assert url in message and reason in message
    assert kept(path) == {}


def zipped(**members: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"sub/{name}", content)
    return data.getvalue()


def test_members_of_an_archive_that_is_downloaded_once(project, server):
    (server.folder / "a.zip").write_bytes(zipped(train=TRAIN, test=TEST))
    rules = [{"zip": f"{server.url}/a.zip", "member": f"sub/{name}"} for name in ("train", "test")]
    path = project(asset(build=rules[0]), asset("test.conll", TEST, build=rules[1]))
    assert fetch(path).exit_code == 0
    assert kept(path) == {"assets/treebanks/tiny/train.conll": TRAIN, "assets/treebanks/tiny/test.conll": TEST}
    assert server.requests == ["/a.zip"]


@pytest.mark.parametrize(("data", "reason"), [(zipped(other=TRAIN), "no member sub/train"), (TRAIN, "zip archive")])
def test_archives_that_do_not_hold_the_file(project, server, data, reason):
    (server.folder / "a.zip").write_bytes(data)
    path = project(asset(build={"zip": f"{server.url}/a.zip", "member": "sub/train"}))
    assert reason in sentence_of(fetch(path))
    assert kept(path) == {}


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A git repository with numbered documents, one of which changes after the commit that is returned."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "repository"
    documents = folder / "texts" / "da"
    documents.mkdir(parents=True)
    git(folder, "init", "--quiet")
    for setting in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(folder, "config", setting, "true")
    for number in (2, 10, 119, 120, 1000):
        (documents / f"{number}-da.conll").write_bytes(b"%d\r\n" % number)
    (documents / "3-da.tag").write_bytes(b"no")
    (documents / "4-da.conll.bak").write_bytes(b"no")
    (folder / "big.bin").write_bytes(b"not needed")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "one")
    commit = git(folder, "rev-parse", "HEAD")
    (documents / "10-da.conll").write_bytes(b"changed")
    git(folder, "commit", "--quiet", "-a", "-m", "two")
    return folder.as_uri(), commit


def test_documents_of_a_git_folder_in_the_order_of_their_numbers(project, repository):
    test, train = b"2\r\n10\r\n119\r\n", b"120\r\n1000\r\n"
    path = project(
        asset("test.conll", test, build=documents(repository, last=119)),
        asset("train.conll", train, build=documents(repository, first=120)),
    )
    result = fetch(path)
    assert result.exit_code == 0, result.output
    assert kept(path) == {"assets/treebanks/tiny/test.conll": test, "assets/treebanks/tiny/train.conll": train}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"commit": "0" * 40}, "git fails"),
        ({"folder": "texts/sv"}, "no file in texts/sv"),
        ({"first": 5000}, "no file in texts/da"),
    ],
)
def test_git_sources_without_the_documents(project, repository, change, reason):
    path = project(asset(build={**documents(repository), **change}))
    assert reason in sentence_of(fetch(path))
    assert kept(path) == {}


def test_git_is_named_if_it_is_missing(project, repository, monkeypatch):
    path = project(asset(build=documents(repository)))
    monkeypatch.setenv("PATH", "")
    assert "git is needed" in sentence_of(fetch(path))


def test_a_file_without_an_address_has_to_be_put_there_by_hand(project):
    path = project(asset(description="Ask the authors."))
    message = sentence_of(fetch(path))
    assert "by hand" in message and "Ask the authors." in message
    file = path.parent / "assets" / "treebanks" / "tiny" / "train.conll"
    file.parent.mkdir(parents=True)
    file.write_bytes(TRAIN)
    assert fetch(path).exit_code == 0


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"url": "file:///x"}, "asset 1 has no dest"),
        ({**asset(), "checksum": "abc"}, "'abc'"),
        ({"dest": "assets/tiny/train.conll", "url": "file:///x"}, "MD5"),
        ({**asset(), "dest": "../tiny/train.conll"}, "outside the project"),
        (asset(url="${vars.address}/train.conll"), "variables"),
        (asset(build={"zip": "http://x"}), "build has to have the keys"),
        (asset(build="zip"), "build has to have the keys"),
        (asset(build=documents(("x", "y"), pattern="[0-9]+")), "a group for the number"),
        (asset(build=documents(("x", "y"), pattern="(")), "a group for the number"),
        (asset(build=documents(("x", "y"), first="one")), "have to be numbers"),
    ],
)
def test_wrong_entries_of_the_project(project, entry, reason):
    assert reason in sentence_of(fetch(project(entry)))


def test_projects_that_cannot_be_read(tmp_path):
    assert "No such file" in sentence_of(fetch(tmp_path / "project.yml"))
    (tmp_path / "project.yml").write_text("assets: [", encoding="utf8")
    assert "no YAML" in sentence_of(fetch(tmp_path / "project.yml"))
    (tmp_path / "project.yml").write_text("- a\n", encoding="utf8")
    assert "unknown treebank" in sentence_of(fetch(tmp_path / "project.yml"))


def test_other_assets_are_left_alone(project):
    others = [
        {"dest": "assets/vectors.zip", "url": "file:///x"},
        {"dest": "assets/a/b.conllu", "git": {"repo": "x", "path": "y"}},
    ]
    assert list(read_assets(project(*others, asset()))) == ["tiny"]


def test_all_treebanks_of_the_project_from_a_local_folder(treebanks, tmp_path):
    for name, assets in read_assets(ROOT / "project.yml").items():
        result = fetch(ROOT / "project.yml", "--from", treebanks, "--to", tmp_path, treebank=name)
        assert result.exit_code == 0, result.output
        assert result.output.count("fetched") == len(assets) == len(list((tmp_path / name).iterdir()))
