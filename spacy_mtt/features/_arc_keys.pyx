# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The keys of the features of every arc of a sentence; compiled.py says what a key is."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np


def hash_sides(
    const int32_t[::1] side_starts, const int32_t[::1] shifts, const int32_t[::1] attributes,
    const uint64_t[::1] seeds, const uint64_t[::1] hashes, const int32_t[:, ::1] starts,
    int32_t[:, ::1] ends, uint64_t[::1] parts,
):
    """Write the hash of every side at every node 0..n, one for each combination of the values of its atoms.

    ends (S, n+2): ends[s, i] .. ends[s, i+1] is the place in `parts` of side s at node i; with an empty `parts` only
    `ends` is written. Returns the number of hashes.
    """
    cdef Py_ssize_t s, i, a, node, n = starts.shape[1] - 6, total = 0, count, values, j, rest
    cdef uint64_t x
    with nogil:
        for s in range(seeds.shape[0]):
            for i in range(n + 1):
                ends[s, i] = <int32_t>total
                count = 1
                for a in range(side_starts[s], side_starts[s + 1]):
                    node = i + shifts[a] + 2
                    count *= starts[attributes[a], node + 1] - starts[attributes[a], node]
                if parts.shape[0]:
                    for j in range(count):
                        x, rest = seeds[s], j
                        for a in range(side_starts[s], side_starts[s + 1]):
                            node = i + shifts[a] + 2
                            values = starts[attributes[a], node + 1] - starts[attributes[a], node]
                            x = mix(x + hashes[starts[attributes[a], node] + rest % values])
                            rest = rest / values
                        parts[total + j] = x
                total += count
            ends[s, n + 1] = <int32_t>total
    return total


cdef class ArcKeys:
    """The 64-bit keys of the features of every arc of a sentence, from hashed sides (see compiled.py)."""

    def __init__(
        self, const int32_t[:, ::1] templates, const uint64_t[::1] distances, const int32_t[::1] longest,
        const int32_t[:, ::1] ends, const uint64_t[::1] parts, const uint8_t[:, ::1] is_cut,
        const int32_t[::1] columns, const uint64_t[::1] between, const int32_t[:, ::1] running,
    ):
        """templates, distances, longest: as compiled. ends, parts: of `hash_sides`. is_cut (S, n+1).

        columns (S+1,): the distinct hashes of side s of words between are between[columns[s]] and on; running (n+1,
        columns): how often each is found in the words 1..i.
        """
        self.n = ends.shape[1] - 2
        self.templates, self.distances, self.longest = templates, distances, longest
        self.ends, self.parts, self.is_cut = ends, parts, is_cut
        self.columns, self.between, self.running = columns, between, running
        self.set_bounds()

    cdef void set_bounds(self) noexcept:
        cdef Py_ssize_t t, s, r, b, i, most_s, most_r
        self.most_plain = self.most_counted = 0
        for t in range(self.templates.shape[0]):
            s, r, b = self.templates[t, 0], self.templates[t, 1], self.templates[t, 2]
            most_s = most_r = 0
            for i in range(self.n + 1):
                most_s = max(most_s, self.ends[s, i + 1] - self.ends[s, i])
                most_r = max(most_r, self.ends[r, i + 1] - self.ends[r, i])
            if b < 0:
                self.most_plain += 2 * most_s * most_r
            else:
                self.most_counted += 2 * most_s * most_r * (self.columns[b + 1] - self.columns[b])

    cdef void fill(self, Py_ssize_t h, Py_ssize_t m, Keys *keys) noexcept nogil:
        cdef Py_ssize_t t, s, r, b, i, j, d, low, high, length
        cdef Py_ssize_t plain = 0, counted = 0, bins = self.longest.shape[0]
        cdef int32_t variants, count
        cdef uint64_t x, distance
        low, high = min(h, m), max(h, m)
        length = 0
        while length < bins and high - low > self.longest[length]:
            length += 1
        distance = self.distances[length + (bins + 1 if h < m else 0)]
        for t in range(self.templates.shape[0]):
            s, r, b, variants = self.templates[t, 0], self.templates[t, 1], self.templates[t, 2], self.templates[t, 3]
            if self.templates[t, 4] and not (self.is_cut[s, h] or self.is_cut[r, m]):
                continue
            for i in range(self.ends[s, h], self.ends[s, h + 1]):
                for j in range(self.ends[r, m], self.ends[r, m + 1]):
                    x = self.parts[i] + self.parts[j]
                    if b < 0:
                        if variants & 1:
                            keys.plain_keys[plain] = mix(x)
                            plain += 1
                        if variants & 2:
                            keys.plain_keys[plain] = mix(x + distance)
                            plain += 1
                        continue
                    for d in range(self.columns[b], self.columns[b + 1]):
                        count = self.running[high - 1, d] - self.running[low, d]
                        if count == 0:
                            continue
                        if variants & 1:
                            keys.counted_keys[counted], keys.counts[counted] = mix(x + self.between[d]), count
                            counted += 1
                        if variants & 2:
                            keys.counted_keys[counted] = mix(x + self.between[d] + distance)
                            keys.counts[counted] = count
                            counted += 1
        keys.plain, keys.counted = plain, counted

    cdef Py_ssize_t at_most_plain(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        """No fewer than the features of value 1 of h -> m."""
        cdef Py_ssize_t t, s, r, total = 0
        for t in range(self.templates.shape[0]):
            if self.templates[t, 2] < 0:
                s, r = self.templates[t, 0], self.templates[t, 1]
                total += 2 * (self.ends[s, h + 1] - self.ends[s, h]) * (self.ends[r, m + 1] - self.ends[r, m])
        return total

    cdef Py_ssize_t at_most_counted(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        """No fewer than the features of h -> m that are counted over the words between."""
        cdef Py_ssize_t t, s, r, b, pairs, total = 0
        for t in range(self.templates.shape[0]):
            b = self.templates[t, 2]
            if b >= 0:
                s, r = self.templates[t, 0], self.templates[t, 1]
                pairs = (self.ends[s, h + 1] - self.ends[s, h]) * (self.ends[r, m + 1] - self.ends[r, m])
                total += 2 * pairs * (self.columns[b + 1] - self.columns[b])
        return total

    cdef Py_ssize_t room(self) noexcept nogil:
        """The bytes that the features of one arc need."""
        return (self.most_plain + self.most_counted) * sizeof(uint64_t) + self.most_counted * sizeof(int32_t)

    cdef void lay_out(self, Keys *keys, void *block) noexcept nogil:
        """Let `keys` use a block of `room` bytes."""
        keys.plain_keys = <uint64_t *>block
        keys.counted_keys = keys.plain_keys + self.most_plain
        keys.counts = <int32_t *>(keys.counted_keys + self.most_counted)

    def of_arc(self, Py_ssize_t h, Py_ssize_t m):
        """The keys (F,) uint64 of h -> m and their values (F,) int32; equal keys may stand there more than once."""
        if not (0 <= h <= self.n and 1 <= m <= self.n and h != m):
            raise ValueError(f"{h} -> {m} is not an arc of a sentence of {self.n} words")
        cdef Keys keys
        cdef Py_ssize_t i
        cdef void *block = malloc(self.room() + 1)
        if block == NULL:
            raise MemoryError(f"no memory for {self.room()} bytes of features")
        self.lay_out(&keys, block)
        self.fill(h, m, &keys)
        found = np.empty(keys.plain + keys.counted, dtype=np.uint64)
        values = np.ones(keys.plain + keys.counted, dtype=np.int32)
        cdef uint64_t[::1] k = found
        cdef int32_t[::1] v = values
        for i in range(keys.plain):
            k[i] = keys.plain_keys[i]
        for i in range(keys.counted):
            k[keys.plain + i], v[keys.plain + i] = keys.counted_keys[i], keys.counts[i]
        free(block)
        return found, values
