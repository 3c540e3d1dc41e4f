"""The treebank files that a spaCy project names, fetched and verified.

An asset of `project.yml` is a treebank file if its `dest` ends in `<treebank>/<file>`, with an ending that tells a
treebank format. It has to have a `checksum` (MD5). Besides spaCy's own keys (`url`, `dest`, `checksum`, `description`,
`extra`) an asset can have

- `encoding`: the encoding of the file, UTF-8 if it is not given;
- `build`, in place of `url`, for a file that is no single file at its source:
  `{zip: <address>, member: <name>}` or
  `{git: <address>, commit: <id>, folder: <path>, pattern: <regular expression>, first: <number>, last: <number>}`.

spaCy takes an asset without `url` for one that its user has to get, and leaves it alone.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path, PurePosixPath
from typing import Any

import srsly

from spacy_mtt.treebanks.errors import TreebankError, quoted
from spacy_mtt.treebanks.sentence import FORMATS
from spacy_mtt.treebanks.sources import GitDocuments, LocalFile, Source, SourceError, Url, ZipMember, pieces
from spacy_mtt.treebanks.writing import replacing

PathLike = str | os.PathLike[str]
_ENDINGS = tuple(ending for format in FORMATS.values() for ending in format.suffixes)
_MD5 = re.compile(r"[0-9a-f]{32}")
_BUILD_KEYS = ({"zip", "member"}, {"git", "commit", "folder", "pattern"})


@dataclass(frozen=True)
class TreebankAsset:
    """A treebank file: where it belongs, what it has to be, and where it comes from (`source` None: unknown)."""

    treebank: str
    dest: PurePosixPath
    checksum: str
    source: Source | None
    encoding: str = "utf8"
    description: str = ""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.dest.name

    @property
    def part(self) -> str:
        """Which part of the treebank it is, by the name without its ending: "train", "dev", "test" or else."""
        return self.dest.stem


@dataclass(frozen=True)
class FetchedFile:
    """A verified treebank file; `fetched` is False if it was there already."""

    path: Path
    checksum: str
    fetched: bool


def treebank_assets(project: PathLike, treebank: str) -> list[TreebankAsset]:
    """The files of a treebank that `project`, a project.yml, names. TreebankError if it does not know the treebank."""
    assets = read_assets(project)
    if treebank not in assets:
        known = ", ".join(sorted(assets)) or "none"
        raise TreebankError(f"{project}: unknown treebank {quoted(treebank)}; its assets are of: {known}")
    return assets[treebank]


def read_assets(project: PathLike) -> dict[str, list[TreebankAsset]]:
    """All treebank files that `project` names, by treebank and in its order; TreebankError at a wrong entry."""
    try:
        text = Path(project).read_text(encoding="utf8")
        config = srsly.yaml_loads(text)
    except OSError as error:
        raise TreebankError(f"{project}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise TreebankError(f"{project}: is no YAML file ({str(error).strip().splitlines()[0]})") from None
    entries = config.get("assets") or [] if isinstance(config, Mapping) else []
    assets: dict[str, list[TreebankAsset]] = {}
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping) or "dest" not in entry:
            raise TreebankError(f"{project}: asset {number} has no dest")
        dest = PurePosixPath(str(entry["dest"]))
        if len(dest.parts) > 1 and dest.suffix in _ENDINGS and "git" not in entry:
            asset = _asset(entry, dest, f"{project}: asset {dest}")
            assets.setdefault(asset.treebank, []).append(asset)
    return assets


def _asset(entry: Mapping[str, Any], dest: PurePosixPath, place: str) -> TreebankAsset:
    if any("${" in str(entry.get(key, "")) for key in ("dest", "url", "build")):
        raise TreebankError(f"{place}: variables are not filled in here, write the value out")
    checksum = str(entry.get("checksum", "")).lower()
    if not _MD5.fullmatch(checksum):
        raise TreebankError(f"{place}: the checksum {quoted(checksum)} is no MD5 of 32 hexadecimal digits")
    if dest.is_absolute() or ".." in dest.parts:
        raise TreebankError(f"{place}: the dest lies outside the project")
    return TreebankAsset(
        treebank=dest.parent.name,
        dest=dest,
        checksum=checksum,
        source=_source(entry, place),
        encoding=str(entry.get("encoding", "utf8")),
        description=str(entry.get("description", "")).strip(),
    )


def _source(entry: Mapping[str, Any], place: str) -> Source | None:
    build = entry.get("build")
    if build is None:
        return Url(str(entry["url"])) if entry.get("url") else None
    keys = set(build) - {"first", "last"} if isinstance(build, Mapping) else set()
    if keys not in _BUILD_KEYS:
        expected = " or ".join("{" + ", ".join(sorted(each)) + "}" for each in _BUILD_KEYS)
        raise TreebankError(f"{place}: build has to have the keys {expected}, not {quoted(str(build))}")
    if "zip" in keys:
        return ZipMember(str(build["zip"]), str(build["member"]))
    limits = {name: build.get(name) for name in ("first", "last")}
    if not all(limit is None or isinstance(limit, int) for limit in limits.values()):
        raise TreebankError(f"{place}: first and last have to be numbers, not {quoted(str(limits))}")
    try:
        has_number = re.compile(str(build["pattern"])).groups > 0
    except re.error:
        has_number = False
    if not has_number:
        raise TreebankError(
            f"{place}: {quoted(str(build['pattern']))} is no regular expression with a group for the number"
        )
    git, commit, folder, pattern = (str(build[key]) for key in ("git", "commit", "folder", "pattern"))
    return GitDocuments(git, commit, folder, pattern, **limits)


def fetch_treebank(
    treebank: str, project: PathLike, *, folder: PathLike | None = None, to: PathLike | None = None
) -> Iterator[FetchedFile]:
    """Put the files of a treebank in their places, one at a time, each verified by its MD5.

    treebank: its name in `project`, a project.yml.
    folder: a local folder of treebanks; the files are copied from `folder/treebank/`, nothing is downloaded.
    to: the folder of treebanks that gets them; None: where `project` says, relative to its own folder.

    A file that is there and right is not fetched again. Of what turns out wrong nothing is kept, and nothing half; an
    older file in its place stays. Raises TreebankError, for a wrong checksum with the one expected and the one found.
    """
    with tempfile.TemporaryDirectory(prefix="spacy-mtt-") as workspace:
        for asset in treebank_assets(project, treebank):
            path = asset_path(asset, project, to)
            fetched = not path.is_file() or file_md5(path) != asset.checksum
            if fetched:
                source = asset.source if folder is None else LocalFile(Path(folder) / treebank / asset.name)
                _fetch(asset, source, path, Path(workspace))
            yield FetchedFile(path, asset.checksum, fetched)


def asset_path(asset: TreebankAsset, project: PathLike, to: PathLike | None = None) -> Path:
    """Where the file of an asset belongs."""
    return Path(project).parent / asset.dest if to is None else Path(to) / asset.treebank / asset.name


def _fetch(asset: TreebankAsset, source: Source | None, path: Path, workspace: Path) -> None:
    if source is None:
        hint = f": {asset.description}" if asset.description else ""
        raise SourceError(f"{path}: has to be put there by hand, the project has no address for it{hint}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TreebankError(f"{path.parent}: cannot be made ({error.strerror})") from None
    digest = md5(usedforsecurity=False)
    with replacing(path) as file:
        for piece in source.chunks(workspace):
            digest.update(piece)
            file.write(piece)
        if digest.hexdigest() != asset.checksum:
            found = digest.hexdigest()
            raise TreebankError(f"{path}: expected the MD5 {asset.checksum}, found {found}; nothing was kept")


def file_md5(path: PathLike) -> str:
    """The MD5 of a file as 32 hexadecimal digits."""
    digest = md5(usedforsecurity=False)
    with open(path, "rb") as file:
        for piece in pieces(file):
            digest.update(piece)
    return digest.hexdigest()
