"""SpanTreeDistribution: the trees in which given sets of words, such as entities, are subtrees of their own."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np
from scipy.special import softmax

from .distribution import TreeDistribution
from .feasibility import NoTreeError
from .trees import is_tree


class SpanTreeDistribution:
    """The non-projective `TreeDistribution` given that each of some sets of words hangs together: all of its words but
    one, the span's root, have their head within it, and the root's head is outside.

    scores: (n+1, n+1), as for `TreeDistribution`. spans: disjoint sets of words in 1..n; words outside may hang from
        any word of a span. single_root: as there.

    A span is contracted to one node: an arc into it is the sum over its possible roots of arc and inner trees, an arc
    out of it the sum over its words. That is exact, since which inner tree a span has changes nothing outside but
    its root. Best trees take maxima in place of sums. O(n^3 + sum k^4) for spans of k words.

    Where there is no tree, `log_partition` is ``-inf`` and all else raises NoTreeError. ValueError for spans that
    overlap or leave 1..n.
    """

    def __init__(self, scores, spans: Sequence[Sequence[int]], *, single_root: bool = True):
        self.scores = np.array(scores, dtype=np.float64)
        self.n = len(self.scores) - 1
        self.single_root = bool(single_root)
        self.spans = [np.array(sorted({int(word) for word in span}), dtype=np.intp) for span in spans]
        taken = np.concatenate([np.zeros(0, dtype=np.intp), *self.spans])
        if len(set(taken.tolist())) < len(taken):
            raise ValueError(f"the spans {[span.tolist() for span in self.spans]} overlap")
        if len(taken) and not 1 <= taken.min() <= taken.max() <= self.n:
            raise ValueError(f"the spans {[span.tolist() for span in self.spans]} are not within the words 1..{self.n}")
        lone = np.setdiff1d(np.arange(self.n + 1), taken)
        self.groups = [np.array([node]) for node in lone] + [span for span in self.spans if len(span)]

    # ---- sums

    @cached_property
    def _inner(self) -> list[TreeDistribution | None]:
        """The trees within each group, any word as root at no cost; None of single nodes."""
        return [self._within(group, np.zeros(len(group))) if len(group) > 1 else None for group in self.groups]

    def _within(self, group: np.ndarray, roots: np.ndarray) -> TreeDistribution:
        scores = np.full((len(group) + 1, len(group) + 1), -np.inf)
        scores[0, 1:] = roots
        scores[1:, 1:] = self.scores[np.ix_(group, group)]
        return TreeDistribution(scores)

    @cached_property
    def _log_roots(self) -> list[np.ndarray]:
        """For each group the log of the summed weights of its inner trees with each of its words as root."""
        return [_of_roots(group, trees) for group, trees in zip(self.groups, self._inner, strict=True)]

    @cached_property
    def _sums(self) -> tuple[np.ndarray, TreeDistribution]:
        """All arcs between groups with the inner trees at their end, (n+1, n+1); the contracted trees."""
        ends = self._with_ends(self._log_roots)
        return ends, TreeDistribution(self._contracted(ends, np.logaddexp.reduce), single_root=self.single_root)

    def _with_ends(self, of_roots: list[np.ndarray]) -> np.ndarray:
        ends = np.full_like(self.scores, -np.inf)
        for group, values in zip(self.groups, of_roots, strict=True):
            outside = np.setdiff1d(np.arange(self.n + 1), group)
            ends[np.ix_(outside, group)] = self.scores[np.ix_(outside, group)] + values
        return ends

    def _contracted(self, ends: np.ndarray, reduce) -> np.ndarray:
        return np.array([[reduce(ends[np.ix_(a, b)].ravel()) for b in self.groups] for a in self.groups])

    @property
    def log_partition(self) -> float:
        """log Z, the log of the summed weights of all trees."""
        return self._sums[1].log_partition

    @cached_property
    def marginals(self) -> np.ndarray:
        """The probability of each arc, (n+1, n+1), 0 where no arc is."""
        ends, trees = self._sums
        between = trees.marginals
        found = np.zeros_like(self.scores)
        for a, heads in enumerate(self.groups):
            for b, modifiers in enumerate(self.groups):
                if between[a, b] > 0:
                    cells = np.ix_(heads, modifiers)
                    found[cells] = between[a, b] * softmax(ends[cells])
        for group, trees in zip(self.groups, self._inner, strict=True):
            if trees is not None:
                found[np.ix_(group, group)] = self._inner_marginals(group, found[:, group].sum(axis=0))
        return found

    def _inner_marginals(self, group: np.ndarray, of_roots: np.ndarray) -> np.ndarray:
        """Those of the arcs within a group (k, k), from the probabilities of its roots (k,)."""
        found = np.zeros((len(group), len(group)))
        for root in np.flatnonzero(of_roots):
            found += of_roots[root] * self._rooted(group, root).marginals[1:, 1:]
        return found

    def _rooted(self, group: np.ndarray, root: int) -> TreeDistribution:
        """The trees within a group whose root is its word number `root`."""
        roots = np.full(len(group), -np.inf)
        roots[root] = 0.0
        return self._within(group, roots)

    @property
    def head_entropy(self) -> np.ndarray:
        """The entropy in nats of each word's head, (n,)."""
        probabilities = self.marginals[:, 1:]
        logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
        return -(probabilities * logs).sum(axis=0)

    @property
    def entropy(self) -> float:
        """The entropy in nats: log Z - sum of marginal * score, both relative to the best tree."""
        best = self.argmax()
        offsets = np.zeros(self.n + 1)
        offsets[1:] = self.scores[best, np.arange(1, self.n + 1)]
        used = self.marginals > 0
        expected = float((self.marginals[used] * (self.scores - offsets)[used]).sum())
        return max(0.0, self.log_partition - math.fsum(offsets) - expected)

    def log_prob(self, heads) -> float:
        """log p(tree) of heads (n,), -inf for a tree that splits a span."""
        heads = np.asarray(heads)
        if not is_tree(heads, single_root=self.single_root) or not self.holds(heads):
            return -math.inf
        return math.fsum(self.scores[heads, np.arange(1, self.n + 1)]) - self.log_partition

    def holds(self, heads: np.ndarray) -> bool:
        """Whether each span has one word alone whose head is outside."""
        return all(int((~np.isin(heads[span - 1], span)).sum()) == 1 for span in self.spans if len(span))

    def sample(self, k: int, rng: np.random.Generator) -> np.ndarray:
        """k independent draws: heads (k, n)."""
        ends, trees = self._sums
        return np.array([self._expanded(heads, ends, rng) for heads in trees.sample(k, rng)], dtype=np.intp)

    # ---- best trees

    def argmax(self) -> np.ndarray:
        """The tree of the highest score, heads (n,)."""
        inner = [np.zeros(1) if len(group) == 1 else self._best_roots(group) for group in self.groups]
        ends = self._with_ends(inner)
        trees = TreeDistribution(self._contracted(ends, np.max), single_root=self.single_root)
        return self._expanded(trees.argmax(), ends, None)

    def _best_roots(self, group: np.ndarray) -> np.ndarray:
        """For each word of a group the score of the best inner tree with it as root; -inf if there is none."""
        found = np.full(len(group), -np.inf)
        for root in range(len(group)):
            trees = self._rooted(group, root)
            if np.isfinite(trees.log_partition):
                found[root] = trees.score(trees.argmax())
        return found

    def _expanded(self, contracted: np.ndarray, ends: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
        """The tree of a contracted tree: for each of its arcs the best arc of those it stands for, and the best inner
        tree of the root that it leads to; with `rng` drawn ones."""
        heads = np.zeros(self.n + 1, dtype=np.intp)
        for b, a in enumerate(contracted, 1):
            group = self.groups[b]
            cells = ends[np.ix_(self.groups[a], group)]
            place = cells.argmax() if rng is None else rng.choice(cells.size, p=softmax(cells).ravel())
            h, r = np.unravel_index(place, cells.shape)
            if len(group) > 1:
                trees = self._rooted(group, int(r))
                inner = trees.argmax() if rng is None else trees.sample(1, rng)[0]
                heads[group] = np.concatenate([[0], group])[inner]
            heads[group[r]] = self.groups[a][h]
        return heads[1:]

    def mbr(self) -> np.ndarray:
        """The tree with the largest expected number of correct arcs, heads (n,)."""
        with np.errstate(divide="ignore"):
            allowed = np.where(self.marginals > 0, self.marginals, -np.inf)
        return SpanTreeDistribution(allowed, self.spans, single_root=self.single_root).argmax()

    def k_best(self, k: int | None = None) -> Iterator[tuple[np.ndarray, float]]:
        """The k best trees, or all, best first: (heads, score)."""

        def best(scores: np.ndarray) -> tuple[np.ndarray]:
            return (SpanTreeDistribution(scores, self.spans, single_root=self.single_root).argmax(),)

        return ((heads, score) for (heads,), score in ranked(self.scores, k, best))


def ranked(
    scores: np.ndarray, k: int | None, best: Callable[[np.ndarray], tuple[np.ndarray, ...]]
) -> Iterator[tuple[tuple[np.ndarray, ...], float]]:
    """The k best trees, or all, best first, with their scores, by n searches a tree (Lawler 1972).

    best: from scores to the best tree: heads (n,), of labelled scores also labels (n,); NoTreeError if there is none.
    """
    queue: list[tuple] = []
    numbers = count()  # so that trees of equal score are never compared themselves

    def push(scores: np.ndarray) -> None:
        try:
            heads, *labels = tree = best(scores)
        except NoTreeError:
            return
        total = math.fsum(scores[(heads, np.arange(1, len(heads) + 1), *labels)])
        heapq.heappush(queue, (-total, next(numbers), tree, scores))

    push(scores)
    given = 0
    while queue and (k is None or given < k):
        cost, _, tree, rest = heapq.heappop(queue)
        yield tree, -cost
        given += 1
        rest = rest.copy()
        for word, (head, *label) in enumerate(zip(*(part.tolist() for part in tree), strict=True), 1):
            arc = (head, word, *label)
            other = rest.copy()
            other[arc] = -np.inf
            push(other)
            kept = rest[arc]
            rest[:, word] = -np.inf
            rest[arc] = kept


def _of_roots(group: np.ndarray, trees: TreeDistribution | None) -> np.ndarray:
    if trees is None:
        return np.zeros(1)
    if np.isneginf(trees.log_partition):
        return np.full(len(group), -np.inf)
    with np.errstate(divide="ignore"):
        return trees.log_partition + np.log(trees.marginals[0, 1:])
