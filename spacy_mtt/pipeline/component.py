"""The trainable component behind `nlp.add_pipe("mtt_parser")`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger, minibatch
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from spacy_mtt.learning.annotation import allowed_arcs, allowed_labelled_arcs
from spacy_mtt.learning.cross_entropy import cross_entropy, logistic_loss
from spacy_mtt.learning.objective import LabelledWords, Objective, Sentences
from spacy_mtt.scoring.scores import ScoreGradients, Scores
from spacy_mtt.scoring.units import Bucket, Units

from .annotate import Parse, parses_of, write_parses
from .attributes import register
from .calibration import Bucketed, Reliability, best_temperature
from .constraints import Conditions, has_constraints
from .decoders import Decoder
from .decoding import ScoreReader
from .gold import GoldTrees, gold_tags, gold_trees
from .labels import LabelSet
from .queries import DocTrees, SentenceTrees
from .rehearsal import divergence
from .segmentation import Segmenting, gold_starts, is_space, training_starts, units_of
from .suggestions import Candidates, candidates


class MatrixTreeParser(TrainablePipe):
    """A graph-based dependency parser: scores every arc, and treats parses as a distribution over trees.

    It parses each sentence that is set on a doc. Boundaries that are set are never changed: each such sentence gets one
    root, and heads inside it. Where nothing is set, a model with a segmenter finds them, if it was trained on docs of
    several sentences; without, a doc without boundaries is one sentence.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "mtt_parser",
        *,
        objective: Objective,
        decoder: Decoder,
        min_label_freq: int = 1,
        tag_weight: float = 0.5,
        sentence_weight: float = 1.0,
        probabilities: bool = False,
        attribute_names: dict[str, str] | None = None,
        scorer: Callable | None = None,
    ):
        """Initialize the component; see `make_mtt_parser` for the arguments."""
        self.vocab = vocab
        self.model = model
        self.name = name
        self.objective = objective
        self.decoder = decoder
        self.tag_weight = tag_weight
        self.sentence_weight = sentence_weight
        self.probabilities = probabilities
        if probabilities:
            register(attribute_names or {})
        self.scorer = scorer
        self._rehearsal_model: Model | None = None  # nlp.resume_training puts a copy of the model here
        self.cfg: dict[str, Any] = {
            "min_label_freq": min_label_freq,
            "finds_sentences": False,
            "temperature": 1.0,
            **LabelSet().to_dict(),
        }

    # ---- labels

    @property
    def label_set(self) -> LabelSet:
        """The labels, and which of them root arcs and other arcs can have."""
        return LabelSet.from_dict(self.cfg)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the parser can give, in the order of its output layer."""
        return self.label_set.names

    @property
    def label_data(self) -> dict[str, dict[str, int]]:
        """How often each label was seen on root arcs and on other arcs, for `spacy init labels`."""
        return self.label_set.counts

    def add_label(self, label: str) -> int:
        """Add a label; returns 1, or 0 if it is there. A model that has labels grows: new ones start at zero."""
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
        if label in self.labels:
            return 0
        label_set = self.label_set
        label_set.add(label)
        self.cfg.update(label_set.to_dict())
        self.vocab.strings.add(label)
        if self.model.get_ref("output_layer").has_dim("nO"):
            self.set_output(len(self.labels))
        return 1

    # ---- prediction

    def predict(self, docs: Iterable[Doc]) -> list[Parse]:
        """Parse docs without changing them."""
        docs = list(docs)
        if not self.labels:
            raise ValueError(Errors.E143.format(name=self.name))
        segmentation = Segmenting(docs, finds=self.cfg.get("finds_sentences", False))
        if all(is_space(doc).all() for doc in docs):
            return [Parse.blank(starts) for starts in segmentation.starts]
        scores = self.model.predict((docs, segmentation if segmentation.units is None else segmentation.units))
        decoded = self._reader_for(docs, scores.units).decode(scores, self.decoder, sure=self.probabilities)
        return parses_of(scores.units, decoded, segmentation.starts, self._label_hashes())

    def _label_hashes(self) -> np.ndarray:
        return np.array([self.vocab.strings.add(label) for label in self.labels], dtype=np.uint64)

    @property
    def reader(self) -> ScoreReader:
        """How the scores of the model are to be read."""
        return ScoreReader(self.objective, self.label_set, self.model.ops, self.cfg.get("temperature", 1.0))

    def _reader_for(self, docs: list[Doc], units: Units) -> ScoreReader:
        """The same under the constraints of docs."""
        reader = self.reader
        if any(map(has_constraints, docs)):
            reader.conditions = Conditions(docs, units, reader.labels)
            reader.spaces = (self.objective.space, self.decoder.space)
        return reader

    def set_annotations(self, docs: Iterable[Doc], parses: Iterable[Parse]) -> None:
        """Write parses to docs: token.head, token.dep, token.is_sent_start, and doc._.mtt."""
        write_parses(list(docs), list(parses))

    # ---- questions

    def distribution(self, doc: Doc) -> list[SentenceTrees]:
        """The distributions over the trees of each sentence of a doc, which is not changed."""
        return [] if is_space(doc).all() else self._trees_of(doc).sentences()

    def marginals(self, doc: Doc) -> list[np.ndarray]:
        """For each sentence of a doc the probabilities of all arcs, (n+1, n+1) by head and modifier, node 0 the root.

        Which tokens the nodes are is told by `distribution`. Over labelled trees the labels are summed over.
        """
        found = [each.trees.marginals for each in self.distribution(doc)]
        return [array.sum(axis=2) if array.ndim == 3 else array for array in found]

    def k_best(self, doc: Doc, k: int) -> list[tuple[Doc, float]]:
        """Copies of a doc with its k most probable parses, best first, each with its probability.

        Fewer if there are no more trees. Labels that are not part of the distribution are the best ones at their heads,
        and no part of the probability.
        """
        if k < 1:
            raise ValueError(f"k is {k}, but must be 1 or more")
        return [(self._unparsed(doc), 1.0)] if is_space(doc).all() else self._trees_of(doc).k_best(k)

    def candidates(self, doc: Doc, k: int) -> list[Candidates]:
        """The k likeliest heads of each word of each sentence of a doc, with labels and probabilities."""
        return [] if is_space(doc).all() else candidates(self._trees_of(doc), k)

    def sample(self, doc: Doc, k: int, *, seed: int | None = None) -> list[Doc]:
        """k copies of a doc with parses drawn from their distribution, heads and labels. seed: of the generator."""
        if k < 0:
            raise ValueError(f"k is {k}, but must be 0 or more")
        if is_space(doc).all():
            return [self._unparsed(doc) for _ in range(k)]
        return self._trees_of(doc).sample(k, np.random.default_rng(seed))

    def reliability(self, examples: Iterable[Example]) -> Reliability:
        """How probable the predicted heads of the examples' words are, and how often they are right.

        Trees are decoded in the sentences of the predicted docs, as in training. Words without gold head do not count.
        """
        right, probabilities = [np.zeros(0, dtype=bool)], [np.zeros(0)]
        for scores, gold in self._scored(examples):
            decoded = self.reader.decode(scores, self.decoder, sure=True)
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
        if not self.labels:
            raise ValueError(Errors.E143.format(name=self.name))
        segmentation = Segmenting([doc], finds=self.cfg.get("finds_sentences", False))
        scores = self.model.predict(([doc], segmentation if segmentation.units is None else segmentation.units))
        reader = self._reader_for([doc], scores.units)
        return DocTrees(doc, scores, reader, segmentation.starts[0], self._label_hashes())

    def _unparsed(self, doc: Doc) -> Doc:
        """A copy of a doc of whitespace, with what `predict` says of it."""
        copy = doc.copy()
        write_parses([copy], self.predict([doc]))
        return copy

    # ---- training

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of examples; `losses` gets the loss in nats, summed over words."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "MatrixTreeParser.update")
        units = units_of([example.predicted for example in examples], map(training_starts, examples))
        if not len(units):
            return losses
        set_dropout_rate(self.model, drop)
        scores, backprop = self.model.begin_update(([example.predicted for example in examples], units))
        loss, gradients = self.get_loss(examples, scores)
        backprop(gradients)
        losses[self.name] += loss
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def rehearse(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Keep the parser from forgetting: learn what it believed of some texts when `nlp.resume_training` was called.

        Gold annotation plays no part. The loss is the divergence of the distributions of now from those of then, over
        trees and over labels at the best heads of then, in nats, summed over words. Does nothing before
        `resume_training`.
        """
        losses = {} if losses is None else losses
        if self._rehearsal_model is None:
            return losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "MatrixTreeParser.rehearse")
        docs = [example.predicted for example in examples]
        units = units_of(docs, map(training_starts, examples))
        if not len(units):
            return losses
        set_dropout_rate(self.model, drop)
        then = self._rehearsal_model.predict((docs, units))
        now, backprop = self.model.begin_update((docs, units))
        loss, gradients = divergence(self.reader, then, now)
        backprop(gradients)
        losses[self.name] += loss
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Scores) -> tuple[float, ScoreGradients]:
        """The loss in nats, summed over words, and the gradient of its mean over the batch's words.

        scores: what the model gave for the predicted docs and their units. A word without gold label adds nothing;
        where its head is unknown, the loss sums over all heads.
        """
        examples = list(examples)
        validate_examples(examples, "MatrixTreeParser.get_loss")
        gold = gold_trees(examples, scores.units)
        loss, gradients = self.parse_loss(gold, scores, partial(gold.key, docs=[each.predicted for each in examples]))
        tag_loss, d_tags = self._tag_loss(examples, scores)
        start_loss, d_starts = self._start_loss(examples, scores)
        return loss + tag_loss + start_loss, replace(gradients, tags=d_tags, starts=d_starts)

    def parse_loss(self, gold: GoldTrees, scores: Scores, key: Callable[[int], bytes]) -> tuple[float, ScoreGradients]:
        """The loss of heads and labels in nats, summed over words, and the gradient of its mean over them.

        key: tells the units apart, see `Sentences`.
        """
        if self.objective.labelled:
            loss, d_joint, is_step = self._tree_loss(gold, scores, key, self._label_numbers(gold))
            d_arcs = [d_bucket.sum(axis=3) for d_bucket in d_joint]
            return loss, ScoreGradients(d_arcs, labels_everywhere=d_joint, own_steps=(is_step, is_step))
        loss, d_arcs, is_step = self._tree_loss(gold, scores, key, None)
        label_loss, d_labels, labels_are_step = self._label_loss(gold, scores, key)
        return loss + label_loss, ScoreGradients(d_arcs, labels_at=d_labels, own_steps=(is_step, labels_are_step))

    def _label_loss(self, gold: GoldTrees, scores: Scores, key: Callable[[int], bytes]) -> tuple[float, Any, bool]:
        """The loss of labels at the gold heads, its gradient (n_words, L), and whether that is a step."""
        xp, sparse = self.model.ops.xp, scores.sparse
        head_rows = gold.head_rows()
        label_scores = self.reader.label_scores(scores, head_rows, gold.heads == 0)
        words = LabelledWords(
            scores.units.lengths,
            key,
            None if sparse is None else partial(sparse.label_norms, head_rows),
        )
        loss = self.objective.label_loss(xp, label_scores, self._label_numbers(gold), words)
        gradient = loss.gradient if loss.is_step else loss.gradient / len(gold.heads)
        return loss.value, self.model.ops.asarray(gradient, dtype=label_scores.dtype), loss.is_step

    def _tag_loss(self, examples: list[Example], scores: Scores) -> tuple[float, Any]:
        """The weighted loss of tags, and the gradient of its mean over words."""
        if scores.tags is None or not self.tag_weight:
            return 0.0, None
        gold = gold_tags(examples, scores.units)
        loss, gradient = cross_entropy(self.model.ops.xp, scores.tags, gold)
        return self.tag_weight * loss, self.model.ops.asarray2f(gradient * (self.tag_weight / len(gold)))

    def _start_loss(self, examples: list[Example], scores: Scores) -> tuple[float, Any]:
        """The weighted loss of sentence starts, and the gradient of its mean over words."""
        if scores.starts is None or not (self.sentence_weight and self.cfg.get("finds_sentences")):
            return 0.0, None
        loss, gradient = logistic_loss(self.model.ops.xp, scores.starts, gold_starts(examples))
        weight = self.sentence_weight
        return weight * loss, self.model.ops.asarray1f(gradient * (weight / scores.units.n_words))

    def _tree_loss(
        self, gold: GoldTrees, scores: Scores, key: Callable[[int], bytes], labels: np.ndarray | None
    ) -> tuple[float, list, bool]:
        """The objective's loss, the gradient for each bucket, and whether that is a step; else it is of the mean.

        Over labelled arcs if `labels` are given.
        """
        total, gradients, is_step = 0.0, [], False
        possible = self.label_set.possible
        for bucket, given, arcs in zip(scores.units.buckets, scores.arcs, self.reader.arc_scores(scores), strict=True):
            heads, size = gold.padded(bucket, gold.heads), arcs.shape[1]
            if labels is None:
                allowed = allowed_arcs(heads, size)
            else:
                allowed = allowed_labelled_arcs(heads, gold.padded(bucket, labels), size, possible)
            loss = self.objective(arcs, allowed, bucket.lengths, self._sentences(bucket, scores, key))
            total += float(loss.value.sum())
            is_step = loss.is_step
            gradient = loss.gradient if is_step else loss.gradient / scores.units.n_words
            gradients.append(self.model.ops.asarray(gradient, dtype=given.dtype))
        return total, gradients, is_step

    def _sentences(self, bucket: Bucket, scores: Scores, key: Callable[[int], bytes]) -> Sentences:
        """What the objective may ask of the units of a bucket, by their rows."""
        units, sparse = bucket.units.tolist(), scores.sparse
        if sparse is None:
            return Sentences(lambda row: key(units[row]))
        of_weights = partial(sparse.weights_squared_norm, labels=self.objective.labelled)
        return Sentences(
            lambda row: key(units[row]),
            lambda row, coefficients: sparse.squared_norm(units[row], coefficients),
            of_weights if sparse.is_linear else None,
        )

    def _label_numbers(self, gold: GoldTrees) -> np.ndarray:
        return gold.label_numbers(self.label_set)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, dict[str, int]] | None = None,
    ) -> None:
        """Find the labels and shape the model.

        get_examples: gives examples of the training data, all of them if the labels are to be found there.
        labels: the `label_data` of an earlier run in place of that; see `spacy init labels`.
        """
        validate_get_examples(get_examples, "MatrixTreeParser.initialize")
        counts = labels if labels is not None else self._count_labels(get_examples())
        label_set = LabelSet.from_counts(counts, self.cfg["min_label_freq"])
        for label in self.labels:
            label_set.add(label)
        self.cfg.update(label_set.to_dict())
        for label in self.labels:
            self.vocab.strings.add(label)
        sample = [example.x for example in islice(get_examples(), 10)]
        self.set_output(len(self.labels))
        if prepare := self.model.attrs.get("prepare"):
            prepare(self.model, lambda: (each.reference for each in get_examples()), lambda: _trees(get_examples()))
        if self.model.has_ref("segmenter"):
            self._learn_to_segment(get_examples())
        self.objective.begin(_keys(get_examples))
        self.model.initialize(X=(sample, units_of(sample)))

    def _learn_to_segment(self, examples: Iterable[Example]) -> None:
        """Find sentences from now on, if one of the examples shows where a sentence ends and another begins."""
        if any((gold_starts([example]) == 1).any() for example in examples):
            self.cfg["finds_sentences"] = True
        elif not self.cfg["finds_sentences"]:
            logger.info(
                "%s: no training example has several sentences, so a doc without boundaries will be parsed as one "
                "sentence: train on docs of several sentences, or put a sentencizer before the parser",
                self.name,
            )

    def _count_labels(self, examples: Iterable[Example]) -> dict[str, Counter]:
        """Count labels and check trees in all examples; say once what cannot be learned from."""
        counts = {"root": Counter(), "arc": Counter()}
        n_examples, n_words, n_unknown, n_sentences, n_conflicts = 0, 0, 0, 0, 0
        for example in examples:
            n_examples += 1
            gold = gold_trees([example], units_of([example.predicted], [training_starts(example)]))
            n_words += len(gold.heads)
            n_unknown += int((gold.heads < 0).sum())
            sentences = np.split(gold.heads, np.cumsum(gold.units.lengths)[:-1])
            n_sentences += len(gold.units)
            n_conflicts += sum(bool(self.objective.space.conflicting(heads).any()) for heads in sentences)
            for head, label in zip(gold.heads.tolist(), gold.labels, strict=True):
                if label is not None:
                    counts["root" if head == 0 else "arc"][label] += 1
        if n_unknown == n_words:
            raise ValueError(
                f"{self.name} finds no dependency label in {n_examples} examples ({n_words} words): set token.head and "
                "token.dep of the reference docs, or give the labels"
            )
        if n_unknown:
            logger.info("%s: %d of %d words have no gold head and are summed over", self.name, n_unknown, n_words)
        if n_conflicts:
            logger.warning(
                "%s: %d of %d gold sentences have roots or crossing arcs that the objective's tree space cannot hold",
                self.name,
                n_conflicts,
                n_sentences,
            )
        return counts


def _trees(examples: Iterable[Example]) -> Iterator[tuple[list[Doc], Units, np.ndarray]]:
    """The predicted doc of each example, with its units and their gold heads."""
    for example in examples:
        units = units_of([example.predicted], [training_starts(example)])
        if len(units):
            yield [example.predicted], units, gold_trees([example], units).heads


def _keys(get_examples: Callable[[], Iterable[Example]]) -> Iterator[bytes]:
    """The key of each unit of all examples, which are asked for with the first one."""
    for example in get_examples():
        units = units_of([example.predicted], [training_starts(example)])
        gold = gold_trees([example], units)
        for unit in range(len(units)):
            yield gold.key(unit, [example.predicted])
