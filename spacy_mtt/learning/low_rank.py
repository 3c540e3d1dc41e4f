"""RBGParser's low-rank tensor model (Lei et al. 2014, "Low-rank tensors for scoring dependency structures", section 4).

    s(h -> m) = gamma <theta, phi(h -> m)> + (1 - gamma) sum_r (U phi_h)_r (V phi_m)_r (W dis(h - m))_r

phi(h -> m) are sparse features of arcs, phi_h and phi_m those of words, and dis the distance with its sign in 14 bins
after a bias: 1, 2, 3, 4, 5, 6 to 10 and more, for heads to the right of their modifiers, then for those to the left.
Matrices are kept with a row for each feature, so U, V are (N, R) and W is (15, R).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ._trilinear import backpropagate, score_arcs
from .arc_features import ArcFeatures
from .lazy_weights import LazyWeights, restore_parts, state_of

LONGEST_OF_BIN = np.array((1, 2, 3, 4, 5, 10), dtype=np.int32)  # one more bin for all above
DISTANCES = 1 + 2 * (len(LONGEST_OF_BIN) + 1)
PARTS = ("theta", "U", "V", "W")


class WordRows(Protocol):
    """The features of the nodes 0..n of a sentence, of which F are distinct, against matrices of `size` rows."""

    n: int
    size: int
    slots: np.ndarray  # (F,) int32: the rows of the sentence's features

    def project(self, rows: np.ndarray) -> np.ndarray:
        """(n+1, R) float64: the sum of the rows of each node's features."""
        ...

    def collect(self, coefficients: np.ndarray) -> np.ndarray:
        """The adjoint: (F, R) float64, to be added to the rows `slots`."""
        ...

    def add(self, rows: np.ndarray, values: np.ndarray, scale: float) -> None:
        """rows[slots] += scale * values, in place."""
        ...


@dataclass(frozen=True)
class LowRankFeatures:
    """The features of a sentence: of its arcs, which gamma = 0 does without, and of its words, gamma = 1 without."""

    arcs: ArcFeatures | None
    words: WordRows | None

    @property
    def n(self) -> int:
        """The number of words."""
        return (self.arcs or self.words).n


@dataclass(frozen=True)
class Factors:
    """What words and distances bring to the tensor: head, modifier (n+1, R), distance (14, R), all float64.

    shares: (R,), what each component's distances have been multiplied by; None if nothing.
    """

    head: np.ndarray
    modifier: np.ndarray
    distance: np.ndarray
    shares: np.ndarray | None = None

    def shared(self, shares: np.ndarray) -> Factors:
        """The factors of a tensor whose components count so many times, (R,)."""
        return replace(self, distance=self.distance * shares, shares=shares)


class LowRankWeights:
    """The parameters, as plain arrays: theta (F,) float64, U and V (N, R), W (15, R) float64.

    gamma: in 0..1, the share of theta. With gamma = 1 scores are those of the linear model, bit by bit, and U, V, W
    are not used; with gamma = 0 features of arcs are not.
    U, V may be float32, which rounds every change of theirs to 7 digits and takes half the memory; sums over features
    and everything after them are float64.
    scales: what each of the arrays is to be multiplied by, 1 where nothing is said.
    """

    def __init__(
        self,
        gamma: float,
        theta: np.ndarray,
        U: np.ndarray,
        V: np.ndarray,
        W: np.ndarray,
        scales: Mapping[str, float] | None = None,
    ):
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma is {gamma}, but must be in 0..1")
        if U.shape != V.shape or U.ndim != 2 or W.shape != (DISTANCES, U.shape[1]):
            raise ValueError(
                f"U, V and W have the shapes {U.shape}, {V.shape} and {W.shape}, but must have (N, R) twice and "
                f"({DISTANCES}, R)"
            )
        self.gamma, self.theta, self.U, self.V, self.W = float(gamma), theta, U, V, W
        self.scales = dict.fromkeys(PARTS, 1.0) | dict(scales or {})

    @classmethod
    def zeros(
        cls, gamma: float, n_arc_features: int, n_word_features: int, rank: int, dtype=np.float64
    ) -> LowRankWeights:
        """All parameters 0. What gamma makes superfluous has no entries. dtype: of U and V."""
        n_arc_features = n_arc_features if gamma > 0 else 0
        n_word_features, rank = (n_word_features, rank) if gamma < 1 else (0, 0)
        U, V = (np.zeros((n_word_features, rank), dtype=dtype) for _ in "UV")
        return cls(gamma, np.zeros(n_arc_features), U, V, np.zeros((DISTANCES, rank)))

    @property
    def rank(self) -> int:
        """R."""
        return self.U.shape[1]

    def arrays(self) -> dict[str, np.ndarray]:
        """The parameters by name, the arrays in use."""
        return {name: getattr(self, name) for name in PARTS}

    def copy(self, dtype=None) -> LowRankWeights:
        """A copy; dtype: of U and V, if it is to be another."""
        U, V = (np.array(matrix, dtype=dtype or matrix.dtype) for matrix in (self.U, self.V))
        return LowRankWeights(self.gamma, self.theta.copy(), U, V, self.W.copy(), self.scales)

    def factors(self, features: LowRankFeatures) -> Factors | None:
        """The factors of a sentence; None if gamma = 1. O((features + n) R)."""
        if self.gamma == 1:
            return None
        head, modifier = features.words.project(self.U), features.words.project(self.V)
        distance = self.W[1:] + self.W[0]
        return Factors(self.scales["U"] * head, self.scales["V"] * modifier, self.scales["W"] * distance)

    def score(self, features: LowRankFeatures, factors: Factors | None = None) -> np.ndarray:
        """s(h -> m) of every arc, (n+1, n+1) float64, 0 where no arc is; factors: if they are known already.

        O(features + n^2 R). Raises ValueError if a score is not finite.
        """
        if self.gamma == 1:
            return self.scales["theta"] * features.arcs.score(self.theta)
        factors = factors or self.factors(features)
        if self.gamma == 0:
            scores = np.zeros((features.n + 1, features.n + 1))
        else:
            scores = features.arcs.score(self.theta)
            scores *= self.gamma * self.scales["theta"]
        score_arcs(factors.head, factors.modifier, factors.distance, LONGEST_OF_BIN, 1 - self.gamma, scores)
        if not np.isfinite(scores).all():
            h, m = np.argwhere(~np.isfinite(scores))[0]
            raise ValueError(f"the weights give the arc {h} -> {m} the score {scores[h, m]}: they must be finite")
        return scores

    def gradient(
        self, features: LowRankFeatures, coefficients: np.ndarray, factors: Factors | None = None
    ) -> LowRankGradient:
        """The derivatives of sum_hm coefficients[h, m] s(h -> m) in all parameters, sparse.

        coefficients: (n+1, n+1), column 0 and the diagonal are not read; arcs with coefficient 0 cost nothing.
        """
        if self.gamma == 1:
            return LowRankGradient(features, coefficients, 1.0, None, None, None)
        factors = factors or self.factors(features)
        head, modifier = np.zeros_like(factors.head), np.zeros_like(factors.modifier)
        distance = np.zeros_like(factors.distance)
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
        backpropagate(
            coefficients,
            factors.head,
            factors.modifier,
            factors.distance,
            LONGEST_OF_BIN,
            1 - self.gamma,
            head,
            modifier,
            distance,
        )
        if factors.shares is not None:
            distance *= factors.shares
        words, W = features.words, np.concatenate([distance.sum(axis=0, keepdims=True), distance])
        return LowRankGradient(features, coefficients, self.gamma, words.collect(head), words.collect(modifier), W)


@dataclass(frozen=True)
class LowRankGradient:
    """A gradient in all parameters: that of theta is gamma * sum_hm coefficients[h, m] phi(h -> m), the other three are
    U, V (F, R), for the rows `features.words.slots`, and W (15, R); None if gamma = 1."""

    features: LowRankFeatures
    coefficients: np.ndarray
    gamma: float
    U: np.ndarray | None
    V: np.ndarray | None
    W: np.ndarray | None

    def squared_norm(self, parts: Iterable[str] = PARTS) -> float:
        """The sum of squares over some of the parameters; theta's part only if gamma > 0, the others' if gamma < 1."""
        total = 0.0
        for part in parts:
            if part == "theta":
                if self.gamma > 0:
                    total += self.gamma**2 * self.features.arcs.squared_norm(self.coefficients)
            elif self.gamma < 1:
                flat = getattr(self, part).ravel()
                total += float(flat @ flat)
        return total

    def add_to(self, weights: LowRankWeights, scale: float, parts: Iterable[str] = PARTS) -> None:
        """weights += scale * gradient, in place, for some of the parameters."""
        for part in parts:
            self.add_part(part, getattr(weights, part), scale)

    def add_part(self, part: str, array: np.ndarray, scale: float) -> None:
        """array += scale * the gradient in one of the parameters, in place."""
        if part == "theta":
            if self.gamma > 0:
                self.features.arcs.add(array, (scale * self.gamma) * self.coefficients)
        elif self.gamma < 1:
            if part == "W":
                array += scale * self.W
            else:
                self.features.words.add(array, getattr(self, part), scale)


class AveragedLowRank:
    """Weights and the mean of each parameter over the weights after each step, each averaged by itself.

    The product of the means of U, V and W is not the mean of their products; RBGParser averages in the same way.
    """

    def __init__(self, initial: LowRankWeights):
        self.gamma = initial.gamma
        self.parts = {
            name: LazyWeights(array, initial.scales[name], array.dtype) for name, array in initial.arrays().items()
        }
        for part in self.parts.values():
            part.keep_average()
        self.steps = 0

    @property
    def current(self) -> LowRankWeights:
        """The weights after the last step; the arrays are those in use."""
        scaled = {name: part.scaled for name, part in self.parts.items()}
        arrays = {name: array for name, (_, array) in scaled.items()}
        return LowRankWeights(self.gamma, **arrays, scales={name: scale for name, (scale, _) in scaled.items()})

    def step(self, gradient: LowRankGradient | None, scale: float, parts: Iterable[str] = PARTS) -> None:
        """weights += scale * gradient; a step of 0 counts as well."""
        self.steps += 1
        moved = parts if scale != 0 and gradient is not None else ()
        for name, weights in self.parts.items():
            weights.step(_adder(gradient, name, scale) if name in moved else None)

    def mean(self) -> LowRankWeights:
        """The mean, new arrays; before the first step, the initial weights."""
        return LowRankWeights(self.gamma, **{name: part.mean() for name, part in self.parts.items()})

    def state(self) -> dict[str, np.ndarray]:
        """Copies, as plain arrays."""
        return {"steps": np.array(self.steps), **state_of(self.parts)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it belongs to other numbers of features or another rank."""
        restore_parts(self.parts, state)
        self.steps = int(state["steps"])


def _adder(gradient: LowRankGradient, part: str, scale: float) -> Callable[[np.ndarray, float], None]:
    """As `LazyWeights.step` takes it."""
    return lambda array, factor: gradient.add_part(part, array, factor * scale)
