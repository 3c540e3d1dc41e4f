"""Parsing a treebank with a spaCy pipeline, under stated conditions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mtt.treebanks.docs import blank_doc, sentences_to_doc
from spacy_mtt.treebanks.evaluation import EvaluationError
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.sentence import TreebankSentence

_TAG_ATTRIBUTES = frozenset({"token.tag", "token.pos", "token.morph", "token.lemma"})
_SENTENCE_ATTRIBUTES = frozenset({"token.is_sent_start", "doc.sents"})


@dataclass(frozen=True)
class ParsedTreebank:
    """Predicted sentences, the same as spaCy Examples, and how long the pipeline took."""

    sentences: list[TreebankSentence]
    examples: list[Example]
    words: int
    seconds: float

    @property
    def words_per_second(self) -> float:
        """Words parsed in a second."""
        return self.words / self.seconds if self.seconds else 0.0


def parse_with(
    nlp: Language,
    sentences: Sequence[TreebankSentence],
    *,
    gold_tags: bool = False,
    gold_sents: bool = True,
    sents_per_doc: int = 1,
    batch_size: int = 64,
) -> ParsedTreebank:
    """Parse gold words with a pipeline, `sents_per_doc` consecutive sentences in a Doc.

    gold_tags: tags, morphology and lemmas are those of the treebank; components that assign them do not run.
    gold_sents: sentence boundaries are those of the treebank; components that do nothing but find them do not
    run.

    spaCy's own parser labels every root `ROOT`; where all roots of the treebank have one label that differs
    only in its case (`root`), the predicted sentences get that one, as it would be an error by the rules of
    CoNLL-X and UD otherwise.

    Raises EvaluationError if the pipeline fails or gives no word a head.
    """
    groups = [sentences[i : i + sents_per_doc] for i in range(0, len(sentences), sents_per_doc)]
    docs = [blank_doc(group, nlp.vocab, gold_tags=gold_tags, gold_sents=gold_sents) for group in groups]
    unneeded = [name for name in nlp.pipe_names if _is_unneeded(nlp, name, gold_tags=gold_tags, gold_sents=gold_sents)]
    with nlp.select_pipes(disable=unneeded):
        start = time.perf_counter()
        parsed = _run(nlp, docs, batch_size)
        seconds = time.perf_counter() - start
    if not any(_is_parsed(doc) for doc in parsed):
        names = ", ".join(nlp.pipe_names) or "no components"
        raise EvaluationError(f"the pipeline ({names}) gives no word a head, it needs a dependency parser")
    predicted = [each for doc in parsed for each in doc_to_sentences(doc, doc_sents=not gold_sents)]
    root = _root_label(sentences)
    return ParsedTreebank(
        sentences=[_with_root_label(each, root) for each in predicted] if root else predicted,
        examples=[Example(doc, sentences_to_doc(group, nlp.vocab)) for doc, group in zip(parsed, groups, strict=True)],
        words=sum(map(len, parsed)),
        seconds=seconds,
    )


def _run(nlp: Language, docs: Sequence[Doc], batch_size: int) -> list[Doc]:
    """All Docs through the pipeline; what a component raises becomes an EvaluationError."""
    try:
        return list(nlp.pipe(docs, batch_size=batch_size))
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise EvaluationError(f"the pipeline fails: {type(error).__name__}: {reason}") from error


def _root_label(sentences: Sequence[TreebankSentence]) -> str | None:
    """The label of all roots if it is a variant of `ROOT` in other case, else None."""
    labels = {
        label
        for sentence in sentences
        for head, label in zip(sentence.heads.tolist(), sentence.deprels, strict=True)
        if head == 0
    }
    label = labels.pop() if len(labels) == 1 else ""
    return label if label.upper() == "ROOT" != label else None


def _with_root_label(sentence: TreebankSentence, root: str) -> TreebankSentence:
    labels = [
        root if head == 0 and label == "ROOT" else label
        for head, label in zip(sentence.heads.tolist(), sentence.deprels, strict=True)
    ]
    return sentence.with_tree(sentence.heads, labels)


def _is_unneeded(nlp: Language, name: str, *, gold_tags: bool, gold_sents: bool) -> bool:
    """Whether a component would only put its own annotation over the gold one."""
    meta = nlp.get_pipe_meta(name)
    assigns = set(meta.assigns)
    if "token.dep" in assigns:
        return False
    tags = bool(assigns & _TAG_ATTRIBUTES) or meta.factory == "attribute_ruler"
    return (gold_tags and tags) or (gold_sents and bool(assigns & _SENTENCE_ATTRIBUTES))


def _is_parsed(doc: Doc) -> bool:
    return doc.has_annotation("DEP") or (Doc.has_extension("mtt") and doc._.mtt is not None)
