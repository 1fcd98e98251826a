/* growth.h - traces of any length in which the same happens second for second, and the time that an analysis takes. */
#ifndef VPT_TESTS_SUPPORT_GROWTH_H
#define VPT_TESTS_SUPPORT_GROWTH_H

#include "formats/file/capture_writer.h"
#include "formats/import/any_trace.h"

#include <stdint.h>

enum {
	SECOND = 1000000000,
	STREAM = 1,
	MAIN = 2,
	EARLY = 3,
	WAITING = 4, /* a stream on which nothing runs */
	RANGES_A_SECOND = 1000
};

struct trace {
	struct vpt_batch batch;
	struct vpt_writer *writer;
	struct vpt_err err;
	uint64_t correlation;
	uint64_t seconds; /* that it lasts */
};

/* A call of `thread` by its name. */
void put_call_of(struct trace *t, uint64_t thread, const char *name, uint64_t at_ns, uint64_t ns);
/* A kernel that the call before launches. */
void put_kernel(struct trace *t, const char *name, uint64_t at_ns);
/* A call of `thread` and the kernel that it launches. */
void put_launch(struct trace *t, uint64_t thread, uint64_t at_ns);
void put_range(struct trace *t, uint64_t thread, uint64_t kind, uint64_t at_ns);
/* When the i-th of a second's ranges begins. */
uint64_t range_at(uint64_t second, uint64_t i);

/* What happens in a second, the first being number 1. */
typedef void happen(struct trace *t, uint64_t second);

/* `seconds` of it, a chunk for each or one for all. */
struct vpt_trace *make_trace(happen *happens, uint64_t seconds, int one_chunk);

/* Analyses `seconds` of it several times: the shortest CPU time of this thread. */
double time_of(happen *happens, uint64_t seconds, int one_chunk);

struct growth {
	const char *name;
	happen *happens;
	uint64_t seconds;
	int one_chunk;
};

/* Fails if four times the length takes more than eight times as long, which is sixteen times where time
 * grows with the square. Other processes disturb the caches, but not every time: so it tries again. */
void expect_growth_of_each(const struct growth *cases, size_t count);

#endif
