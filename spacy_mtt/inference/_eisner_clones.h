/* How the loops of Eisner's charts are compiled. */
#ifndef SPACY_MTT_EISNER_CLONES_H
#define SPACY_MTT_EISNER_CLONES_H

#include <stddef.h> /* defines __GLIBC__ */

/* Before a function: a copy for any x86-64, one for AVX2 with FMA and one for AVX-512, chosen when the module is loaded. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) \
    && defined(__GLIBC__)
#if __GNUC__ >= 12
#define CLONES __attribute__((unused, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES __attribute__((unused, target_clones("avx2", "default")))
#endif
#elif defined(__GNUC__)
#define CLONES __attribute__((unused))
#else
#define CLONES
#endif

/* Before a loop: no entry depends on an earlier one, whatever the pointers. Clang takes that for an order, and warns of
 * loops that it cannot vectorise without AVX. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#endif
