"""TreeDistribution: one sentence's or one batch's dependency trees as a probability distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

import numpy as np

from . import arborescence, eisner, expectations
from .checks import as_batch, as_heads
from .constraints import constrained_scores, log_prob_arcs
from .hessian import hessian_vector_product
from .k_best import k_best, k_best_labelled
from .posterior import Posterior
from .sampling import sample
from .threads import run_batch
from .trees import is_projective, is_tree


class TreeDistribution:
    """The distribution p(tree) = exp(sum of its arcs' scores) / Z over the dependency trees of a sentence.

    scores: log-weights of arcs, ``scores[h, m]`` for head h and modifier m, both 0..n with node 0 the artificial
        root: (n+1, n+1), or a padded batch (B, N+1, N+1). Column 0, the diagonal and the padding are never read.
        ``-inf`` forbids an arc. With `labelled`, one more axis L at the end scores each label of each arc.
    projective: whether trees may have crossing arcs (False) or not (True); root arcs count.
    single_root: whether exactly one word hangs from node 0 (True) or one or more (False).
    lengths: (B,) ints, the number of words of each sentence of a batch; all N if not given.
    n_threads: how many threads may share the sentences of a batch.

    Everything is computed in float64 and returned in float64 whatever the dtype of the scores, by sums and
    products of non-negative numbers alone, so that no scale of scores makes it inexact (Koo et al. 2007 gives
    the theorem; see the module `matrix_tree` for how). Results are computed when first asked for, in O(n^3), and kept.
    The scores are never written to; do not change them while the distribution is in use.

    Where this says float, a batch gives an array (B,); where it says (n,), a batch gives (B, N), with 0 or, for heads
    and labels, -1 as padding. Where no tree has positive weight, `log_partition` is ``-inf`` and all else raises
    NoTreeError, which says why.
    """

    def __init__(
        self,
        scores,
        *,
        projective: bool = False,
        single_root: bool = True,
        lengths=None,
        labelled: bool = False,
        n_threads: int = 1,
    ):
        scores, lengths, self._batched = as_batch(scores, lengths, labelled=labelled)
        self._posterior = Posterior(
            scores, lengths, projective=bool(projective), single_root=bool(single_root), n_threads=n_threads
        )

    def __repr__(self) -> str:
        space = "projective" if self.projective else "non-projective"
        root = "single-root" if self.single_root else "multi-root"
        return f"TreeDistribution({space}, {root}, scores of shape {self._scores.shape[not self._batched :]})"

    @property
    def projective(self) -> bool:
        """Whether the trees are those without crossing arcs."""
        return self._posterior.projective

    @property
    def single_root(self) -> bool:
        """Whether the trees are those with one root arc."""
        return self._posterior.single_root

    @property
    def labelled(self) -> bool:
        """Whether scores have an axis of labels."""
        return self._posterior.labelled

    # ---- log Z and marginals

    @property
    def log_partition(self) -> float | np.ndarray:
        """log Z, the log of the summed weights of all trees: a float. O(n^3)."""
        return self._result(self._posterior.log_z)

    @property
    def marginals(self) -> np.ndarray:
        """The probability of each arc, in the shape of the scores, 0 where no arc is.

        ``marginals[h, m]`` = p(h -> m); each column m >= 1 sums to 1. It is also the gradient of log Z. O(n^3).
        """
        return self._result(self._posterior_with_trees.marginals)

    @property
    def max_marginal(self) -> np.ndarray:
        """The probability of the likeliest head of each word, (n,); with labels, of the likeliest labelled arc."""
        return self._result(expectations.max_marginal(self._posterior_with_trees))

    # ---- trees

    def argmax(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The tree of the highest score: heads (n,); with labels (heads, labels).

        Chu-Liu-Edmonds in O(n^2), or Eisner in O(n^3). Ties are broken in a fixed way (see those modules); between
        labels of equal score the lowest index wins.
        """
        return self._decode(self._scores)

    def mbr(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The tree with the largest expected number of correct arcs: minimum risk under Hamming loss. O(n^3).

        In the form of `argmax`. It maximises the sum of its arcs' marginals (Smith and Smith 2007, section 5), with
        labels of its labelled arcs'.
        """
        return self._decode(np.where(np.isneginf(self._scores), -np.inf, self._posterior_with_trees.marginals))

    def k_best(self, k: int | None = None) -> Iterator | list[Iterator]:
        """The `k` best trees, or all, best first: an iterator of (heads, score), or of (heads, labels, score).

        Exact, distinct, and found one by one as they are asked for. A batch gives a list of such iterators, one for
        each sentence. See the module `k_best`.
        """
        if k is not None and k < 0:
            raise ValueError(f"k must be 0 or more, not {k}")
        self._posterior.require_trees(batched=self._batched)
        space = {"projective": self.projective, "single_root": self.single_root}
        find = k_best_labelled if self.labelled else k_best
        trees = [islice(find(scores, **space), k) for scores in self._sentences()]
        return trees if self._batched else trees[0]

    def sample(self, k: int, rng: np.random.Generator) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """`k` independent draws: heads (k, n), for a batch (B, k, N); with labels (heads, labels).

        Exact (Wilson 1996 and Zmigrod, Vieira and Cotterell 2021, or through the inside chart; see the module
        `sampling`). The trees depend on the state of `rng` and on the scores alone.
        """
        if k < 0:
            raise ValueError(f"k must be 0 or more, not {k}")
        posterior = self._posterior_with_trees
        batch, size = posterior.arc_scores.shape[:2]
        heads = np.full((batch, k, size - 1), -1, dtype=np.intp)
        for sentence, n in enumerate(posterior.lengths):
            arcs = posterior.arc_scores[sentence, : n + 1, : n + 1]
            heads[sentence, :, :n] = sample(arcs, k, rng, projective=self.projective, single_root=self.single_root)
        if not self.labelled:
            return self._result(heads)
        words = np.arange(1, size)
        given_arc = posterior.label_given_arc[np.arange(batch)[:, None, None], heads, words]
        draws = rng.random(heads.shape) * given_arc.sum(axis=3)
        labels = (np.cumsum(given_arc, axis=3) <= draws[..., None]).sum(axis=3)
        return self._result(heads), self._result(np.where(heads < 0, -1, labels))

    # ---- probabilities

    def score(self, heads, labels=None) -> float | np.ndarray:
        """The score of a tree, the sum over its arcs: a float. O(n).

        heads: (n,) ints (what stands in the padding is not read); labels likewise where scores are labelled.
        ValueError for shapes and for heads outside 0..n. A forbidden arc makes it -inf. That the heads form a tree
        is not checked.
        """
        rows, inside = self._arcs_of(heads, labels)
        return self._result(expectations.sum_over_words(np.where(inside, rows, 0.0)))

    def log_prob(self, heads, labels=None) -> float | np.ndarray:
        """log p(tree): a float; arguments as in `score`. Heads that form no tree of the space have -inf. O(n^3)."""
        posterior = self._posterior
        posterior.require_trees(batched=self._batched)
        rows, inside = self._arcs_of(heads, labels)
        over_best = np.where(inside, rows, 0.0) - np.where(inside, posterior.best[:, 1:], 0.0)
        log_prob = np.minimum(expectations.sum_over_words(over_best) - posterior.excess, 0.0)
        trees = as_heads(heads, posterior.lengths, self._size, self._batched)
        for sentence, n in enumerate(posterior.lengths):
            tree = trees[sentence, :n]
            if not is_tree(tree, single_root=self.single_root) or (self.projective and not is_projective(tree)):
                log_prob[sentence] = -np.inf
        return self._result(log_prob)

    def log_prob_arcs(self, arcs) -> float | np.ndarray:
        """log p(the tree has all of `arcs`): a float. O(n^3).

        arcs: pairs (head, modifier), with labels also triples (head, modifier, label); for a batch an iterable of
        them, or None, for each sentence. -inf for a set that no tree has.
        """
        return self._result(log_prob_arcs(self._posterior, arcs, batched=self._batched))

    def constrained(self, *, required=None, forbidden=None, mask=None) -> TreeDistribution:
        """The distribution given that trees have all `required` arcs, no `forbidden` ones, and only those in `mask`.

        required, forbidden: arcs as in `log_prob_arcs`. mask: bool in the shape of the scores, or without labels.
        ValueError for arcs that exclude each other. If no tree is left, the result raises NoTreeError, which says why.
        """
        scores = self._scores if self._batched else self._scores[0]
        lengths = self._lengths if self._batched else None
        given = constrained_scores(
            scores, lengths, required=required, forbidden=forbidden, mask=mask, labelled=self.labelled
        )
        return TreeDistribution(
            given,
            projective=self.projective,
            single_root=self.single_root,
            lengths=lengths,
            labelled=self.labelled,
            n_threads=self._posterior.n_threads,
        )

    # ---- expectations

    @property
    def entropy(self) -> float | np.ndarray:
        """The entropy in nats, a float. O(n^3)."""
        return self._result(expectations.entropy(self._posterior_with_trees))

    @property
    def head_entropy(self) -> np.ndarray:
        """The entropy in nats of each word's head, (n,): how unsure its attachment is. O(n^2) from the marginals."""
        return self._result(expectations.head_entropy(self._posterior_with_trees))

    def expected(self, values) -> float | np.ndarray:
        """The expected sum of `values` over the tree's arcs: a float, the risk if values are costs.

        values: in the shape of the scores, or with one more axis F at the end, for F answers.
        """
        return self._result(expectations.expected(self._posterior_with_trees, self._like_scores(values)))

    def cross_entropy(self, other: TreeDistribution) -> float | np.ndarray:
        """-E[log q(tree)] in nats, a float, for another distribution q over the same sentence; inf where q forbids
        what p does not. ValueError where q's tree space lacks trees of p's."""
        return self._result(expectations.cross_entropy(self._posterior_with_trees, self._other(other)))

    def kl(self, other: TreeDistribution) -> float | np.ndarray:
        """KL(p || q) in nats, a float; see `cross_entropy`."""
        return self._result(expectations.kl(self._posterior_with_trees, self._other(other)))

    # ---- gradients, each in the shape of the scores, 0 where no arc is; O(n^3)

    def hessian_vector_product(self, direction) -> np.ndarray:
        """The Hessian of log Z times `direction`: how the marginals change along it. Entries at -inf are not read."""
        return self._result(hessian_vector_product(self._posterior_with_trees, self._like_scores(direction)))

    def entropy_gradient(self) -> np.ndarray:
        """The gradient of `entropy` with respect to the scores."""
        return self._result(expectations.entropy_gradient(self._posterior_with_trees))

    def expected_gradient(self, values) -> np.ndarray:
        """The gradient of `expected(values)`, values in the shape of the scores."""
        return self._result(expectations.expected_gradient(self._posterior_with_trees, self._like_scores(values)))

    def cross_entropy_gradient(self, other: TreeDistribution) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of `cross_entropy(other)` with respect to these scores and to the other's."""
        gradients = expectations.cross_entropy_gradient(self._posterior_with_trees, self._other(other))
        return self._result(gradients[0]), self._result(gradients[1])

    def kl_gradient(self, other: TreeDistribution) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of `kl(other)` with respect to these scores and to the other's."""
        gradients = expectations.kl_gradient(self._posterior_with_trees, self._other(other))
        return self._result(gradients[0]), self._result(gradients[1])

    # ---- inside

    @property
    def _scores(self) -> np.ndarray:
        return self._posterior.scores

    @property
    def _lengths(self) -> np.ndarray:
        return self._posterior.lengths

    @property
    def _size(self) -> int:
        return self._scores.shape[1]

    @cached_property
    def _posterior_with_trees(self) -> Posterior:
        """The posterior with its marginals, if every sentence has a tree; NoTreeError otherwise."""
        _ = self._posterior.mu  # before log Z is asked for by itself: the marginals give it as well
        self._posterior.require_trees(batched=self._batched)
        return self._posterior

    def _sentences(self) -> list[np.ndarray]:
        return [scores[: n + 1, : n + 1] for scores, n in zip(self._scores, self._lengths, strict=True)]

    def _decode(self, weights: np.ndarray) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        arcs = np.where(self._posterior.arcs, weights.max(axis=3), -np.inf) if self.labelled else weights
        decoder = eisner if self.projective else arborescence
        heads = run_batch(
            decoder.argmax,
            arcs,
            self._lengths,
            single_root=self.single_root,
            n_threads=self._posterior.n_threads,
        )
        if (heads[:, :1] < 0).any(where=(self._lengths > 0)[:, None]):
            self._posterior.require_trees(batched=self._batched)
        if not self.labelled:
            return self._result(heads)
        sentence, word = np.arange(len(heads))[:, None], np.arange(1, self._size)
        labels = weights[sentence, heads, word].argmax(axis=2)
        return self._result(heads), self._result(np.where(heads < 0, -1, labels))

    def _arcs_of(self, heads, labels) -> tuple[np.ndarray, np.ndarray]:
        """The scores of a tree's arcs (B, N), and which of them are inside the sentences."""
        heads = as_heads(heads, self._lengths, self._size, self._batched)
        words = np.arange(1, self._size)
        index: tuple = (np.arange(len(heads))[:, None], heads, words)
        if self.labelled:
            if labels is None:
                raise ValueError("the scores are labelled: give the labels of the tree beside its heads")
            labels = as_heads(labels, self._lengths, self._size, self._batched, what="labels")
            n_labels = self._scores.shape[3]
            if labels.size and labels.max() >= n_labels:
                raise ValueError(f"a label is {labels.max()}, but must be in 0..{n_labels - 1}")
            index = (*index, np.maximum(labels, 0))
        elif labels is not None:
            raise ValueError("labels were given, but the scores are unlabelled")
        return np.where(heads == words, -np.inf, self._scores[index]), heads >= 0

    def _other(self, other: TreeDistribution) -> Posterior:
        if not isinstance(other, TreeDistribution):
            raise TypeError(f"a TreeDistribution is compared with another one, not with {type(other).__name__}")
        other._posterior.require_trees(batched=other._batched)
        return other._posterior

    def _like_scores(self, values) -> np.ndarray:
        values = np.asarray(values, dtype=np.float64)
        return values if self._batched else values[None]

    def _result(self, batch: np.ndarray):
        """What the caller gets: the batch, or its only item where the caller gave one sentence."""
        if self._batched:
            return batch
        return batch[0].item() if batch.ndim == 1 else batch[0]
