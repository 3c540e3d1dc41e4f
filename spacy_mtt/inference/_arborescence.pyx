# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The best arborescence of each sentence of a batch. arborescence.py explains the method.

Nodes of one sentence: 0 is the root, 1..n are the words, and from n+1 on come the contracted cycles in the
order of their contraction. A node is *on top* while no cycle has swallowed it.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cdef extern from "_arborescence.h" nogil:
    void column_maxima "mtt_column_maxima"(
        const double *scores, Py_ssize_t stride, Py_ssize_t n, double *best, int64_t *head) noexcept
    void merge_word "mtt_merge_word"(
        const double *in_hi, int64_t in_word, double y_hi, double y_lo, Py_ssize_t n,
        double *hi, double *lo, int64_t *word) noexcept
    void merge_cycle "mtt_merge_cycle"(
        const double *in_hi, const double *in_lo, const int64_t *in_word, double y_hi, double y_lo,
        Py_ssize_t n, double *hi, double *lo, int64_t *word) noexcept
    Py_ssize_t row_maximum "mtt_row_maximum"(
        const double *hi, const double *lo, Py_ssize_t first, Py_ssize_t n) noexcept


cdef enum Status:
    SOLVED, NO_TREE, TOO_LARGE

cdef enum State:
    NEW, ON_PATH, SETTLED, UNDONE

# Reduced weights are at most 2 n max|score| in size. A sentence with scores beyond LARGE is scaled down: what
# underflows then is too small to tell apart beside them anyway.
cdef double LARGE = 2.0 ** 990
cdef double SHRINK = 2.0 ** -64

cdef struct Workspace:
    # By node, 0..2n: the best arc that enters it, and its place among the contracted cycles.
    double *best_hi      # the arc's reduced weight is best_hi + best_lo
    double *best_lo
    int64_t *head        # the arc goes from head (0..n, -1: none)
    int64_t *word        # to word (1..n), which lies in the node
    int64_t *cycle       # the cycle that swallowed the node; 0: on top
    int64_t *state
    int64_t *row         # where a cycle's row is kept
    int64_t *first       # a node's words as a linked list: first, next[first], ..., last
    int64_t *last
    # By node 0..n
    int64_t *next
    int64_t *top         # the node on top that holds this one
    int64_t *path
    double *column
    # A row for each cycle on top (each has two words or more) and for one in the making; entry u: the best
    # arc from head u, as a reduced weight and the word it enters
    double *row_hi
    double *row_lo
    int64_t *row_word
    int64_t *free_rows
    Py_ssize_t n_free
    # The sentence
    const double *scores
    Py_ssize_t stride    # from one head's scores to the next head's
    Py_ssize_t n
    Py_ssize_t n_nodes
    double scale         # a power of two, times which scores enter the reduced weights


cdef inline Py_ssize_t rows_needed(Py_ssize_t n) noexcept nogil:
    return n // 2 + 1


cdef inline Py_ssize_t cells_needed(Py_ssize_t n) noexcept nogil:
    """The size of a workspace for sentences of up to n words, in cells of 8 bytes."""
    return 9 * (2 * n + 1) + 4 * (n + 1) + rows_needed(n) * (3 * (n + 1) + 1)


cdef inline void *take(void **cells, Py_ssize_t count) noexcept nogil:
    cdef void *taken = cells[0]
    cells[0] = <double *>taken + count
    return taken


cdef void lay_out(Workspace *ws, void *cells, Py_ssize_t n) noexcept nogil:
    """Give every array of the workspace its part of `cells`, cells_needed(n) of them."""
    cdef Py_ssize_t nodes = 2 * n + 1, heads = n + 1, rows = rows_needed(n)
    ws.best_hi = <double *>take(&cells, nodes)
    ws.best_lo = <double *>take(&cells, nodes)
    ws.head = <int64_t *>take(&cells, nodes)
    ws.word = <int64_t *>take(&cells, nodes)
    ws.cycle = <int64_t *>take(&cells, nodes)
    ws.state = <int64_t *>take(&cells, nodes)
    ws.row = <int64_t *>take(&cells, nodes)
    ws.first = <int64_t *>take(&cells, nodes)
    ws.last = <int64_t *>take(&cells, nodes)
    ws.next = <int64_t *>take(&cells, heads)
    ws.top = <int64_t *>take(&cells, heads)
    ws.path = <int64_t *>take(&cells, heads)
    ws.column = <double *>take(&cells, heads)
    ws.row_hi = <double *>take(&cells, rows * heads)
    ws.row_lo = <double *>take(&cells, rows * heads)
    ws.row_word = <int64_t *>take(&cells, rows * heads)
    ws.free_rows = <int64_t *>take(&cells, rows)


cdef void reset(Workspace *ws) noexcept nogil:
    """One node on top for each word, entered by its best arc; no cycles. O(n^2), in column_maxima."""
    cdef Py_ssize_t m
    column_maxima(ws.scores, ws.stride, ws.n, ws.best_hi, ws.head)
    for m in range(1, ws.n + 1):
        ws.best_hi[m] *= ws.scale
        ws.best_lo[m] = 0.0
        ws.word[m] = ws.first[m] = ws.last[m] = ws.top[m] = m
        ws.cycle[m] = 0
        ws.state[m] = NEW
    ws.top[0] = 0
    ws.state[0] = SETTLED
    ws.n_nodes = ws.n + 1
    ws.n_free = rows_needed(ws.n)
    for m in range(ws.n_free):
        ws.free_rows[m] = m


cdef Status gather_column(Workspace *ws, Py_ssize_t m) noexcept nogil:
    """Copy the scaled scores of all arcs into word m to ws.column, the diagonal as an absent arc. O(n)."""
    cdef const double *score = ws.scores + m
    cdef double x, largest = 0.0
    cdef Py_ssize_t h
    for h in range(ws.n + 1):
        x = -INFINITY if h == m else score[h * ws.stride] * ws.scale
        ws.column[h] = x
        x = 0.0 if x == -INFINITY else fabs(x)
        largest = x if x > largest else largest
    return TOO_LARGE if largest > LARGE else SOLVED


cdef void choose_arc(Workspace *ws, Py_ssize_t node, bint from_root) noexcept nogil:
    """Choose the best arc into the cycle `node`; unless `from_root`, a root arc only if need be. O(n)."""
    cdef Py_ssize_t offset = ws.row[node] * (ws.n + 1)
    cdef double *hi = ws.row_hi + offset
    cdef double *lo = ws.row_lo + offset
    cdef Py_ssize_t head = row_maximum(hi, lo, 0 if from_root else 1, ws.n)
    if head < 0 and hi[0] > -INFINITY:
        head = 0
    ws.head[node] = head
    if head >= 0:
        ws.best_hi[node], ws.best_lo[node] = hi[head], lo[head]
        ws.word[node] = ws.row_word[offset + head]


cdef Status contract(
    Workspace *ws, const int64_t *members, Py_ssize_t n_members, bint from_root
) noexcept nogil:
    """Make one node of a cycle of nodes on top: the new node is ws.n_nodes - 1. O(n * n_members).

    For a head u outside, the reduced weight of an arc from u into member i is what it gains over the arc that
    i has in the cycle: new_row[u] = max over i of (row_i[u] - best_i).
    """
    cdef Py_ssize_t n = ws.n, node = ws.n_nodes, i, u
    cdef Py_ssize_t member, offset, word
    ws.n_nodes += 1
    ws.n_free -= 1
    ws.row[node] = ws.free_rows[ws.n_free]
    cdef Py_ssize_t new = ws.row[node] * (n + 1)
    for u in range(n + 1):
        ws.row_hi[new + u], ws.row_lo[new + u], ws.row_word[new + u] = -INFINITY, 0.0, 0
    for i in range(n_members):
        member = members[i]
        if member <= n:
            if gather_column(ws, member) == TOO_LARGE:
                return TOO_LARGE
            merge_word(ws.column, member, ws.best_hi[member], 0.0, n,
                       ws.row_hi + new, ws.row_lo + new, ws.row_word + new)
        else:
            offset = ws.row[member] * (n + 1)
            merge_cycle(ws.row_hi + offset, ws.row_lo + offset, ws.row_word + offset,
                        ws.best_hi[member], ws.best_lo[member], n,
                        ws.row_hi + new, ws.row_lo + new, ws.row_word + new)
            ws.free_rows[ws.n_free] = ws.row[member]
            ws.n_free += 1
        ws.cycle[member] = node
        if i == 0:
            ws.first[node] = ws.first[member]
        else:
            ws.next[ws.last[node]] = ws.first[member]
        ws.last[node] = ws.last[member]
    ws.next[ws.last[node]] = 0
    ws.cycle[node] = 0
    word = ws.first[node]
    while word:
        ws.top[word] = node
        ws.row_hi[new + word] = -INFINITY  # no arc from inside
        word = ws.next[word]
    choose_arc(ws, node, from_root)
    return SOLVED


cdef Status settle(Workspace *ws, bint from_root) noexcept nogil:
    """Contract cycles of best arcs until the best arcs of the nodes on top form a tree. O(n^2).

    Walk from node to head; a walk that bites itself is contracted from there on, one that meets the root or a
    settled node is settled. Each step adds one of at most 2n nodes to the path.
    """
    cdef Py_ssize_t start, length, k, above
    for start in range(1, ws.n + 1):
        if ws.state[ws.top[start]] == SETTLED:
            continue
        ws.path[0] = ws.top[start]
        ws.state[ws.path[0]] = ON_PATH
        length = 1
        while True:
            if ws.head[ws.path[length - 1]] < 0:
                return NO_TREE
            above = ws.top[ws.head[ws.path[length - 1]]]
            if ws.state[above] == SETTLED:
                break
            if ws.state[above] == NEW:
                ws.path[length] = above
                length += 1
            else:
                k = length - 1
                while ws.path[k] != above:
                    k -= 1
                if contract(ws, ws.path + k, length - k, from_root) == TOO_LARGE:
                    return TOO_LARGE
                ws.path[k] = ws.n_nodes - 1
                length = k + 1
            ws.state[ws.path[length - 1]] = ON_PATH
        for k in range(length):
            ws.state[ws.path[k]] = SETTLED
    return SOLVED


cdef Py_ssize_t count_roots(Workspace *ws) noexcept nogil:
    """How many nodes on top are entered from the root."""
    cdef Py_ssize_t node, count = 0
    for node in range(1, ws.n_nodes):
        count += ws.cycle[node] == 0 and ws.head[node] == 0
    return count


cdef void leave_root(Workspace *ws) noexcept nogil:
    """Let each node on top that the root enters choose another arc if it has one; unsettle all. O(n^2)."""
    cdef Py_ssize_t node, head
    cdef double x
    for node in range(1, ws.n_nodes):
        if ws.cycle[node]:
            continue
        ws.state[node] = NEW
        if ws.head[node]:
            continue
        if node > ws.n:
            choose_arc(ws, node, False)
            continue
        for head in range(1, ws.n + 1):
            x = -INFINITY if head == node else ws.scores[head * ws.stride + node] * ws.scale
            if x > -INFINITY and (ws.head[node] == 0 or x > ws.best_hi[node]):
                ws.head[node], ws.best_hi[node] = head, x


cdef void expand(Workspace *ws, Py_ssize_t *heads) noexcept nogil:
    """Undo the contractions, youngest first, and write the tree to heads[0..n-1]. O(n).

    The arc that enters a cycle replaces the chosen arc of each node around its word: they are undone with it.
    """
    cdef Py_ssize_t node, inner
    for node in range(1, ws.n + 1):
        heads[node - 1] = ws.head[node]
    for node in range(ws.n_nodes - 1, ws.n, -1):
        if ws.state[node] == UNDONE:
            continue
        inner = ws.word[node]
        heads[inner - 1] = ws.head[node]
        while inner != node:
            inner = ws.cycle[inner]
            ws.state[inner] = UNDONE


cdef Status solve(Workspace *ws, bint single_root, Py_ssize_t *heads) noexcept nogil:
    """Write the best tree of the workspace's sentence to heads[0..n-1], if SOLVED. O(n^2)."""
    reset(ws)
    cdef Status status = settle(ws, True)
    if status == SOLVED and single_root and count_roots(ws) > 1:
        leave_root(ws)
        status = settle(ws, False)
        if status == SOLVED and count_roots(ws) > 1:
            status = NO_TREE
    if status == SOLVED:
        expand(ws, heads)
    return status


def argmax(
    const double[:, :, ::1] scores,
    const Py_ssize_t[::1] lengths,
    bint single_root,
    Py_ssize_t[:, ::1] heads,
):
    """Write the best tree of each sentence b to heads[b, :lengths[b]], or nothing where no tree exists."""
    cdef Workspace ws
    cdef Py_ssize_t longest = 0, b
    cdef Status status
    for b in range(lengths.shape[0]):
        longest = max(longest, lengths[b])
    if longest == 0:
        return
    cdef void *cells = malloc(cells_needed(longest) * sizeof(double))
    if cells == NULL:
        raise MemoryError(f"no memory to decode a sentence of {longest} words")
    with nogil:
        lay_out(&ws, cells, longest)
        ws.stride = scores.shape[2]
        for b in range(lengths.shape[0]):
            ws.n = lengths[b]
            if ws.n == 0:
                continue
            ws.scores = &scores[b, 0, 0]
            ws.scale = 1.0
            status = solve(&ws, single_root, &heads[b, 0])
            if status == TOO_LARGE:
                ws.scale = SHRINK
                solve(&ws, single_root, &heads[b, 0])
        free(cells)
