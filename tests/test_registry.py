"""Every name in the package metadata resolves."""

from importlib.metadata import entry_points

import pytest
from spacy.util import registry

GROUPS = [f"spacy_{name}" for name in ("factories", "architectures", "callbacks", "misc", "scorers", "readers", "cli")]
NAMES = [
    (group, point) for group in GROUPS for point in entry_points(group=group) if point.value.startswith("spacy_mtt.")
]


def test_every_group_has_a_name():
    assert {group for group, _ in NAMES} == set(GROUPS)


@pytest.mark.parametrize("group,point", NAMES, ids=lambda value: getattr(value, "name", value))
def test_entry_point_loads(group, point):
    assert point.load() is not None
    if group not in ("spacy_factories", "spacy_cli"):
        assert point.name.startswith("spacy_mtt.") and point.name.endswith(".v1")
        assert registry.has(group.removeprefix("spacy_"), point.name)
