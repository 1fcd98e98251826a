/* corpus_lists.h - parts of the corpus that have a file of their own. */
#ifndef VPT_TESTS_SUPPORT_CORPUS_LISTS_H
#define VPT_TESTS_SUPPORT_CORPUS_LISTS_H

#include "tests/support/corpus/corpus.h"

/* Well-formed frames around what no writer writes: corpus_hostile.c. */
extern const struct vpt_corpus_file vpt_corpus_hostile[];
extern const size_t vpt_corpus_hostile_count;

/* Other tools' files, and what is no trace: corpus_foreign.c. */
extern const struct vpt_corpus_file vpt_corpus_foreign[];
extern const size_t vpt_corpus_foreign_count;

#endif
