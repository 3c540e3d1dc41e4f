"""Write the embedded treebanks, or check that the committed files are what the seed gives.

python assets/grammar/generate.py             rewrite assets/grammar-*/{train,dev,test}.conll
python assets/grammar/generate.py --check     compare instead of writing; exit status 1 on a difference
python assets/grammar/generate.py --tally     print the table of statistics of assets/README.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from draw import Reject
from dutch import Dutch
from english import English
from tally import table
from tree import Word, to_rows

ASSETS = Path(__file__).resolve().parent.parent
SEED = 2007
SPLITS = {"train": 1000, "dev": 200, "test": 200}
GRAMMARS = {"english": English, "dutch": Dutch}
LENGTHS = range(3, 31)


def plan(rates: dict[str, float], size: int) -> list[str]:
    """The sentence types of a split, each as often as its rate says (largest remainders)."""
    total = sum(rates.values())
    shares = {kind: size * rate / total for kind, rate in rates.items()}
    counts = {kind: int(share) for kind, share in shares.items()}
    by_remainder = sorted(shares, key=lambda kind: counts[kind] - shares[kind])
    for kind in by_remainder[: size - sum(counts.values())]:
        counts[kind] += 1
    return [kind for kind, count in counts.items() for _ in range(count)]


def draw_sentence(grammar, kind: str, seen: set[tuple[str, ...]]) -> list[Word]:
    """A sentence of the type, of a length in LENGTHS, that is not among `seen`."""
    while True:
        try:
            words = grammar.sentence(kind)
        except Reject:
            continue
        forms = tuple(word.form for word in words)
        if len(words) in LENGTHS and forms not in seen:
            seen.add(forms)
            return words


def generate(name: str, seed: int) -> dict[str, str]:
    """The text of each split of the treebank `name`; the same seed gives the same text."""
    grammar = GRAMMARS[name](seed)
    seen: set[tuple[str, ...]] = set()
    texts = {}
    for split, size in SPLITS.items():
        kinds = grammar.d.shuffled(plan(grammar.rates, size))
        sentences = [draw_sentence(grammar, kind, seen) for kind in kinds]
        texts[split] = "".join("\n".join(to_rows(words)) + "\n\n" for words in sentences)
    return texts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=SEED, help="default: %(default)s, that of the committed files")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    what.add_argument("--tally", action="store_true", help="print statistics, write nothing")
    arguments = parser.parse_args()
    treebanks = {name: generate(name, arguments.seed) for name in GRAMMARS}
    if arguments.tally:
        print(table(treebanks))
        return 0
    different = 0
    for name, texts in treebanks.items():
        for split, text in texts.items():
            path = ASSETS / f"grammar-{name}" / f"{split}.conll"
            if not arguments.check:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(text.encode("utf-8"))
            elif not path.exists() or path.read_bytes() != text.encode("utf-8"):
                print(f"{path} is not what the seed {arguments.seed} gives", file=sys.stderr)
                different = 1
    return different


if __name__ == "__main__":
    sys.exit(main())
