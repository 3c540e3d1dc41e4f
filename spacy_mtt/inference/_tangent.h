/* The tangents of elimination and of Eisner's chart, for both kinds of dual numbers. */
#ifndef SPACY_MTT_TANGENT_H
#define SPACY_MTT_TANGENT_H

#include "_dual.h"

/* There are binomial(3n, n) / (2n + 1) < (27 / 4)^n projective trees. */
#define LOG_TREES_PER_WORD 1.9095425048844386

#define D(name) dual_##name
#define DUAL dual
#define DUAL_ROW dual_row
#include "_tangent_elimination.h"
#include "_tangent_chart.h"
#undef D
#undef DUAL
#undef DUAL_ROW

#define D(name) wide_dual_##name
#define DUAL wide_dual
#define DUAL_ROW wide_dual_row
#include "_tangent_elimination.h"
#include "_tangent_chart.h"

#endif
