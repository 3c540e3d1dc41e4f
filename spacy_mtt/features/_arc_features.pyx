# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Features of arcs with their slots in the weights: scores, and the adjoint that adds features to the weights."""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

import threading

import numpy as np
from scipy.sparse import coo_array

from spacy_mtt.features._arc_keys cimport ArcKeys, Keys
from spacy_mtt.features._dictionary cimport look_up

cdef struct Slots:  # the features of an arc; a slot of -1 is a feature that has no weight
    Py_ssize_t plain, counted  # how many have the value 1, and how many are counted over the words between
    const int32_t *plain_slots
    const int32_t *counted_slots
    const int32_t *counts


cdef inline double dot(const Slots *slots, const double[::1] weights) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(slots.plain):
        if slots.plain_slots[i] >= 0:
            total += weights[slots.plain_slots[i]]
    for i in range(slots.counted):
        if slots.counted_slots[i] >= 0:
            total += slots.counts[i] * weights[slots.counted_slots[i]]
    return total


cdef inline void add_scaled(const Slots *slots, double scale, double[::1] weights) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(slots.plain):
        if slots.plain_slots[i] >= 0:
            weights[slots.plain_slots[i]] += scale
    for i in range(slots.counted):
        if slots.counted_slots[i] >= 0:
            weights[slots.counted_slots[i]] += slots.counts[i] * scale


cdef inline void dot_rows(const Slots *slots, const double[:, ::1] weights, int32_t mask, double *out) noexcept nogil:
    """out (L,) += sum_i value_i weights[slot_i & mask, :]"""
    cdef Py_ssize_t i, l, labels = weights.shape[1]
    cdef const double *row
    cdef double count
    for i in range(slots.plain):
        if slots.plain_slots[i] >= 0:
            row = &weights[slots.plain_slots[i] & mask, 0]
            for l in range(labels):
                out[l] += row[l]
    for i in range(slots.counted):
        if slots.counted_slots[i] >= 0:
            row, count = &weights[slots.counted_slots[i] & mask, 0], slots.counts[i]
            for l in range(labels):
                out[l] += count * row[l]


cdef inline void add_rows(const Slots *slots, const double *scales, int32_t mask, double[:, ::1] weights) noexcept nogil:
    """weights[slot_i & mask, :] += value_i scales (L,)"""
    cdef Py_ssize_t i, l, labels = weights.shape[1]
    cdef double *row
    cdef double count
    for i in range(slots.plain):
        if slots.plain_slots[i] >= 0:
            row = &weights[slots.plain_slots[i] & mask, 0]
            for l in range(labels):
                row[l] += scales[l]
    for i in range(slots.counted):
        if slots.counted_slots[i] >= 0:
            row, count = &weights[slots.counted_slots[i] & mask, 0], slots.counts[i]
            for l in range(labels):
                row[l] += count * scales[l]


cdef inline void gather(const Slots *slots, double scale, int32_t *places, double *values) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(slots.plain):
        places[i], values[i] = slots.plain_slots[i], scale
    for i in range(slots.counted):
        places[slots.plain + i], values[slots.plain + i] = slots.counted_slots[i], slots.counts[i] * scale


cdef class SlotFeatures:
    """The features of the arcs of one sentence: `ArcFeatures`, but for where the slots of an arc come from.

    n: the number of words. size: the number of weights. An array over arcs is (n+1, n+1), its column 0 and diagonal
    are not read.
    """

    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t size

    cdef void *allocate(self) except NULL:
        """Room for the slots of one arc, to be freed."""
        raise NotImplementedError("SlotFeatures is abstract: use ComputedFeatures or CachedFeatures")

    cdef void slots_of(self, Py_ssize_t h, Py_ssize_t m, void *room, Slots *slots) noexcept nogil:
        slots.plain = slots.counted = 0

    cdef Py_ssize_t at_most(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        """No fewer than the features of an arc."""
        return 0

    def score(self, weights):
        """<weights, phi(h -> m)> of every arc, weights (size,) float64: (n+1, n+1) float64, 0 where no arc is.

        O(features). Raises ValueError on weights of another shape or dtype, or that give an arc no finite score.
        """
        cdef const double[::1] w = self._weights(weights)
        cdef Py_ssize_t h, m
        cdef Slots slots
        scores = np.zeros((self.n + 1, self.n + 1))
        cdef double[:, ::1] out = scores
        cdef double check = 0.0
        cdef void *room = self.allocate()
        with nogil:
            for h in range(self.n + 1):
                for m in range(1, self.n + 1):
                    if h != m:
                        self.slots_of(h, m, room, &slots)
                        out[h, m] = dot(&slots, w)
                        check += 0.0 * out[h, m]  # NaN from now on if the score is not finite
            free(room)
        if check != 0.0:
            h, m = np.argwhere(~np.isfinite(scores))[0]
            raise ValueError(f"the weights give the arc {h} -> {m} the score {scores[h, m]}: they must be finite")
        return scores

    def add(self, weights, coefficients):
        """weights (size,) += sum_hm coefficients[h, m] phi(h -> m), in place; arcs with coefficient 0 cost nothing.

        Raises ValueError, with weights unchanged, on a wrong shape or dtype and on coefficients that are not finite.
        """
        self._weights(weights)
        if not weights.flags.writeable:
            raise ValueError("weights are read-only, but features are to be added to them")
        cdef double[::1] w = weights
        cdef const double[:, ::1] c = self._coefficients(coefficients)
        cdef Py_ssize_t h, m
        cdef Slots slots
        cdef void *room = self.allocate()
        with nogil:
            for h in range(self.n + 1):
                for m in range(1, self.n + 1):
                    if h != m and c[h, m] != 0.0:
                        self.slots_of(h, m, room, &slots)
                        add_scaled(&slots, c[h, m], w)
            free(room)

    def score_labels(self, weights, heads=None):
        """The score of each of L labels: of the arcs of a tree (n, L), `heads` (n,) in 0..n; None: of all, (n+1, n+1, L).

        weights: (R, L) float64, R a power of two; the feature of slot s has the row s modulo R. 0 where no arc is.
        O(features L). Raises ValueError on weights of another shape or dtype, on wrong heads, and on scores that are
        not finite.
        """
        cdef const double[:, ::1] w = _rows(weights)
        cdef const int64_t[::1] tree = self._tree(heads)
        cdef int32_t mask = w.shape[0] - 1
        cdef Py_ssize_t h, m, n = self.n, labels = w.shape[1]
        cdef Slots slots
        scores = np.zeros((n + 1 if heads is None else 1, n + 1, labels))
        cdef double[:, :, ::1] out = scores
        cdef void *room
        if labels and n:
            room = self.allocate()
            with nogil:
                for m in range(1, n + 1):
                    if tree.shape[0]:
                        self.slots_of(tree[m - 1], m, room, &slots)
                        dot_rows(&slots, w, mask, &out[0, m, 0])
                        continue
                    for h in range(n + 1):
                        if h != m:
                            self.slots_of(h, m, room, &slots)
                            dot_rows(&slots, w, mask, &out[h, m, 0])
                free(room)
        if not np.isfinite(scores).all():
            raise ValueError("the weights of labels give scores that are not finite")
        return scores if heads is None else scores[0, 1:]

    def add_labels(self, weights, coefficients, heads=None):
        """The adjoint of `score_labels`: weights (R, L) += sum coefficients[..., l] phi(h -> m), in place.

        coefficients: (n, L) with `heads`, else (n+1, n+1, L); arcs without a coefficient other than 0 cost nothing.
        """
        cdef double[:, ::1] w = _rows(weights)
        cdef const int64_t[::1] tree = self._tree(heads)
        cdef int32_t mask = w.shape[0] - 1
        cdef Py_ssize_t h, m, n = self.n, labels = w.shape[1]
        array = np.ascontiguousarray(coefficients, dtype=np.float64)
        shape = [n + 1, n + 1, labels] if heads is None else [n, labels]
        if list(array.shape) != shape or not np.isfinite(array).all():
            raise ValueError(f"coefficients must be finite and have the shape {tuple(shape)}, not {array.shape}")
        if not labels or not n:
            return
        cdef const double[:, :, ::1] c = array if heads is None else array[None]
        cdef const unsigned char[:, ::1] used = (np.asarray(c) != 0).any(axis=2).view(np.uint8)
        cdef Slots slots
        cdef void *room = self.allocate()
        with nogil:
            for m in range(1, n + 1):
                if tree.shape[0]:
                    if used[0, m - 1]:
                        self.slots_of(tree[m - 1], m, room, &slots)
                        add_rows(&slots, &c[0, m - 1, 0], mask, w)
                    continue
                for h in range(n + 1):
                    if h != m and used[h, m]:
                        self.slots_of(h, m, room, &slots)
                        add_rows(&slots, &c[h, m, 0], mask, w)
            free(room)

    def row_norms(self, heads, rows):
        """|phi(h -> m)|^2 of each arc of a tree, (n,), with slots taken modulo `rows` as in `score_labels`."""
        cdef const int64_t[::1] tree = self._tree(heads)
        used = np.zeros((self.n + 1, self.n + 1), dtype=bool)
        used[np.asarray(tree), np.arange(1, self.n + 1)] = True
        places, values, ends = self._gathered(used)
        modifiers = np.repeat(np.nonzero(used)[1] - 1, np.diff(ends))
        known = places >= 0
        features = modifiers[known] * rows + (places[known] & (rows - 1))
        distinct, where = np.unique(features, return_inverse=True)
        return np.bincount(distinct // rows, np.bincount(where, values[known]) ** 2, minlength=self.n)

    def squared_norm_of_labels(self, coefficients, rows):
        """|sum_hml coefficients[h, m, l] phi(h -> m, l)|^2 with (n+1, n+1, L) coefficients and slots modulo `rows`."""
        used = (coefficients != 0).any(axis=2)
        used[:, 0] = False
        np.fill_diagonal(used, False)
        return float(((self._merged(used, rows) @ coefficients[used]) ** 2).sum())

    def _merged(self, used, rows):
        """The features of the A `used` arcs, row by row of (n+1, n+1) bool, as a sparse array (distinct slots, A).

        Slots are taken modulo `rows`.
        """
        places, values, ends = self._gathered(used)
        columns = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        known = places >= 0
        distinct, where = np.unique(places[known] & (rows - 1), return_inverse=True)
        entries = (values[known], (where, columns[known]))
        return coo_array(entries, shape=(len(distinct), len(ends) - 1)).tocsr()

    def _tree(self, heads):
        """The heads of a tree as int64, empty if there is none."""
        if heads is None:
            return np.empty(0, dtype=np.int64)
        tree = np.ascontiguousarray(heads, dtype=np.int64)
        wrong = (tree < 0) | (tree > self.n) | (tree == np.arange(1, len(tree) + 1))
        if tree.shape != (self.n,) or wrong.any():
            raise ValueError(f"heads must be ({self.n},) other words in 0..{self.n}, not {tree.tolist()}")
        return tree

    def vector(self, coefficients):
        """sum_hm coefficients[h, m] phi(h -> m), sparse: slots (F,) int32 in increasing order, values (F,) float64.

        Slots that cancel out stay, with the value that rounding leaves.
        """
        places, values, _ = self._gathered(coefficients)
        merged, where = np.unique(places, return_inverse=True)
        sums = np.bincount(where, weights=values, minlength=len(merged))
        return merged[merged >= 0], sums[merged >= 0]

    def squared_norm(self, coefficients):
        """|sum_hm coefficients[h, m] phi(h -> m)|^2, what shares a slot added up first.

        O(features) of the arcs with a coefficient; each thread keeps one vector of `size` weights to add them up in.
        """
        cdef const int32_t[::1] places
        cdef const double[::1] values
        places, values, _ = self._gathered(coefficients)
        return merged_square(places, values, _zeros(self.size))

    def _gathered(self, coefficients):
        """The slots (F,) and values (F,) of the A arcs whose coefficient is not 0, one arc after the other.

        And ends (A+1,): those of arc a are at ``ends[a] : ends[a + 1]``.
        """
        cdef const double[:, ::1] c = self._coefficients(coefficients)
        cdef Py_ssize_t h, m, arcs = 0, total = 0
        cdef Slots slots
        with nogil:
            for h in range(self.n + 1):
                for m in range(1, self.n + 1):
                    if h != m and c[h, m] != 0.0:
                        total += self.at_most(h, m)
                        arcs += 1
        places, values, ends = np.empty(total + 1, dtype=np.int32), np.empty(total + 1), np.zeros(arcs + 1, dtype=np.int64)
        cdef int32_t[::1] p = places
        cdef double[::1] v = values
        cdef int64_t[::1] e = ends
        cdef void *room = self.allocate()
        arcs = total = 0
        with nogil:
            for h in range(self.n + 1):
                for m in range(1, self.n + 1):
                    if h != m and c[h, m] != 0.0:
                        self.slots_of(h, m, room, &slots)
                        gather(&slots, c[h, m], &p[total], &v[total])
                        total += slots.plain + slots.counted
                        arcs += 1
                        e[arcs] = total
            free(room)
        return places[:total], values[:total], ends

    def _weights(self, weights):
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or not weights.flags.c_contiguous:
            raise ValueError(f"weights must be a C-contiguous float64 array, not {_kind(weights)}")
        if weights.shape != (self.size,):
            raise ValueError(f"weights must have the shape ({self.size},), not {weights.shape}")
        return weights

    def _coefficients(self, coefficients):
        array = np.ascontiguousarray(coefficients, dtype=np.float64)
        if array.shape != (self.n + 1, self.n + 1):
            raise ValueError(f"coefficients must have the shape {(self.n + 1, self.n + 1)}, not {array.shape}")
        cdef const double[:, ::1] c = array
        cdef Py_ssize_t h, m
        for h in range(self.n + 1):
            for m in range(1, self.n + 1):
                if h != m and not isfinite(c[h, m]):
                    raise ValueError(f"coefficients[{h}, {m}] is {c[h, m]}, but must be finite")
        return array


def _rows(weights):
    if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or not weights.flags.c_contiguous:
        raise ValueError(f"the weights of labels must be a C-contiguous float64 array, not {_kind(weights)}")
    rows = weights.shape[0] if weights.ndim == 2 else 0
    if rows < 1 or rows & (rows - 1) or rows > 1 << 30:
        raise ValueError(f"the weights of labels must have 2^k rows and a column a label, not the shape {weights.shape}")
    return weights


def _kind(value):
    return f"{value.dtype} of the strides {value.strides}" if isinstance(value, np.ndarray) else type(value).__name__


_room = threading.local()


def _zeros(Py_ssize_t size):
    """Zeros, (size,) or more, that are this thread's until the next call: whoever writes puts the zeros back."""
    zeros = getattr(_room, "zeros", None)
    if zeros is None or len(zeros) < size:
        zeros = _room.zeros = np.zeros(size)
    return zeros


cdef double merged_square(
    const int32_t[::1] places, const double[::1] values, double[::1] zeros
) noexcept nogil:
    """The squared norm of the vector with these slots, those of -1 left out. `zeros` come back as they were."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(places.shape[0]):
        if places[i] >= 0:
            zeros[places[i]] += values[i]
    for i in range(places.shape[0]):
        if places[i] >= 0:
            total += zeros[places[i]] * zeros[places[i]]
            zeros[places[i]] = 0.0
    return total


cdef class ComputedFeatures(SlotFeatures):
    """Features that are computed from the words anew each time: little memory."""

    cdef readonly ArcKeys keys
    cdef const uint64_t[::1] table
    cdef const int32_t[::1] slots
    cdef uint64_t mask

    def __init__(self, ArcKeys keys, table):
        """keys: of the sentence. table: a `HashTable` or a `FeatureDictionary`."""
        self.keys, self.n, self.size = keys, keys.n, table.size
        self.table, self.slots, self.mask = table.table, table.slots, table.mask

    cdef void *allocate(self) except NULL:
        cdef Py_ssize_t total = self.keys.most_plain + self.keys.most_counted
        cdef Py_ssize_t before = sizeof(Keys) + self.keys.room()
        cdef char *room = <char *>malloc(before + total * sizeof(int32_t))
        if room == NULL:
            raise MemoryError(f"no memory for {total} features of an arc")
        self.keys.lay_out(<Keys *>room, room + sizeof(Keys))
        return room

    cdef void slots_of(self, Py_ssize_t h, Py_ssize_t m, void *room, Slots *slots) noexcept nogil:
        cdef Keys *keys = <Keys *>room
        cdef int32_t *places = <int32_t *>(<char *>room + sizeof(Keys) + self.keys.room())
        cdef Py_ssize_t i
        self.keys.fill(h, m, keys)
        for i in range(keys.plain):
            places[i] = look_up(self.table, self.slots, self.mask, keys.plain_keys[i])
        for i in range(keys.counted):
            places[keys.plain + i] = look_up(self.table, self.slots, self.mask, keys.counted_keys[i])
        slots.plain, slots.counted, slots.counts = keys.plain, keys.counted, keys.counts
        slots.plain_slots, slots.counted_slots = places, places + keys.plain

    cdef Py_ssize_t at_most(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        return self.keys.at_most_plain(h, m) + self.keys.at_most_counted(h, m)


cdef class CachedFeatures(SlotFeatures):
    """Features whose slots are kept: 4 bytes for each, 8 for those between head and modifier."""

    cdef int64_t[:, ::1] starts  # arc h * (n+1) + m: its first slot of value 1, its first counted one
    cdef int32_t[::1] plain_slots, counted_slots, counts

    def __init__(self, ArcKeys keys, table):
        """keys: of the sentence. table: a `HashTable` or a `FeatureDictionary`; what it lacks is not kept."""
        cdef ComputedFeatures computed = ComputedFeatures(keys, table)
        self.n, self.size = computed.n, computed.size
        cdef Py_ssize_t h, m, plain = 0, counted = 0
        for h in range(self.n + 1):
            for m in range(1, self.n + 1):
                if h != m:
                    plain += keys.at_most_plain(h, m)
                    counted += keys.at_most_counted(h, m)
        self.starts = np.zeros(((self.n + 1) ** 2 + 1, 2), dtype=np.int64)
        ones, many, counts = (np.empty(size, dtype=np.int32) for size in (plain, counted, counted))
        self.plain_slots, self.counted_slots, self.counts = ones, many, counts
        cdef void *room = computed.allocate()
        with nogil:
            self.keep(computed, room)
            free(room)
        plain, counted = self.starts[(self.n + 1) ** 2, 0], self.starts[(self.n + 1) ** 2, 1]
        self.plain_slots, self.counted_slots = ones[:plain].copy(), many[:counted].copy()
        self.counts = counts[:counted].copy()

    cdef void keep(self, ComputedFeatures computed, void *room) noexcept nogil:
        cdef Py_ssize_t h, m, i, arc
        cdef int64_t plain = 0, counted = 0
        cdef Slots slots
        for h in range(self.n + 1):
            for m in range(self.n + 1):
                arc = h * (self.n + 1) + m
                if m and h != m:
                    computed.slots_of(h, m, room, &slots)
                    for i in range(slots.plain):
                        if slots.plain_slots[i] >= 0:
                            self.plain_slots[plain] = slots.plain_slots[i]
                            plain += 1
                    for i in range(slots.counted):
                        if slots.counted_slots[i] >= 0:
                            self.counted_slots[counted] = slots.counted_slots[i]
                            self.counts[counted] = slots.counts[i]
                            counted += 1
                self.starts[arc + 1, 0], self.starts[arc + 1, 1] = plain, counted

    cdef void *allocate(self) except NULL:
        cdef void *room = malloc(1)
        if room == NULL:
            raise MemoryError("no memory for one byte")
        return room

    cdef void slots_of(self, Py_ssize_t h, Py_ssize_t m, void *room, Slots *slots) noexcept nogil:
        cdef const int64_t *starts = &self.starts[h * (self.n + 1) + m, 0]
        slots.plain, slots.counted = starts[2] - starts[0], starts[3] - starts[1]
        slots.plain_slots = &self.plain_slots[0] + starts[0]
        slots.counted_slots = &self.counted_slots[0] + starts[1]
        slots.counts = &self.counts[0] + starts[1]

    cdef Py_ssize_t at_most(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        cdef const int64_t *starts = &self.starts[h * (self.n + 1) + m, 0]
        return starts[2] - starts[0] + starts[3] - starts[1]
