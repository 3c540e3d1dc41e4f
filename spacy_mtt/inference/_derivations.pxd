# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Growing lists of a span's derivations, and binary heaps of them, the best on top."""

from libc.stdlib cimport realloc

cdef extern from "_twofold_rows.h" nogil:
    ctypedef struct pair:
        double hi
        double lo
    bint pair_greater(pair a, pair b)

cdef struct Derivation:
    pair score
    Py_ssize_t r         # the split, the root's word, or the label
    Py_ssize_t a         # which derivation of the first part
    Py_ssize_t b         # and of the second

cdef struct Derivations:
    Derivation *items
    Py_ssize_t count
    Py_ssize_t room


cdef inline int append(Derivations *to, Derivation item) except -1:
    cdef Derivation *items
    cdef Py_ssize_t room
    if to.count == to.room:
        room = 2 * to.room if to.room else 4
        items = <Derivation *> realloc(to.items, room * sizeof(Derivation))
        if items == NULL:
            raise MemoryError("no memory for more trees")
        to.items, to.room = items, room
    to.items[to.count] = item
    to.count += 1
    return 0


cdef inline bint before(const Derivation *x, const Derivation *y) noexcept nogil:
    """Best score first; among equals the first split, then the better first part."""
    if x.score.hi != y.score.hi or x.score.lo != y.score.lo:
        return pair_greater(x.score, y.score)
    if x.r != y.r:
        return x.r < y.r
    return x.a < y.a if x.a != y.a else x.b < y.b


cdef inline void sink(Derivation *heap, Py_ssize_t count, Py_ssize_t k) noexcept nogil:
    cdef Derivation item = heap[k]
    cdef Py_ssize_t child
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and before(&heap[child + 1], &heap[child]):
            child += 1
        if not before(&heap[child], &item):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = item


cdef inline int push(Derivations *heap, Derivation item) except -1:
    cdef Py_ssize_t k
    append(heap, item)
    k = heap.count - 1
    while k and before(&item, &heap.items[(k - 1) // 2]):
        heap.items[k] = heap.items[(k - 1) // 2]
        k = (k - 1) // 2
    heap.items[k] = item
    return 0


cdef inline Derivation pop(Derivations *heap) noexcept nogil:
    cdef Derivation item = heap.items[0]
    heap.count -= 1
    heap.items[0] = heap.items[heap.count]
    if heap.count:
        sink(heap.items, heap.count, 0)
    return item
