"""The statistics of the generated treebanks, as the Markdown table of assets/README.md."""

from __future__ import annotations

Sentence = list[list[str]]

COLUMNS = ("treebank", "split", "sentences", "tokens", "words a sentence", "longest", "crossing arcs",
           "sentences with crossings", "with two roots", "unseen tokens", "labels")  # fmt: skip


def read(text: str) -> list[Sentence]:
    """The rows of each sentence."""
    return [[row.split("\t") for row in block.split("\n")] for block in text.strip("\n").split("\n\n")]


def crossings(sentence: Sentence) -> int:
    """How many arcs, those from the root at position 0 among them, cross another."""
    spans = [sorted((int(row[0]), int(row[6]))) for row in sentence]
    return sum(any(a < c < b < d or c < a < d < b for c, d in spans) for a, b in spans)


def table(treebanks: dict[str, dict[str, str]]) -> str:
    """A row a split; unseen are the tokens whose form, in lower case, does not occur in train."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + " --- |" * 2 + " ---: |" * (len(COLUMNS) - 2)]
    for name, texts in treebanks.items():
        known = {row[1].lower() for sentence in read(texts["train"]) for row in sentence}
        for split, text in texts.items():
            sentences = read(text)
            rows = [row for sentence in sentences for row in sentence]
            crossed = [crossings(sentence) for sentence in sentences]
            two_roots = sum(sum(row[6] == "0" for row in sentence) > 1 for sentence in sentences)
            unseen = sum(row[1].lower() not in known for row in rows)
            cells = (
                name, split, len(sentences), len(rows), f"{len(rows) / len(sentences):.1f}", max(map(len,
                sentences)),
                f"{sum(crossed) / len(rows):.1%}", f"{sum(map(bool, crossed)) / len(sentences):.1%}",
                f"{two_roots / len(sentences):.1%}", f"{unseen / len(rows):.1%}" if split != "train" else "",
                len({row[7] for row in rows}),
            )  # fmt: skip
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)
