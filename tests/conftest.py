import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def treebanks() -> pathlib.Path:
    """A folder of real treebanks: $SPACY_MTT_TREEBANKS or ../shared/treebanks; tests that need it skip without."""
    default = pathlib.Path(__file__).parents[2] / "shared" / "treebanks"
    folder = pathlib.Path(os.environ.get("SPACY_MTT_TREEBANKS", default))
    if not folder.is_dir():
        pytest.skip(f"no treebanks at {folder} (set SPACY_MTT_TREEBANKS)")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that with several workers (`-n auto`) none of them is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
