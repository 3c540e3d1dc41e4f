import numpy as np
import pytest

from spacy_mtt.inference.trees import crossing_arcs, find_cycle, is_projective, is_tree
from tests.oracle import all_trees

PROJECTIVE_COUNTS = {False: [1, 3, 12, 55, 273], True: [1, 2, 7, 30, 143]}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_tree_counts(n):
    assert len(all_trees(n, False, False)) == (n + 1) ** (n - 1)
    assert len(all_trees(n, False, True)) == n ** (n - 1)
    for single_root, counts in PROJECTIVE_COUNTS.items():
        assert len(all_trees(n, True, single_root)) == counts[n - 1]


def test_is_tree_rejects():
    assert is_tree([]) and is_tree([0]) and is_tree([2, 0, 2])
    assert not is_tree([2, 1])  # a cycle
    assert not is_tree([1])  # its own head
    assert not is_tree([0, 3])  # out of range
    assert is_tree([0, 0]) and not is_tree([0, 0], single_root=True)


def test_find_cycle_names_its_words():
    assert find_cycle(np.array([0, 1, 2])) is None
    assert find_cycle(np.array([0, 3, 4, 2, 3])) == [2, 3, 4]
    assert find_cycle(np.array([-1, 1, 2])) is None


def test_crossing_arcs_mark_both_sides():
    assert crossing_arcs(np.array([3, 4, 0, 3])).tolist() == [True, True, True, False]
    assert is_projective(np.array([2, 0, 2]))
    assert not is_projective(np.array([3, 4, 0, 3]))
    assert not is_projective(np.array([3, 0, 2]))  # 0 -> 2 crosses 3 -> 1
