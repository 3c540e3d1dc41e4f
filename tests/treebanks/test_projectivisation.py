import numpy as np
import pytest

from spacy_mtt.inference.trees import is_projective, is_tree
from spacy_mtt.treebanks.projectivisation import projectivise
from tests.oracle import all_trees


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_tree_goes_to_a_crossing_free_one_of_minimum_loss(n, single_root):
    space = all_trees(n, True, single_root)
    moved = 0
    for heads in all_trees(n, False, False):
        closest = projectivise(heads, single_root=single_root)
        assert is_tree(closest, single_root=single_root) and is_projective(closest)
        losses = (space != heads).sum(axis=1)
        assert (closest != heads).sum() == losses.min()
        moved += losses.min() > 0
    assert bool(moved) == (n >= 3 or (single_root and n == 2))


def test_longer_trees_lose_as_little_as_a_search_finds():
    rng = np.random.default_rng(0)
    space = all_trees(5, True, False)
    trees = all_trees(5, False, False)
    for heads in trees[rng.choice(len(trees), 60, replace=False)]:
        closest = projectivise(heads)
        assert (space == closest).all(axis=1).any()
        assert (closest != heads).sum() == (space != heads).sum(axis=1).min()


def test_projective_trees_stay_as_they_are():
    rng = np.random.default_rng(1)
    for heads in all_trees(5, True, False)[rng.integers(0, 200, 30)]:
        np.testing.assert_array_equal(projectivise(heads), heads)


def test_unknown_heads_stay_unknown_and_cost_nothing():
    np.testing.assert_array_equal(projectivise([3, -1, 0, 3], single_root=True), [3, -1, 0, 3])
    np.testing.assert_array_equal(projectivise([-1, -1]), [-1, -1])
    rng = np.random.default_rng(2)
    space = all_trees(4, True, False)
    for heads in all_trees(4, False, False):
        known = rng.random(4) < 0.7
        closest = projectivise(np.where(known, heads, -1))
        assert (closest[~known] == -1).all()
        assert (space == closest)[:, known].all(axis=1).any()
        assert (closest != heads)[known].sum() == (space != heads)[:, known].sum(axis=1).min()
    assert projectivise([]).shape == (0,)


@pytest.mark.parametrize("heads,word", [([0, 5], 2), ([1, 0], 1), ([-2], 1)])
def test_impossible_heads_are_named(heads, word):
    with pytest.raises(ValueError, match=f"word {word} is {heads[word - 1]}"):
        projectivise(heads)
