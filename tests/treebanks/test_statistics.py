import numpy as np
import pytest

from spacy_mtt.treebanks.statistics import TreebankStatistics, nonprojective_arcs
from tests.oracle import all_trees


def by_definition(heads):
    """The non-projective arcs by walking up from every word between the ends of every arc."""

    def descends(word, ancestor):
        while word != 0:
            word = heads[word - 1]
            if word == ancestor:
                return True
        return False

    return [
        head != 0 and not all(descends(word, head) for word in range(min(head, m) + 1, max(head, m)))
        for m, head in enumerate(heads, 1)
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_nonprojective_arcs_of_all_trees(n):
    for heads in all_trees(n, False, False):
        assert nonprojective_arcs(heads).tolist() == by_definition(heads.tolist())


def test_nonprojective_arcs_of_long_random_trees():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(20, 60))
        order = rng.permutation(n) + 1
        heads = np.zeros(n, dtype=np.int64)
        for i in range(1, n):
            heads[order[i] - 1] = order[rng.integers(0, i)]
        assert nonprojective_arcs(heads).tolist() == by_definition(heads.tolist())


def test_unannotated_words():
    # Word 3 has no head: it neither is an arc nor makes 2 -> 4 non-projective.
    assert nonprojective_arcs(np.array([2, 0, -1, 2])).tolist() == [False] * 4
    assert nonprojective_arcs(np.array([2, 0, 1, 2])).tolist() == [False, False, True, False]
    assert nonprojective_arcs(np.array([-1, -1])).tolist() == [False, False]


def test_counts():
    statistics = TreebankStatistics()
    assert (statistics.crossing_percent, statistics.nonprojective_percent, statistics.multi_root_percent) == (
        0,
        0,
        0,
    )
    statistics.add(np.array([0, 4, 1, 1]))  # 4 -> 2 crosses 1 -> 3 and is non-projective
    statistics.add(np.array([0, 0, -1, 2]))
    assert (statistics.sentences, statistics.words, statistics.arcs) == (2, 8, 7)
    assert (statistics.crossing, statistics.nonprojective, statistics.multi_root) == (2, 1, 1)
    assert statistics.multi_root_percent == 50
