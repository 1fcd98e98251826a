/* corpus.h - the files of tests/corpus, as the programs that make them. */
#ifndef VPT_TESTS_SUPPORT_CORPUS_H
#define VPT_TESTS_SUPPORT_CORPUS_H

#include "formats/io/io.h"

struct vpt_corpus_file {
	const char *
		name; /* good-*: read without complaint; bad-*: damaged, hostile, or no trace at all */
	const char *about; /* one sentence, as in README.md */
	/* Of captures, what opening gives: the code, and then a letter for each chunk: w whole, t torn, d
	 * damaged, e an error when it is decoded. NULL: no capture. */
	const char *chunks;
	int code;
	void (*make)(struct vpt_buffer *file);
};

/* One after another; NULL: there are no more. */
const struct vpt_corpus_file *vpt_corpus_at(size_t i);

#endif
