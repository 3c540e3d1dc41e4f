"""The features of an arc in plain words, slowly: templates are read literally and nothing is shared with the kernel."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import product

MASK = (1 << 64) - 1


def text_of_node(words, attribute, node):
    """The values of an attribute at a node, those beyond the sentence included."""
    n = len(words.forms)
    if node < 0:
        return ["\tSTART"]
    if node == 0:
        return ["\tROOT"]
    if node > n:
        return ["\tEND"]
    form = words.forms[node - 1]
    if attribute == "form":
        return [form]
    if attribute == "prefix":
        return [form[:5]]
    if attribute == "feat":
        return [] if words.feats is None else list(words.feats[node - 1])
    column = {"lemma": words.lemmas, "tag": words.tags, "coarse": words.coarse}[attribute]
    return [] if column is None or column[node - 1] in ("", "_") else [column[node - 1]]


def distance_of(h, m):
    direction = "right" if h < m else "left"
    length = abs(h - m)
    if length > 10:
        return f"{direction} 11-"
    return f"{direction} 6-10" if length > 5 else f"{direction} {length}"


def node_of(place, h, m, between):
    return {"h": h, "m": m, "h-1": h - 1, "h+1": h + 1, "m-1": m - 1, "m+1": m + 1, "b": between}[place]


def features(words, templates, h, m):
    """Counter over features: a feature is the tuple of (atom, value), in the order of the template."""
    found = Counter()
    for template in templates:
        if is_mute(words, template, h, m):
            continue
        in_between = any(atom.startswith("b.") for atom in template)
        for b in range(min(h, m) + 1, max(h, m)) if in_between else [None]:
            values = []
            for atom in template:
                if atom == "distance":
                    values.append([distance_of(h, m)])
                else:
                    place, attribute = atom.split(".")
                    values.append(text_of_node(words, attribute, node_of(place, h, m, b)))
            for combination in product(*values):
                found[tuple(zip(template, combination, strict=True))] += 1
    return found


def is_mute(words, template, h, m):
    """Whether a template has prefixes outside of "b", and all of them are whole words."""
    nodes = [node_of(atom.split(".")[0], h, m, None) for atom in template if atom.endswith(".prefix")]
    nodes = [node for node in nodes if node is not None]
    return bool(nodes) and not any(1 <= node <= len(words.forms) and len(words.forms[node - 1]) > 5 for node in nodes)


def hash_text(text):
    return int.from_bytes(blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest(), "little")


def mix(x):
    x &= MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def key(feature):
    """The 64-bit key of a feature: the mixed sum of the hashes of its sides."""
    total = 0
    for side in ("h", "m", "b", "d"):
        atoms = sorted((atom, value) for atom, value in feature if atom[0] == side)
        if atoms:
            x = hash_text(" ".join(atom for atom, _ in atoms))
            for _, value in atoms:
                x = mix(x + hash_text(value))
            total += x
    return mix(total)
