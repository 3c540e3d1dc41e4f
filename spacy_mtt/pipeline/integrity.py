"""Saved components that are whole, or say which file is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

import srsly

from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.sources import pieces
from spacy_mtt.treebanks.writing import replacing

CHECKSUMS = "checksums.json"


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write down what is in the files of these names, those that are there."""
    found = {name: digest(folder / name) for name in names if (folder / name).is_file()}
    with replacing(folder / CHECKSUMS) as file:
        file.write(srsly.json_dumps(found, sort_keys=True).encode("utf8"))


def check(folder: Path) -> None:
    """ValueError that names the file if one is missing or not as it was written; nothing if no checksums were."""
    path = folder / CHECKSUMS
    if not path.is_file():
        return
    try:
        expected = dict(srsly.read_json(path))
    except (ValueError, TypeError):
        raise ValueError(f"{path}: was changed or cut off after it was saved") from None
    for name, value in expected.items():
        if Path(name).name != name:
            raise ValueError(f"{path}: {name!r} is no file of this folder")
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name}: is missing")
        if digest(folder / name) != value:
            raise ValueError(f"{folder / name}: was changed or cut off after it was saved")


def naming(folder: Path, read: Callable[[], object]) -> None:
    """Do it; a ValueError that names the folder if what is in it cannot be read."""
    try:
        read()
    except (OSError, TreebankError):
        raise
    except Exception as error:  # msgpack, thinc and numpy have no common one
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise ValueError(f"{folder}: cannot be loaded: {reason}") from error


def digest(path: Path) -> str:
    """Of the content of a file."""
    with open(path, "rb") as file:
        found = blake2b(digest_size=16)
        for piece in pieces(file):
            found.update(piece)
    return found.hexdigest()
