"""networkx: one sentence a call, a DiGraph with weighted edges; multi-root alone."""

from __future__ import annotations

import networkx
import numpy as np

from benchmarks.contenders.contender import NONPROJECTIVE_TREE, Contender


def _graph(scores):
    graph = networkx.DiGraph()
    n = len(scores) - 1
    graph.add_nodes_from(range(n + 1))
    graph.add_weighted_edges_from((h, m, float(scores[h, m])) for h in range(n + 1) for m in range(1, n + 1) if h != m)
    return graph


def _heads(tree):
    heads = np.zeros(len(tree) - 1, dtype=np.intp)
    for head, modifier in tree.edges:
        heads[modifier - 1] = head
    return heads


CONTENDERS = [
    Contender(
        "networkx",
        NONPROJECTIVE_TREE,
        lambda scores, single_root: [_graph(sentence) for sentence in scores],
        lambda graphs: [networkx.maximum_spanning_arborescence(graph) for graph in graphs],
        lambda trees: np.array([_heads(tree) for tree in trees]),
        roots=(False,),
    )
]
