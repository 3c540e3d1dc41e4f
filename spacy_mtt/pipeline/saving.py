"""`spacy_mtt.AtomicSaving.v1`: a pipeline that is being saved takes the place of the old one when it is complete."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spacy.language import Language

from spacy_mtt.treebanks.writing import replacing_folder

PIPELINE = ("meta.json", "config.cfg")  # what every saved pipeline has


class AtomicSaving:
    """For `[training.before_to_disk]`: if training is killed while it saves, the model saved before is still there.

    The next `nlp.to_disk` writes a new folder beside the old one and puts it in its place. A folder that is no saved
    pipeline is written into as usual, and nothing in it is deleted.
    """

    def __call__(self, nlp: Language) -> Language:
        """The pipeline itself, whose next `to_disk` is such a one."""

        def to_disk(path: str | Path, *, exclude: Iterable[str] = ()) -> None:
            del nlp.to_disk
            path = Path(path)
            if path.exists() and not all((path / name).is_file() for name in PIPELINE):
                nlp.to_disk(path, exclude=exclude)
                return
            with replacing_folder(path) as folder:
                nlp.to_disk(folder, exclude=exclude)

        nlp.to_disk = to_disk
        return nlp
