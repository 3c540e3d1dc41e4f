"""Parses and speed of a pipeline on the CPU and on a GPU, side by side.

    python -m benchmarks.gpu training/model-best test.conllu

Says how many words get the same head and label on both, and how many a second are parsed; exit code 1 if fewer than
--least percent are the same. Scores are sums of float32 in another order there, so trees of like scores may change
places.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import spacy

from spacy_mtt.treebanks.pipelines import ParsedTreebank, parse_with
from spacy_mtt.treebanks.reading import read_treebank


def parsed_on(gpu: int | None, model: str, treebank: Path, batch_size: int) -> ParsedTreebank:
    """The treebank as the pipeline parses it on a device; ValueError if there is none of that number."""
    spacy.require_cpu() if gpu is None else spacy.require_gpu(gpu)
    nlp, sentences = spacy.load(model), list(read_treebank(treebank))
    parse_with(nlp, sentences[:batch_size], batch_size=batch_size)  # kernels are compiled when they are first used
    return parse_with(nlp, sentences, sents_per_doc=10, batch_size=batch_size)


def same(left: ParsedTreebank, right: ParsedTreebank) -> float:
    """The percentage of words with the same head and label."""
    pairs = [
        (head == other_head) and (label == other_label)
        for one, other in zip(left.sentences, right.sentences, strict=True)
        for head, other_head, label, other_label in zip(
            one.heads.tolist(), other.heads.tolist(), one.deprels, other.deprels, strict=True
        )
    ]
    return 100 * sum(pairs) / max(1, len(pairs))


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="pipeline: name or path")
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--gpu-id", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=128, help="docs of ten sentences")
    parser.add_argument("--least", type=float, default=99.9, help="percent of words that have to be the same")
    options = parser.parse_args(arguments)
    given = (options.model, options.treebank, options.batch_size)
    try:
        gpu = parsed_on(options.gpu_id, *given)
    except ValueError as error:
        sys.exit(f"error: no GPU {options.gpu_id}: {str(error).strip().splitlines()[0]}")
    cpu = parsed_on(None, *given)
    share = same(cpu, gpu)
    print(
        f"{share:.3f} % of {cpu.words} words the same; GPU {gpu.words_per_second:,.0f} words a second, "
        f"CPU {cpu.words_per_second:,.0f}"
    )
    if share < options.least:
        sys.exit(1)


if __name__ == "__main__":
    main()
