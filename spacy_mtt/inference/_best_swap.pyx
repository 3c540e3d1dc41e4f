# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The arc of a best tree that is cheapest to do without: the step from a best tree to the second best.

Let A be a best tree. The second best has some arc of A replaced: for a word x, or a set of words that a cycle of
best arcs contracts to one node, the arc of A that enters it gives way to the best other arc that enters it from
a word not below it in A (Camerini, Fratta & Maffioli 1980, "The k best spanning arborescences of a network";
for parsing, Zmigrod, Vieira & Cotterell 2021, "On finding the K-best non-projective dependency trees"). The
second best tree is then a best tree without that arc.

That A is known makes the contraction simple. Take the words from the leaves of A upwards. As A is best, only an
arc from below x, from some u, can be better than x's own arc in A. If one is, x, u and what lies between them in
A are a cycle: they become one node, which A still enters by x's own arc; look again. Otherwise the node is
settled. A node's row keeps, for each head, its best arc into the node, less what the arcs of the cycle around
that arc's word lose; arcs of A are not in the rows.

With a single root, arcs compare by (-number of root arcs, score): any arc from below the root's word is better
than its own, and no other node takes a root arc. See _arborescence.pyx.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cdef extern from "_twofold_rows.h" nogil:
    ctypedef struct pair:
        double hi
        double lo
    pair pair_add(pair a, pair b)
    pair pair_negate(pair a)
    bint pair_greater(pair a, pair b)
    void pair_take_max(Py_ssize_t count, pair a, const double *x_hi, const double *x_lo, double *y_hi, double *y_lo)
    Py_ssize_t pair_row_maximum(const double *hi, const double *lo, Py_ssize_t first, Py_ssize_t end)


cdef struct Workspace:
    # Everything by places: the nodes 0..n in an order of A where what lies below x are the places x+1 .. end[x]-1.
    Py_ssize_t n
    double *hi           # [x, u]: the best arc from u into the node whose topmost word is x
    double *lo
    pair *own            # the arc of A into that node
    Py_ssize_t *end
    Py_ssize_t *parent
    Py_ssize_t *top      # the topmost word of the node that holds x
    Py_ssize_t *next     # the words of a node as a ring
    Py_ssize_t *node     # at this place
    Py_ssize_t *place    # of this node
    Py_ssize_t *child    # scratch: the first child and the next sibling of a node
    Py_ssize_t *sibling


cdef inline size_t cells_needed(Py_ssize_t n) noexcept nogil:
    return 2 * (n + 1) * (n + 1) + 10 * (n + 1)


cdef void lay_out(Workspace *ws, void *cells, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t nodes = n + 1
    cdef double *block = <double *> cells
    ws.n = n
    ws.hi, ws.lo = block, block + nodes * nodes
    ws.own = <pair *> (block + 2 * nodes * nodes)
    cdef Py_ssize_t *ints = <Py_ssize_t *> (block + 2 * nodes * nodes + 2 * nodes)
    ws.end, ws.parent, ws.top, ws.next = ints, ints + nodes, ints + 2 * nodes, ints + 3 * nodes
    ws.node, ws.place = ints + 4 * nodes, ints + 5 * nodes
    ws.child, ws.sibling = ints + 6 * nodes, ints + 7 * nodes


cdef void place_nodes(Workspace *ws, const Py_ssize_t *heads) noexcept nogil:
    """Number the nodes of A in preorder, children from left to right. O(n)."""
    cdef Py_ssize_t n = ws.n, m, x = 0, node = 0
    for m in range(n + 1):
        ws.child[m] = -1
    for m in range(n, 0, -1):
        ws.sibling[m] = ws.child[heads[m - 1]]
        ws.child[heads[m - 1]] = m
    while True:
        ws.node[x], ws.place[node] = node, x
        ws.top[x] = ws.next[x] = x
        if node:
            ws.parent[x] = ws.place[heads[node - 1]]
        x += 1
        if ws.child[node] >= 0:
            node = ws.child[node]
            continue
        while node and ws.sibling[node] < 0:
            ws.end[ws.place[node]] = x
            node = heads[node - 1]
        ws.end[ws.place[node]] = x
        if node == 0:
            return
        node = ws.sibling[node]


cdef void fill_rows(Workspace *ws, const double[:, ::1] scores) noexcept nogil:
    cdef Py_ssize_t n = ws.n, x, u
    cdef double *hi = ws.hi
    cdef const double *row
    for u in range(n + 1):
        row = &scores[ws.node[u], 0]
        for x in range(1, n + 1):
            hi[x * (n + 1) + u] = row[ws.node[x]]
    for x in range((n + 1) * (n + 1)):
        ws.lo[x] = 0.0
    for x in range(1, n + 1):
        ws.own[x].hi, ws.own[x].lo = hi[x * (n + 1) + ws.parent[x]], 0.0
        hi[x * (n + 1) + ws.parent[x]] = hi[x * (n + 1) + x] = -INFINITY


cdef void contract(Workspace *ws, Py_ssize_t x, Py_ssize_t u) noexcept nogil:
    """Let the node of x take in those between it and u, given that x takes the arc from u. O(n) for each of them."""
    cdef Py_ssize_t n = ws.n, t = ws.top[u], y, after
    cdef double *hi = ws.hi + x * (n + 1)
    cdef double *lo = ws.lo + x * (n + 1)
    cdef pair gained
    gained.hi, gained.lo = hi[u], lo[u]
    while t != x:
        # In the frame of x's row: an arc into t loses t's own arc and wins the one from u.
        pair_take_max(n + 1, pair_add(gained, pair_negate(ws.own[t])), ws.hi + t * (n + 1), ws.lo + t * (n + 1), hi, lo)
        y = t
        while True:
            ws.top[y] = x
            if ws.next[y] == t:
                break
            y = ws.next[y]
        after = ws.top[ws.parent[t]]
        ws.next[y], ws.next[x] = ws.next[x], t
        t = after
    y = ws.next[x]
    while y != x:
        hi[y] = -INFINITY
        lo[y] = 0.0
        y = ws.next[y]
    hi[x], lo[x] = -INFINITY, 0.0


cdef pair settle(Workspace *ws, Py_ssize_t x, bint single_root) noexcept nogil:
    """Contract the node of x until it is settled; the best other arc into it from a node not below it."""
    cdef Py_ssize_t n = ws.n, u
    cdef double *hi = ws.hi + x * (n + 1)
    cdef double *lo = ws.lo + x * (n + 1)
    cdef bint at_root = single_root and ws.parent[x] == 0
    cdef pair arc, other
    while True:
        u = pair_row_maximum(hi, lo, x + 1, ws.end[x])
        if u < 0:
            break
        arc.hi, arc.lo = hi[u], lo[u]
        if not at_root and not pair_greater(arc, ws.own[x]):
            break
        contract(ws, x, u)
    arc.hi, arc.lo = -INFINITY, 0.0
    u = pair_row_maximum(hi, lo, 1 if single_root and not at_root else 0, x)
    if u >= 0:
        arc.hi, arc.lo = hi[u], lo[u]
    u = pair_row_maximum(hi, lo, ws.end[x], n + 1)
    if u >= 0:
        other.hi, other.lo = hi[u], lo[u]
        if pair_greater(other, arc):
            arc = other
    return arc


def cheapest_arc(
    const double[:, ::1] scores, const Py_ssize_t[::1] heads, const double[::1] spare, bint single_root
):
    """The word (1..n) whose arc of the best tree `heads` (n,) a second best tree lacks; 0 if no other tree exists.

    scores: (n+1, n+1), finite or -inf at arcs, -inf elsewhere. spare: (n,), the score of the best other arc between
    the same two words (arcs have labels), or -inf. Of equally good words, the lowest. O(n^2) time and memory.
    """
    cdef Py_ssize_t n = heads.shape[0], x, m, best = 0
    cdef pair loss, arc, least
    cdef Workspace ws
    if n == 0:
        return 0
    cdef void *cells = malloc(cells_needed(n) * sizeof(double))
    if cells == NULL:
        raise MemoryError(f"no memory for the second best tree of a sentence of {n} words")
    with nogil:
        lay_out(&ws, cells, n)
        place_nodes(&ws, &heads[0])
        fill_rows(&ws, scores)
        least.hi, least.lo = INFINITY, 0.0
        for x in range(n, 0, -1):
            m = ws.node[x]
            arc.hi, arc.lo = spare[m - 1], 0.0
            loss = pair_add(arc, pair_negate(ws.own[x]))
            arc = pair_add(settle(&ws, x, single_root), pair_negate(ws.own[x]))
            loss = pair_negate(arc if pair_greater(arc, loss) else loss)
            if loss.hi < INFINITY and (pair_greater(least, loss) or (m < best and not pair_greater(loss, least))):
                least, best = loss, m
        free(cells)
    return best


def restrict(
    const double[:, ::1] best, const double[:, :, ::1] scores, const Py_ssize_t[:, ::1] used,
    const unsigned char[::1] required, const Py_ssize_t[::1] heads, const double[::1] arc_scores,
    double[:, ::1] restricted,
):
    """Write the scores (n+1, n+1) of the arcs that a cell of trees allows to `restricted`. O(n^2).

    best: the scores of the arcs with their best labels; scores: (n+1, n+1, L) with any. used: (U, 2) flat indices of
    arcs and the labels, perhaps -1, that remain best for them. required: (n,) whether a word keeps its arc of the
    tree `heads` (n,), which scores arc_scores[m - 1]: all others into it become -inf.
    """
    cdef Py_ssize_t n = heads.shape[0], size = n + 1, n_labels = scores.shape[2], h, m, i
    cdef double *out = &restricted[0, 0]
    cdef const double *labelled = &scores[0, 0, 0]
    with nogil:
        memcpy(out, &best[0, 0], size * size * sizeof(double))
        for i in range(used.shape[0]):
            out[used[i, 0]] = labelled[used[i, 0] * n_labels + used[i, 1]] if used[i, 1] >= 0 else -INFINITY
        for m in range(1, n + 1):
            if required[m - 1]:
                for h in range(size):
                    out[h * size + m] = -INFINITY
                out[heads[m - 1] * size + m] = arc_scores[m - 1]
