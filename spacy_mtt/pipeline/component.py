"""The trainable component behind `nlp.add_pipe("mtt_parser")`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from spacy_mtt.learning.objective import Objective
from spacy_mtt.scoring.scores import ScoreGradients, Scores

from .annotate import Parse, parses_of, write_parses
from .attributes import register
from .constraints import Conditions, has_constraints
from .decoders import Decoder
from .decoding import ScoreReader
from .gold import gold_trees
from .integrity import check, naming, write_checksums
from .labels import LabelSet
from .losses import parse_loss, start_loss, tag_loss
from .questions import Questions
from .rehearsal import divergence
from .segmentation import Segmenting, gold_starts, is_space, training_starts, units_of
from .training_data import count_labels, keys_of, trees_of

DIVERGED = 1e10  # arc scores in nats; learned ones are below a thousand


class MatrixTreeParser(Questions, TrainablePipe):
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
        scores, reader, starts = self.read(docs)
        if scores is None:
            return [Parse.blank(each) for each in starts]
        decoded = reader.decode(scores, self.decoder, sure=self.probabilities)
        return parses_of(scores.units, decoded, starts, self.label_hashes())

    def read(self, docs: list[Doc]) -> tuple[Scores | None, ScoreReader, list[np.ndarray]]:
        """The scores of docs, None if they have no words, how to read them under the constraints of the docs, and where
        the sentences of each doc start, as set or found."""
        if not self.labels:
            raise ValueError(Errors.E143.format(name=self.name))
        segmenting = Segmenting(docs, finds=self.cfg["finds_sentences"])
        if all(is_space(doc).all() for doc in docs):
            return None, self.reader(), segmenting.starts
        scores = self.model.predict((docs, segmenting.input()))
        conditions = None
        if any(map(has_constraints, docs)):
            conditions = Conditions(docs, scores.units, self.label_set, (self.objective.space, self.decoder.space))
        return scores, self.reader(conditions), segmenting.starts

    def reader(self, conditions: Conditions | None = None) -> ScoreReader:
        """How the scores of the model are to be read."""
        return ScoreReader(self.objective, self.label_set, self.model.ops, self.cfg["temperature"], conditions)

    def label_hashes(self) -> np.ndarray:
        """(L,) uint64, the hash of each label in the string store."""
        return np.array([self.vocab.strings.add(label) for label in self.labels], dtype=np.uint64)

    def set_annotations(self, docs: Iterable[Doc], parses: Iterable[Parse]) -> None:
        """Write parses to docs: token.head, token.dep, token.is_sent_start, and doc._.mtt."""
        write_parses(list(docs), list(parses))

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
        losses[self.name] += self._learn(examples, drop, sgd, lambda scores: self.get_loss(examples, scores))
        return losses

    def _learn(
        self,
        examples: list[Example],
        drop: float,
        sgd: Optimizer | None,
        get_loss: Callable[[Scores], tuple[float, ScoreGradients]],
    ) -> float:
        """A step down a loss of the scores of examples; its value."""
        docs = [example.predicted for example in examples]
        units = units_of(docs, map(training_starts, examples))
        if not len(units):
            return 0.0
        set_dropout_rate(self.model, drop)
        scores, backprop = self.model.begin_update((docs, units))
        with self._noticing_divergence(scores):
            loss, gradients = get_loss(scores)
        if not np.isfinite(loss):
            raise ValueError(self._diverged(f"the loss is {loss}"))
        backprop(gradients)
        if sgd is not None:
            self.finish_update(sgd)
        return loss

    @contextmanager
    def _noticing_divergence(self, scores: Scores) -> Iterator[None]:
        """What is wrong with scores that have run away is not the scores, but how the model was trained."""
        try:
            yield
        except ValueError as error:
            if np.isfinite(scores.largest_arc) and scores.largest_arc < DIVERGED:
                raise
            raise ValueError(self._diverged(f"there are arc scores of {scores.largest_arc:.3g}")) from error

    def _diverged(self, sign: str) -> str:
        return f"{self.name}: training has diverged, {sign}: lower the learning rate, or clip gradients"

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

        def loss_of(now: Scores) -> tuple[float, ScoreGradients]:
            then = self._rehearsal_model.predict(([example.predicted for example in examples], now.units))
            return divergence(self.reader(), then, now)

        losses[self.name] += self._learn(examples, drop, sgd, loss_of)
        return losses

    def get_loss(self, examples: Iterable[Example], scores: Scores) -> tuple[float, ScoreGradients]:
        """The loss in nats, summed over words, and the gradient of its mean over the batch's words.

        scores: what the model gave for the predicted docs and their units. A word without gold label adds nothing;
        where its head is unknown, the loss sums over all heads.
        """
        examples = list(examples)
        validate_examples(examples, "MatrixTreeParser.get_loss")
        gold, reader = gold_trees(examples, scores.units), self.reader()
        key = partial(gold.key, docs=[example.predicted for example in examples])
        of_parses, gradients = parse_loss(reader, gold, scores, key)
        of_tags, d_tags = tag_loss(reader, examples, scores, self.tag_weight)
        weight = self.sentence_weight if self.cfg["finds_sentences"] else 0.0
        of_starts, d_starts = start_loss(reader, examples, scores, weight)
        return of_parses + of_tags + of_starts, replace(gradients, tags=d_tags, starts=d_starts)

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
        prepare = self.model.attrs.get("prepare")
        if prepare and callable(get_examples):
            # Features of all of them will be in memory anyway, and reading them again and again would take long.
            get_examples = list(get_examples()).copy
        validate_get_examples(get_examples, "MatrixTreeParser.initialize")
        counts = labels if labels is not None else count_labels(get_examples(), self.objective.space, self.name)
        label_set = LabelSet.from_counts(counts, self.cfg["min_label_freq"])
        for label in self.labels:
            label_set.add(label)
        self.cfg.update(label_set.to_dict())
        for label in self.labels:
            self.vocab.strings.add(label)
        sample = [example.x for example in islice(get_examples(), 10)]
        self.set_output(len(self.labels))
        if prepare:
            prepare(self.model, lambda: (each.reference for each in get_examples()), lambda: trees_of(get_examples()))
        if self.model.has_ref("segmenter"):
            self._learn_to_segment(get_examples())
        self.objective.begin(keys_of(get_examples))
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

    # ---- files

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save to a folder, with checksums."""
        super().to_disk(path, exclude=exclude)
        write_checksums(Path(path), ("cfg", "model"))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> MatrixTreeParser:
        """Load from a folder; ValueError that names the file if one is missing, cut off or changed."""
        check(Path(path))
        naming(Path(path), lambda: super(MatrixTreeParser, self).from_disk(path, exclude=exclude))
        return self
