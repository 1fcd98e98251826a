/* corpus_hostile.h - the hostile files of the corpus: well-formed frames around what no writer writes. */
#ifndef VPT_TESTS_SUPPORT_CORPUS_HOSTILE_H
#define VPT_TESTS_SUPPORT_CORPUS_HOSTILE_H

#include "tests/support/traces/corpus.h"

extern const struct vpt_corpus_file vpt_corpus_hostile[];
extern const size_t vpt_corpus_hostile_count;

#endif
