# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Keys of features of arcs that are pairs of a feature of the head and one of the modifier, with the distance or without.

The key of the features i and j, slots in 0..N-1, and entry k of the vector of distances (0 for none, then the bins) is
``mix((i N + j) D + k)``, with `mix` a bijection and D entries, so that no two pairs share a key and pairs.py can read
them back.
"""

from libc.stdint cimport int32_t, uint64_t

from spacy_mtt.features._arc_keys cimport ArcKeys, Keys, mix


cdef class PairKeys(ArcKeys):
    """The keys of every arc of a sentence: `ArcKeys` for dictionaries, scores and sums."""

    cdef const int32_t[:, ::1] pairs
    cdef const int32_t[::1] word_slots
    cdef uint64_t size

    def __init__(
        self, const int32_t[:, ::1] pairs, const int32_t[:, ::1] ends, const int32_t[::1] slots, Py_ssize_t size,
        const int32_t[::1] longest,
    ):
        """pairs (P, 2): templates of head and modifier. ends (T, n+2): those of `WordKeys`; slots: of its keys, -1
        for none; size: N. longest: of each bin of distances but the last."""
        cdef Py_ssize_t p, i, most_h, most_m
        self.n, self.size = ends.shape[1] - 2, size
        self.pairs, self.ends, self.word_slots, self.longest = pairs, ends, slots, longest
        self.most_plain = self.most_counted = 0
        for p in range(pairs.shape[0]):
            most_h = most_m = 0
            for i in range(self.n + 1):
                most_h = max(most_h, ends[pairs[p, 0], i + 1] - ends[pairs[p, 0], i])
                most_m = max(most_m, ends[pairs[p, 1], i + 1] - ends[pairs[p, 1], i])
            self.most_plain += 2 * most_h * most_m

    cdef void fill(self, Py_ssize_t h, Py_ssize_t m, Keys *keys) noexcept nogil:
        cdef Py_ssize_t p, s, t, i, j, length = h - m if h > m else m - h, bins = self.longest.shape[0], plain = 0
        cdef uint64_t x, k = 0, entries = 2 * bins + 3
        while <Py_ssize_t>k < bins and length > self.longest[k]:
            k += 1
        k += 1 if h > m else bins + 2
        for p in range(self.pairs.shape[0]):
            s, t = self.pairs[p, 0], self.pairs[p, 1]
            for i in range(self.ends[s, h], self.ends[s, h + 1]):
                for j in range(self.ends[t, m], self.ends[t, m + 1]):
                    if self.word_slots[i] >= 0 and self.word_slots[j] >= 0:
                        x = (<uint64_t>self.word_slots[i] * self.size + <uint64_t>self.word_slots[j]) * entries
                        keys.plain_keys[plain], keys.plain_keys[plain + 1] = mix(x), mix(x + k)
                        plain += 2
        keys.plain, keys.counted = plain, 0

    cdef Py_ssize_t at_most_plain(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t p, s, t, total = 0
        for p in range(self.pairs.shape[0]):
            s, t = self.pairs[p, 0], self.pairs[p, 1]
            total += 2 * (self.ends[s, h + 1] - self.ends[s, h]) * (self.ends[t, m + 1] - self.ends[t, m])
        return total

    cdef Py_ssize_t at_most_counted(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        return 0
