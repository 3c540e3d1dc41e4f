"""What a parser can be asked beside its parse: distributions, k best parses, samples, how reliable it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch
from thinc.api import Model

from spacy_mtt.learning.objective import Objective
from spacy_mtt.scoring.scores import Scores

from .calibration import Bucketed, Reliability, best_temperature
from .decoders import Decoder
from .decoding import ScoreReader
from .explanation import Explanation, explain
from .gold import GoldTrees, gold_trees
from .labels import LabelSet
from .queries import DocTrees, SentenceTrees
from .segmentation import training_starts, units_of
from .suggestions import Candidates, candidates


class Questions:
    """The part of `MatrixTreeParser` that answers them; no doc is changed."""

    model: Model
    objective: Objective
    decoder: Decoder
    label_set: LabelSet
    cfg: dict[str, Any]

    def distribution(self, doc: Doc) -> list[SentenceTrees]:
        """The distributions over the trees of each sentence of a doc, which is not changed."""
        return self._trees_of(doc).sentences()

    def marginals(self, doc: Doc) -> list[np.ndarray]:
        """For each sentence of a doc the probabilities of all arcs, (n+1, n+1) by head and modifier, node 0 the root.

        Which tokens the nodes are is told by `distribution`. Over labelled trees the labels are summed over.
        """
        return [each.marginals for each in self.distribution(doc)]

    def k_best(self, doc: Doc, k: int) -> list[tuple[Doc, float]]:
        """Copies of a doc with its k most probable parses, best first, each with its probability.

        Fewer if there are no more trees. Labels that are not part of the distribution are the best ones at their heads,
        and no part of the probability.
        """
        if k < 1:
            raise ValueError(f"k is {k}, but must be 1 or more")
        return self._trees_of(doc).k_best(k)

    def candidates(self, doc: Doc, k: int) -> list[Candidates]:
        """The k likeliest heads of each word of each sentence of a doc, with labels and probabilities."""
        return candidates(self._trees_of(doc), k)

    def explain(self, doc: Doc, *, runner_ups: int = 2, at_least: float = 0.05) -> Explanation:
        """What the parser thinks of a doc, to be looked at: arcs by their probability, likely other ones, marginals.

        A Jupyter cell shows it. runner_ups: at most so many other heads of a word, each at least that probable.
        """
        return explain(self._trees_of(doc), self.decoder, runner_ups=runner_ups, at_least=at_least)

    def sample(self, doc: Doc, k: int, *, seed: int | None = None) -> list[Doc]:
        """k copies of a doc with parses drawn from their distribution, heads and labels. seed: of the generator."""
        if k < 0:
            raise ValueError(f"k is {k}, but must be 0 or more")
        return self._trees_of(doc).sample(k, np.random.default_rng(seed))

    def reliability(self, examples: Iterable[Example]) -> Reliability:
        """How probable the predicted heads of the examples' words are, and how often they are right.

        Trees are decoded in the sentences of the predicted docs, as in training. Words without gold head do not count.
        """
        right, probabilities = [np.zeros(0, dtype=bool)], [np.zeros(0)]
        for scores, gold in self._scored(examples):
            decoded = self.reader().decode(scores, self.decoder, sure=True)
            known = gold.heads >= 0
            right.append(decoded.heads[known] == gold.heads[known])
            probabilities.append(decoded.tokens["head_prob"][known])
        return Reliability.of(np.concatenate(probabilities), np.concatenate(right))

    def fit_temperature(self, examples: Iterable[Example]) -> float:
        """Choose the temperature of probabilities for the examples, a dev part, and keep it in the model; see
        `best_temperature`."""
        plain, found = ScoreReader(self.objective, self.label_set, self.model.ops), []
        for scores, gold in self._scored(examples):
            for bucket, arcs in zip(scores.units.buckets, plain.arc_scores(scores), strict=True):
                found.append(Bucketed(arcs, bucket.lengths, gold.padded(bucket, gold.heads)))
        self.cfg["temperature"] = round(best_temperature(found, self.objective.space), 6)
        return self.cfg["temperature"]

    def _scored(self, examples: Iterable[Example]) -> Iterator[tuple[Scores, GoldTrees]]:
        """The scores and the gold trees of examples, in batches."""
        for batch in minibatch(examples, 64):
            docs = [example.predicted for example in batch]
            units = units_of(docs, map(training_starts, batch))
            if len(units):
                yield self.model.predict((docs, units)), gold_trees(batch, units)

    def _trees_of(self, doc: Doc) -> DocTrees:
        scores, reader, starts = self.read([doc])
        return DocTrees(doc, scores, reader, starts[0], self.label_hashes())
