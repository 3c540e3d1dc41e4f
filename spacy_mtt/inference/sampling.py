"""Trees of one sentence drawn at random, each with exactly its probability exp(score) / Z.

Non-projective, by one of two ways:

* *Walks* (Wilson 1996, "Generating random spanning trees more quickly than the cover time"): from each word a random
  walk to heads, loops erased, until it meets the tree so far. With a single root, its word is drawn from its exact
  marginal and the walks, which never use root arcs, lead there (Zmigrod, Vieira & Cotterell 2021, "Efficient
  sampling of dependency structure"). The expected number of steps is known beforehand, see `expected_steps`.
* *Word by word* (Colbourn, Myrvold & Neufeld 1996), where walks would circle among a few words for long, or forever
  in double precision: the head of the word that they would visit most is drawn from its exact marginals given the
  heads drawn so far, until walks would be short. At most n computations of marginals for a tree, shared between
  trees as far as they agree.

Projective: top-down through Eisner's inside chart, `_sample_projective.pyx`.

Each decision (a step, a head, a split) takes one uniform number of 53 bits. So the distribution is off, in total
variation, by some 2**-53 times the number of decisions plus the error of the marginals. No score is floored.
"""

from __future__ import annotations

import numpy as np

from . import matrix_tree
from ._sample_projective import sample as _sample_projective
from ._wilson import count_visits, walk
from .feasibility import NoTreeError, explain_no_tree

# Walks are taken if a tree's expected number of steps is at most WALK_STEPS * (1000 + n**2), of 20 to 50 ns each: 0.5
# ms for 10 words, 10 ms for 100. Measured with words attracting each other in pairs, drawing heads by themselves
# until walks are short takes 0.1 (one pair) to 3 ms (all) for 10 words, 0.2 to 11 ms for 30, 1 to 50 ms for 60.
WALK_STEPS = 20.0
# From any state of the walks, at most twice the expected number of steps remains on average. So the chance that a
# tree takes more than 256 times as many is below 2**-64: such a one is drawn word by word, and no loop is endless.
LIMIT = 256.0


def sample(scores: np.ndarray, k: int, rng: np.random.Generator, *, projective: bool, single_root: bool) -> np.ndarray:
    """k independent trees of a sentence: heads (k, n) np.intp.

    scores: (n+1, n+1) in the conventions of `trees`; finite or -inf where read. Not written to.
    rng: its state determines the trees, which depend on nothing else but the arguments. With `projective`, the
    first trees of a larger k are those of a smaller one.

    Non-projective: O(n^3), then for each tree the expected number of steps, for usual scores a few n, times log n;
    at worst O(n^4) a tree. Projective: O(n^3), then at worst O(n^2) a tree, for usual scores about n times the
    mean length of arcs. NoTreeError if there is no tree.
    """
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    n = len(scores) - 1
    if n == 0 or k == 0:
        return np.zeros((k, n), dtype=np.intp)
    if projective:
        heads = np.empty((k, n), dtype=np.intp)
        if not _sample_projective(scores, single_root, rng.random((k, 2 * n)), heads):
            raise _no_tree(scores, projective, single_root)
        return heads
    roots, target = np.zeros(k, dtype=np.intp), 0
    if single_root:
        root_marginals = _marginals(scores, single_root)[0]
        roots, target = _draw(root_marginals, rng.random(k)), int(root_marginals.argmax())
    probabilities = _step_probabilities(scores, single_root)
    steps = expected_steps(probabilities, target)[roots]
    heads = np.full((k, n), -1, dtype=np.intp)
    walks = np.flatnonzero(steps <= _longest_walks(n))
    if len(walks):
        heads[walks] = _walk(probabilities, roots[walks], steps[walks], rng)[0]
    rest = np.flatnonzero(heads[:, 0] < 0)
    for root in np.unique(roots[rest]):
        members = rest[roots[rest] == root]
        heads[members] = _word_by_word(_with_root(scores, root) if root else scores, root, len(members), rng)
    return heads


def expected_steps(probabilities: np.ndarray, target: int) -> np.ndarray:
    """The expected number of steps of the walks that draw one tree: (n+1,), by the node that they lead to.

    probabilities: (n+1, n+1), row m: of the steps from word m to its heads. target: the root (0), or a word that all
    others can reach, if there are no steps to the root; the more probable as the tree's root, the better. Infinity
    for targets of the other kind, for those that cannot be reached, and where rounding leaves no reliable answer.

    A word m is left as often as it is visited by a walk that starts there (Wilson 1996): G[m, m], with G the inverse
    of I - P without the target. Another word r as target takes (G[r, r] - (pi G)[r]) / pi[r] + sum_m G[m, m] -
    sum_m G[r, m] steps, pi being the stationary distribution (G is a generalised inverse of I - P; with Hunter 1982,
    "Generalized inverses and their application to applied probability problems", the sum over m of pi[m] times the
    mean time from m to r and back). O(n^3) for all targets.
    """
    steps = np.full(len(probabilities), np.inf)
    others, visits = _visits(probabilities, target)
    total = np.trace(visits)
    if not np.isfinite(total):
        return steps
    steps[target] = total
    if target:
        with np.errstate(all="ignore"):
            # Visits to each word between two visits to the target: pi, up to a factor that cancels but in pi G.
            stationary = np.einsum("i,ij", probabilities[target, others], visits)
            own = np.diag(visits) / stationary * (1.0 + stationary.sum())
            reached = np.einsum("i,ij", stationary, visits) / stationary
            leaving = visits.sum(axis=1)
            # Relative errors are some n roundings each.
            reliable = 1e-15 * len(steps) * (own + reached + total + leaving) < 0.5
            steps[others] = np.where(reliable, own - reached + total - leaving, np.inf)
    return steps


def _visits(probabilities: np.ndarray, target: int) -> tuple[np.ndarray, np.ndarray]:
    """The words that are not the target, and how often a walk from each visits each; infinite if some never end."""
    others = np.delete(np.arange(len(probabilities)), [0, target] if target else [0])
    visits = probabilities[np.ix_(others, others)]
    if not count_visits(visits, probabilities[others, target]):
        visits[:] = np.inf
    return others, visits


def _step_probabilities(scores: np.ndarray, single_root: bool) -> np.ndarray:
    """(n+1, n+1): row m holds the probability of each head of word m by the scores alone; without root arcs if single.

    A word that only the root heads then has a row of zeros.
    """
    steps = scores.T.copy()
    np.fill_diagonal(steps, -np.inf)
    steps[0] = -np.inf
    if single_root:
        steps[:, 0] = -np.inf
    best = steps.max(axis=1, keepdims=True)
    weights = np.exp(steps - np.where(np.isneginf(best), 0.0, best))
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0.0, total, 1.0)


def _walk(
    probabilities: np.ndarray, targets: np.ndarray, expected: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Trees by Wilson's algorithm: heads (K, n), -1 for one that passed its limit, and the steps taken (K,)."""
    n = len(probabilities) - 1
    cumulative = probabilities.cumsum(axis=1)
    cumulative /= np.where(cumulative[:, -1:] > 0.0, cumulative[:, -1:], 1.0)
    heads = np.empty((len(targets), n), dtype=np.intp)
    steps, at = np.zeros(len(targets), dtype=np.intp), np.zeros(3, dtype=np.intp)
    limits, in_tree = LIMIT * np.maximum(expected, 1.0), np.zeros(n + 1, dtype=np.uint8)
    size = int(min(expected.sum() * 1.1 + 100.0, 2.0**16))
    while not walk(cumulative, targets, limits, rng.random(size), heads, steps, at, in_tree):
        size = 1024 if size < 2**14 else size
    return heads, steps


def _word_by_word(scores: np.ndarray, root: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """k trees whose single root is the word `root`, 0: any number of roots, by marginals given what is drawn.

    Trees that agree so far form a group. Heads that are certain in double precision are taken all at once. Arcs that
    have become impossible are forbidden to walks too, which else might circle there all the more.
    """
    n = len(scores) - 1
    heads, uniforms = np.empty((k, n), dtype=np.intp), rng.random((k, n))
    groups = [(np.arange(k), np.zeros(n, dtype=bool))]
    while groups:
        members, drawn = groups.pop()
        words = 1 + np.flatnonzero(drawn)
        given = scores.copy()
        given[:, words] = -np.inf
        given[heads[members[0], words - 1], words] = 0.0
        mu = _marginals(given, root > 0)
        certain = (mu.max(axis=0)[1:] == 1.0) & ~drawn
        heads[np.ix_(members, certain)] = mu[:, 1:].argmax(axis=0)[certain]
        if (drawn | certain).all():
            continue
        given[mu == 0.0] = -np.inf
        probabilities = _step_probabilities(given, root > 0)
        others, visits = _visits(probabilities, root)
        steps = np.full(len(members), np.trace(visits))
        if steps[0] <= _longest_walks(n):
            found, _ = _walk(probabilities, np.full(len(members), root), steps, rng)
            short = found[:, 0] >= 0
            heads[members[short]] = found[short]
            members = members[~short]
            if len(members) == 0:
                continue
        open_words = ~(drawn | certain)[others - 1]
        word = others[open_words][np.diag(visits)[open_words].argmax()]
        chosen = _draw(mu[:, word], uniforms[members, word - 1])
        heads[members, word - 1] = chosen
        drawn = drawn | (np.arange(1, n + 1) == word)
        for head in np.unique(chosen):
            # Beside a head that is all but impossible nothing is certain any more.
            known = drawn | certain if mu[head, word] > 1e-9 else drawn
            if not known.all():
                groups.append((members[chosen == head], known))
    return heads


def _with_root(scores: np.ndarray, root: int) -> np.ndarray:
    """The scores of the trees whose single root is the word `root`."""
    given = scores.copy()
    given[0] = given[:, root] = -np.inf
    given[0, root] = 0.0
    return given


def _draw(probabilities: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """For each uniform number the index where it falls; never one of probability 0."""
    cumulative = probabilities.cumsum()
    return np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")


def _longest_walks(n: int) -> float:
    return WALK_STEPS * (1000.0 + n**2)


def _marginals(scores: np.ndarray, single_root: bool) -> np.ndarray:
    log_z, _, mu = matrix_tree.marginals(
        scores[None], np.array([len(scores) - 1], dtype=np.intp), single_root=single_root
    )
    if np.isneginf(log_z[0]):
        raise _no_tree(scores, False, single_root)
    return mu[0]


def _no_tree(scores: np.ndarray, projective: bool, single_root: bool) -> NoTreeError:
    reason = explain_no_tree(scores, projective=projective, single_root=single_root)
    return NoTreeError(f"the sentence has no tree with positive weight: {reason}")
