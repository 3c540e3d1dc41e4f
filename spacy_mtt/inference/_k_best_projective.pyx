# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Projective trees from the best downwards: Eisner's chart as a hypergraph, its k best derivations found lazily.

This is algorithm 3 of Huang & Chiang (2005), "Better k-best parsing". The vertices are the spans of
_eisner_chart.pxd, the hyperedges the ways to put a span together from two smaller ones:

    RIGHT[i, j]     = ARC_RIGHT[i, r] RIGHT[r, j]    for i < r <= j
    LEFT[i, j]      = LEFT[i, r] ARC_LEFT[r, j]      for i <= r < j
    BETWEEN[i, j]   = RIGHT[i, r] LEFT[r+1, j]       for i <= r < j
    ARC_RIGHT[i, j] = ARC[i, j] BETWEEN[i, j]        ARC_LEFT[i, j] = ARC[j, i] BETWEEN[i, j]
    WORDS[r]        = LEFT[1, r] RIGHT[r, n]         TREE = ARC[0, r] WORDS[r]   for 1 <= r <= n

where the derivations of ARC[h, m] are the labels of that arc. With many roots TREE is RIGHT[0, n]. A tree has one
derivation. The first pass fills the best score of each span; then derivations are made only when asked for. The
k-th derivation (r, a, b) of a span, from the a-th and b-th of its parts, has the successors (r, a, b + 1) and, if b =
0, (r, a + 1, 0), so that each has one predecessor, which is no worse.

Scores are unevaluated sums of two doubles (_twofold_rows.h), so that rounding reorders nothing.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from spacy_mtt.inference._derivations cimport Derivation, Derivations, append, pair, pop, push, sink

cdef extern from "_twofold_rows.h" nogil:
    pair pair_add(pair a, pair b)
    bint pair_greater(pair a, pair b)
    void pair_take_max(Py_ssize_t count, pair a, const double *x_hi, const double *x_lo, double *y_hi, double *y_lo)

cdef enum Kind:
    RIGHT, LEFT, BETWEEN, ARC_RIGHT, ARC_LEFT, ARC, WORDS, TREE, KINDS

cdef struct Vertex:
    Py_ssize_t id
    Derivations found    # best first
    Derivations queue    # a binary heap of candidates
    bint exhausted


cdef class ProjectiveTrees:
    """The labelled projective trees of one sentence in the order of their scores, one for each call of `next`."""

    cdef const double[:, :, ::1] scores
    cdef readonly Py_ssize_t candidates  # how many derivations were scored so far
    cdef Py_ssize_t n, ld, area, n_given
    cdef bint single_root
    cdef double *hi      # the best score of each vertex
    cdef double *lo
    cdef Vertex **vertices
    cdef Py_ssize_t *stack

    def __cinit__(self, const double[:, :, ::1] scores, bint single_root):
        """scores: (n+1, n+1, L) with n >= 1; finite or -inf at arcs, anything elsewhere. O(n^3 + n^2 L)."""
        self.scores, self.single_root = scores, single_root
        self.n = scores.shape[0] - 1
        if self.n < 1 or scores.shape[1] != self.n + 1 or scores.shape[2] < 1:
            raise ValueError("scores must be (n+1, n+1, L) with n and L at least 1")
        self.ld = self.n + 1
        self.area = self.ld * self.ld
        self.hi = <double *> calloc(KINDS * self.area, sizeof(double))
        self.lo = <double *> calloc(KINDS * self.area, sizeof(double))
        self.vertices = <Vertex **> calloc(KINDS * self.area, sizeof(Vertex *))
        # A path down the hypergraph has at most three vertices a word; beside each waits at most one other.
        self.stack = <Py_ssize_t *> calloc(2 * (6 * self.n + 12), sizeof(Py_ssize_t))
        if self.hi == NULL or self.lo == NULL or self.vertices == NULL or self.stack == NULL:
            raise MemoryError(f"no memory for the charts of a sentence of {self.n} words")
        with nogil:
            self.fill()

    def __dealloc__(self):
        cdef Py_ssize_t id
        if self.vertices != NULL:
            for id in range(KINDS * self.area):
                if self.vertices[id] != NULL:
                    free(self.vertices[id].found.items)
                    free(self.vertices[id].queue.items)
                    free(self.vertices[id])
        free(self.hi)
        free(self.lo)
        free(self.vertices)
        free(self.stack)

    def next(self, Py_ssize_t[::1] heads, Py_ssize_t[::1] labels):
        """Write the next tree to heads (n,) and labels (n,), or return False: there are no more."""
        cdef Py_ssize_t goal = self.id(TREE, 0, 0) if self.single_root else self.id(RIGHT, 0, self.n)
        if heads.shape[0] != self.n or labels.shape[0] != self.n:
            raise ValueError(f"heads and labels must have {self.n} entries")
        if self.hi[goal] == -INFINITY:
            return False
        if self.n_given and (self.vertices[goal].exhausted or not self.advance(goal)):
            return False
        self.read(goal, self.n_given, heads, labels)
        self.n_given += 1
        return True

    cdef inline Py_ssize_t id(self, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return kind * self.area + i * self.ld + j

    # ---- best scores

    cdef void fill(self) noexcept nogil:
        cdef Py_ssize_t n = self.n, i, j, h, m, arc
        cdef pair best
        for i in range(KINDS * self.area):
            self.hi[i] = -INFINITY
        for h in range(n + 1):
            for m in range(1, n + 1):
                if m != h:
                    self.hi[self.id(ARC, h, m)] = self.scores[h, m, self.label_after(h, m, -1)]
        for i in range(n, 0 if self.single_root else -1, -1):
            self.fill_row(i)
        if self.single_root:
            for j in range(1, n + 1):
                self.put(self.id(WORDS, 0, j), pair_add(self.at(self.id(LEFT, 1, j)), self.at(self.id(RIGHT, j, n))))
                best = pair_add(self.at(self.id(ARC, 0, j)), self.at(self.id(WORDS, 0, j)))
                if pair_greater(best, self.at(self.id(TREE, 0, 0))):
                    self.put(self.id(TREE, 0, 0), best)

    cdef inline pair at(self, Py_ssize_t id) noexcept nogil:
        cdef pair out
        out.hi, out.lo = self.hi[id], self.lo[id]
        return out

    cdef inline void put(self, Py_ssize_t id, pair score) noexcept nogil:
        self.hi[id], self.lo[id] = score.hi, score.lo

    cdef inline void take(self, Py_ssize_t count, Py_ssize_t a, Py_ssize_t x, Py_ssize_t y) noexcept nogil:
        """The entries from y on become the maximum of themselves and of those from x on plus the one at a."""
        pair_take_max(count, self.at(a), self.hi + x, self.lo + x, self.hi + y, self.lo + y)

    cdef void fill_row(self, Py_ssize_t i) noexcept nogil:
        """All spans from i on, from the rows below. Each entry, when final, goes into all those to its right."""
        cdef Py_ssize_t n = self.n, r, rest
        cdef pair between
        self.hi[self.id(RIGHT, i, i)] = self.hi[self.id(LEFT, i, i)] = 0.0
        for r in range(i, n + 1):
            rest = n - r
            if r > i:
                between = self.at(self.id(BETWEEN, i, r))
                self.put(self.id(ARC_RIGHT, i, r), pair_add(self.at(self.id(ARC, i, r)), between))
                self.put(self.id(ARC_LEFT, i, r), pair_add(self.at(self.id(ARC, r, i)), between))
                self.take(1, self.id(ARC_RIGHT, i, r), self.id(RIGHT, r, r), self.id(RIGHT, i, r))
                self.take(1, self.id(LEFT, i, i), self.id(ARC_LEFT, i, r), self.id(LEFT, i, r))
                self.take(rest, self.id(ARC_RIGHT, i, r), self.id(RIGHT, r, r) + 1, self.id(RIGHT, i, r) + 1)
                self.take(rest, self.id(LEFT, i, r), self.id(ARC_LEFT, r, r) + 1, self.id(LEFT, i, r) + 1)
            if rest:
                self.take(rest, self.id(RIGHT, i, r), self.id(LEFT, r + 1, r + 1), self.id(BETWEEN, i, r) + 1)

    # ---- the hypergraph

    cdef inline Py_ssize_t label_after(self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t label) noexcept nogil:
        """The label next to `label` from the best down, lower ones first among equals; -1 stands before the best."""
        cdef Py_ssize_t l, after = -1
        cdef const double *score = &self.scores[h, m, 0]
        for l in range(self.scores.shape[2]):
            if label < 0 or score[l] < score[label] or (score[l] == score[label] and l > label):
                if after < 0 or score[l] > score[after]:
                    after = l
        return after

    cdef void parts(self, Py_ssize_t id, Py_ssize_t r, Py_ssize_t *first, Py_ssize_t *second) noexcept nogil:
        cdef Py_ssize_t kind = id // self.area, i = id % self.area // self.ld, j = id % self.ld
        if kind == RIGHT:
            first[0], second[0] = self.id(ARC_RIGHT, i, r), self.id(RIGHT, r, j)
        elif kind == LEFT:
            first[0], second[0] = self.id(LEFT, i, r), self.id(ARC_LEFT, r, j)
        elif kind == BETWEEN:
            first[0], second[0] = self.id(RIGHT, i, r), self.id(LEFT, r + 1, j)
        elif kind == ARC_RIGHT:
            first[0], second[0] = self.id(ARC, i, j), self.id(BETWEEN, i, j)
        elif kind == ARC_LEFT:
            first[0], second[0] = self.id(ARC, j, i), self.id(BETWEEN, i, j)
        elif kind == WORDS:
            first[0], second[0] = self.id(LEFT, 1, j), self.id(RIGHT, j, self.n)
        else:
            first[0], second[0] = self.id(ARC, 0, r), self.id(WORDS, 0, r)

    cdef bint is_axiom(self, Py_ssize_t id) noexcept nogil:
        """Whether the span is one word, with one derivation."""
        return id // self.area <= LEFT and id % self.area // self.ld == id % self.ld

    cdef inline pair score(self, Py_ssize_t id, Py_ssize_t k) noexcept nogil:
        return self.at(id) if k == 0 else self.vertices[id].found.items[k].score

    cdef int consider(self, Vertex *v, Py_ssize_t r, Py_ssize_t a, Py_ssize_t b, bint sift) except -1:
        """Queue the derivation (r, a, b) of v, whose parts' derivations are known, unless an arc is forbidden."""
        cdef Py_ssize_t first, second
        cdef Derivation item
        self.parts(v.id, r, &first, &second)
        item.score = pair_add(self.score(first, a), self.score(second, b))
        item.r, item.a, item.b = r, a, b
        if item.score.hi > -INFINITY:
            self.candidates += 1
            if sift:
                push(&v.queue, item)
            else:
                append(&v.queue, item)
        return 0

    cdef Vertex *vertex(self, Py_ssize_t id) except NULL:
        """The vertex with its best derivation, made when first asked for. O(number of splits)."""
        cdef Vertex *v = self.vertices[id]
        cdef Py_ssize_t kind = id // self.area, i = id % self.area // self.ld, j = id % self.ld, r
        cdef Py_ssize_t begin = 0, end = 1
        cdef Derivation best
        if v != NULL:
            return v
        v = <Vertex *> calloc(1, sizeof(Vertex))
        if v == NULL:
            raise MemoryError("no memory for more trees")
        v.id = id
        self.vertices[id] = v
        if kind == ARC:
            best.score, best.r, best.a, best.b = self.at(id), self.label_after(i, j, -1), 0, 0
            append(&v.found, best)
            return v
        if kind == RIGHT:
            begin, end = i + 1, j + 1
        elif kind == LEFT or kind == BETWEEN:
            begin, end = i, j
        elif kind == TREE:
            begin, end = 1, self.n + 1
        for r in range(begin, end):
            self.consider(v, r, 0, 0, False)
        for r in range(v.queue.count // 2 - 1, -1, -1):
            sink(v.queue.items, v.queue.count, r)
        append(&v.found, pop(&v.queue))
        return v

    cdef bint waits(self, Py_ssize_t id, Py_ssize_t k, Py_ssize_t *top) noexcept nogil:
        """Whether a part has yet to find its k-th derivation, or that there is none; it then goes on the stack."""
        cdef Vertex *v = self.vertices[id]
        if k == 0 or self.is_axiom(id) or (v != NULL and (v.exhausted or v.found.count > k)):
            return False
        self.stack[top[0]] = id
        top[0] += 1
        return True

    cdef inline bint exists(self, Py_ssize_t id, Py_ssize_t k) noexcept nogil:
        return k == 0 or (self.vertices[id] != NULL and self.vertices[id].found.count > k)

    cdef bint advance(self, Py_ssize_t goal) except -1:
        """Find one more derivation of the goal; False if there is none."""
        cdef Py_ssize_t top = 1, first, second
        cdef Derivation *last
        cdef Vertex *v
        cdef bint waiting
        self.stack[0] = goal
        while top:
            v = self.vertex(self.stack[top - 1])
            last = &v.found.items[v.found.count - 1]
            if v.id // self.area == ARC:
                self.next_label(v)
                top -= 1
                continue
            self.parts(v.id, last.r, &first, &second)
            waiting = self.waits(second, last.b + 1, &top)
            if last.b == 0:
                waiting |= self.waits(first, last.a + 1, &top)
            if waiting:
                continue
            if self.exists(second, last.b + 1):
                self.consider(v, last.r, last.a, last.b + 1, True)
            if last.b == 0 and self.exists(first, last.a + 1):
                self.consider(v, last.r, last.a + 1, 0, True)
            if v.queue.count:
                append(&v.found, pop(&v.queue))
            else:
                v.exhausted = True
            top -= 1
        return not self.vertices[goal].exhausted

    cdef int next_label(self, Vertex *v) except -1:
        cdef Derivation item = v.found.items[v.found.count - 1]
        cdef Py_ssize_t h = v.id % self.area // self.ld, m = v.id % self.ld
        item.r = self.label_after(h, m, item.r)
        if item.r < 0 or self.scores[h, m, item.r] == -INFINITY:
            v.exhausted = True
            return 0
        item.score.hi = self.scores[h, m, item.r]
        self.candidates += 1
        return append(&v.found, item)

    cdef int read(self, Py_ssize_t goal, Py_ssize_t k, Py_ssize_t[::1] heads, Py_ssize_t[::1] labels) except -1:
        """Write the tree that the goal's k-th derivation stands for. O(n) once its vertices are made."""
        cdef Py_ssize_t top = 1, id, first, second
        cdef Derivation item
        self.stack[0], self.stack[1] = goal, k
        while top:
            top -= 1
            id, k = self.stack[2 * top], self.stack[2 * top + 1]
            if self.is_axiom(id):
                continue
            item = self.vertex(id).found.items[k]
            if id // self.area == ARC:
                heads[id % self.ld - 1] = id % self.area // self.ld
                labels[id % self.ld - 1] = item.r
                continue
            self.parts(id, item.r, &first, &second)
            self.stack[2 * top], self.stack[2 * top + 1] = first, item.a
            self.stack[2 * top + 2], self.stack[2 * top + 3] = second, item.b
            top += 2
        return 0
