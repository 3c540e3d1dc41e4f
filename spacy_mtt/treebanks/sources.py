"""Where a treebank file comes from: a local file, an address, a zip archive, or the documents of a git folder."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import BinaryIO, Protocol

from tqdm import tqdm

from spacy_mtt.treebanks.errors import TreebankError

CHUNK = 1 << 16
TIMEOUT = 60.0  # seconds without a byte
USER_AGENT = {"User-Agent": "spacy-mtt"}  # some servers turn away clients without a name


class SourceError(TreebankError):
    """A treebank file cannot be had from its source: one sentence with the source and the reason."""


class Source(Protocol):
    """Something that gives the bytes of one file."""

    def chunks(self, workspace: Path) -> Iterator[bytes]:
        """The bytes of the file in pieces. `workspace` is a folder for downloads that several files share.

        Raises SourceError.
        """
        ...


@dataclass(frozen=True)
class LocalFile:
    """A file on this machine."""

    path: Path

    def chunks(self, workspace: Path) -> Iterator[bytes]:
        try:
            with open(self.path, "rb") as file:
                yield from pieces(file)
        except OSError as error:
            raise SourceError(f"{self.path}: cannot be read ({error.strerror})") from None


@dataclass(frozen=True)
class Url:
    """A file at an address (http, https or file)."""

    address: str

    def chunks(self, workspace: Path) -> Iterator[bytes]:
        try:
            request = urllib.request.Request(self.address, headers=USER_AGENT)
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                yield from self._received(response)
        except urllib.error.HTTPError as error:
            raise SourceError(f"{self.address}: the server answers {error.code} {error.reason}") from None
        except urllib.error.URLError as error:
            raise SourceError(f"{self.address}: cannot be reached ({error.reason})") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{self.address}: the download failed ({error or type(error).__name__})") from None

    def _received(self, response) -> Iterator[bytes]:
        length = response.headers.get("Content-Length")
        total = int(length) if length and length.isdigit() else None
        received = 0
        name = self.address.rsplit("/", 1)[-1]
        with tqdm(total=total, desc=name, unit="B", unit_scale=True, leave=False, disable=None) as bar:
            for piece in pieces(response):
                received += len(piece)
                bar.update(len(piece))
                yield piece
        if total is not None and received < total:
            raise SourceError(f"{self.address}: the connection ended after {received} of {total} bytes")


@dataclass(frozen=True)
class ZipMember:
    """A file inside a zip archive at an address; the archive is downloaded once for all its members."""

    address: str
    member: str

    def chunks(self, workspace: Path) -> Iterator[bytes]:
        archive = workspace / f"{_key(self.address)}.zip"
        if not archive.exists():
            partial = archive.with_suffix(".part")
            with open(partial, "wb") as file:
                for piece in Url(self.address).chunks(workspace):
                    file.write(piece)
            os.replace(partial, archive)
        try:
            with zipfile.ZipFile(archive) as opened, opened.open(self.member) as file:
                yield from pieces(file)
        except KeyError:
            raise SourceError(f"{self.address}: the archive has no member {self.member}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise SourceError(f"{self.address}: is no usable zip archive ({error})") from None


@dataclass(frozen=True)
class GitDocuments:
    """Files of one folder of a git repository at a commit, one after the other in the order of their numbers.

    pattern: a regular expression that the whole file name has to match; its group is the number.
    first, last: the least and the largest number to take, None for no limit.
    """

    repository: str
    commit: str
    folder: str
    pattern: str
    first: int | None = None
    last: int | None = None

    def chunks(self, workspace: Path) -> Iterator[bytes]:
        folder = self._checkout(workspace) / self.folder
        found = self._numbered(folder) if folder.is_dir() else []
        if not found:
            raise SourceError(f"{self.repository} @ {self.commit}: no file in {self.folder} matches {self.pattern}")
        for path in found:
            yield from LocalFile(path).chunks(workspace)

    def _numbered(self, folder: Path) -> list[Path]:
        matches = ((re.fullmatch(self.pattern, path.name), path) for path in folder.iterdir())
        numbered = [(int(match[1]), path) for match, path in matches if match and (match[1] or "").isdecimal()]
        first = 0 if self.first is None else self.first
        last = float("inf") if self.last is None else self.last
        return [path for number, path in sorted(numbered) if first <= number <= last]

    def _checkout(self, workspace: Path) -> Path:
        """A checkout of nothing but the folder; made once for all files of the same folder and commit."""
        target = workspace / _key(f"{self.repository} {self.commit} {self.folder}")
        if target.exists():
            return target
        if shutil.which("git") is None:
            raise SourceError(f"{self.repository}: git is needed to get {self.folder}, and is not installed")
        partial = target.with_suffix(".part")
        for arguments in (
            ("init", "--quiet", str(partial)),
            ("-C", str(partial), "sparse-checkout", "set", self.folder),
            ("-C", str(partial), "remote", "add", "origin", self.repository),
            ("-C", str(partial), "fetch", "--quiet", "--depth", "1", "--filter", "blob:none", "origin", self.commit),
            # Documents come as they are stored: no line ends are changed on the way.
            ("-C", str(partial), "-c", "core.autocrlf=false", "checkout", "--quiet", "FETCH_HEAD"),
        ):
            self._git(*arguments)
        os.replace(partial, target)
        return target

    def _git(self, *arguments: str) -> None:
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
        ended = subprocess.run(["git", *arguments], capture_output=True, text=True, env=environment, check=False)
        if ended.returncode:
            lines = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
            raise SourceError(f"{self.repository} @ {self.commit}: git fails: {lines[-1]}")


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """The rest of an open binary file in pieces of at most `CHUNK` bytes."""
    while piece := file.read(CHUNK):
        yield piece


def _key(text: str) -> str:
    return md5(text.encode("utf8"), usedforsecurity=False).hexdigest()
