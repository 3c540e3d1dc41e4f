# cython: language_level=3
"""Eisner's inside chart in plain doubles, for those who read it; see _eisner.pyx."""

from spacy_mtt.inference._eisner_chart cimport Chart

cdef bint fill_inside(const double[:, ::1] scores, Chart *t, bint single_root) noexcept nogil
