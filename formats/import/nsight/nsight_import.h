/* nsight_import.h - the state of an import of an Nsight Systems export: texts, threads, and rows
 * that wait for the end of the trace. Private to the importer. */
#ifndef VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_IMPORT_H
#define VPT_FORMATS_IMPORT_NSIGHT_NSIGHT_IMPORT_H

#include "formats/chunk/batch.h"
#include "formats/import/collect/collect.h"
#include "formats/import/import.h"
#include "formats/import/nsight/nsight_sqlite.h"

/* ---- nsight_text.c: the texts of an Nsight Systems export: those that rows refer to by number, and
 * those that translate to one of our words ---- */

/* A text that rows refer to by number. `owner` keeps the numbers of several processes apart. */
struct vpt_nsight_name {
	int64_t owner, id;
	size_t offset;
	uint32_t len;
	int32_t number;  /* our number for the text; -1: not looked up yet */
	uint64_t string; /* its id in the collector; ~0: not interned yet */
};

struct vpt_nsight_names {
	struct vpt_nsight_name *at;
	size_t count, cap;
	char *text;
	size_t text_size, text_cap;
};

void vpt_nsight_names_free(struct vpt_nsight_names *names);

/* Adds a name; find works after sort. Of equal (owner, id), the first one added wins. 0 or
 * VPT_ENOMEM. */
int vpt_nsight_names_add(
	struct vpt_nsight_names *names, int64_t owner, int64_t id, const char *text, size_t len);
void vpt_nsight_names_sort(struct vpt_nsight_names *names);
struct vpt_nsight_name *vpt_nsight_names_find(
	struct vpt_nsight_names *names, int64_t owner, int64_t id); /* NULL if there is none */

static inline struct vpt_text vpt_nsight_name_text(
	const struct vpt_nsight_names *names, const struct vpt_nsight_name *name)
{
	return (struct vpt_text){names->text + name->offset, name->len};
}

/* Whether text is UTF-8 without control characters. */
int vpt_nsight_clean(struct vpt_text text);

/* ---- words ---- */

/* Tables ENUM_*: what the numbers of a column mean in this file. */
enum vpt_nsight_words {
	VPT_NSIGHT_COPY,
	VPT_NSIGHT_MEMORY,
	VPT_NSIGHT_SYNC,
	VPT_NSIGHT_OVERHEAD,
	VPT_NSIGHT_WORDS
};

const char *vpt_nsight_words_table(enum vpt_nsight_words set); /* "ENUM_CUDA_MEM_KIND" */

/* Our number for the first word of the set that occurs in `text`, ignoring case; 0 if none does. */
int32_t vpt_nsight_match(enum vpt_nsight_words set, struct vpt_text text);

/* Our number for the file's number `id`: by the text in the file's own table or, if the file has no
 * such table (`names` empty), by the numbers that all known versions share. 0: unknown. */
uint64_t vpt_nsight_word(enum vpt_nsight_words set, struct vpt_nsight_names *names, int64_t id);

/* Whether `word`, in lower case, occurs in the text, ignoring case. */
int vpt_nsight_has_word(struct vpt_text text, const char *word);

enum {
	VPT_NSIGHT_METRICS_MAX = 512,
	VPT_NSIGHT_GPUS_MAX = 256,
	VPT_NSIGHT_ORDINALS_MAX = 1024,
	VPT_NSIGHT_THREAD_CACHE = 64
};

struct vpt_nsight_thread {
	int64_t id; /* globalTid */
	uint64_t lane;
};

struct vpt_nsight_unmatched {
	uint64_t lane;
	struct vpt_range range;
};

struct vpt_nsight_loss {
	uint64_t time_ns, count;
};

/* One import under way: the context of every row function. */
struct vpt_nsight {
	struct vpt_collect *out;
	struct vpt_import_stats *stats;

	struct vpt_nsight_names strings; /* StringIds */
	struct vpt_nsight_names words[VPT_NSIGHT_WORDS];
	struct vpt_nsight_names domains; /* owner pid, id domainId */

	struct vpt_nsight_thread cache[VPT_NSIGHT_THREAD_CACHE]; /* lane 0: empty */
	struct vpt_nsight_thread *threads; /* every thread seen, possibly more than once */
	size_t thread_count, thread_cap;

	struct vpt_nsight_unmatched *unmatched; /* put once the trace's end is known */
	size_t unmatched_count, unmatched_cap;
	struct vpt_nsight_loss *losses; /* likewise */
	size_t loss_count, loss_cap;

	struct {
		int64_t gpu, ordinal, pid; /* pid -1: of all processes */
		char uuid[48];
	} ordinals[VPT_NSIGHT_ORDINALS_MAX]; /* the CUDA devices that each GPU is */
	size_t ordinal_count, gpu_count;

	struct vpt_nsight_metric {
		int64_t type, metric;
		uint64_t lane;
	} metrics[VPT_NSIGHT_METRICS_MAX]; /* that are read */
	size_t metric_count;

	/* Launches of graphs whose nodes were recorded: what identifies them, each perhaps several
	 * times; sorted when the first whole graph comes. */
	struct vpt_nsight_launch {
		int64_t pid, correlation;
	} * node_launches;
	size_t node_count, node_cap;
	int nodes_are_sorted;

	uint64_t last_ns; /* largest end seen */
	uint64_t rows;    /* events imported */
	uint64_t graphs;  /* graph launches recorded as a whole */
	uint64_t unnamed; /* kernels and calls whose name is not in the file */
	int64_t utc_ns;   /* REALTIME at time 0; 0: unknown */
	char version[64], host[256], command[4096];
	char diagnostic[300]; /* the tool's most severe complaint about CUDA, the first of them */
	int64_t severity;     /* of it */
};

/* The pid of a serialised id, (more << 48 | pid << 24 | tid); -1 means unknown. */
int64_t vpt_nsight_pid(int64_t global);

/* The lane of a thread, which is recorded to be named later. 0 or VPT_ENOMEM. */
int vpt_nsight_thread(struct vpt_nsight *im, int64_t global, uint64_t *lane);

/* Counts an imported row and notes its end. */
void vpt_nsight_note(struct vpt_nsight *im, int64_t end_ns);

/* The row of StringIds that a cell refers to; NULL if it refers to none. */
struct vpt_nsight_name *vpt_nsight_find_string(struct vpt_nsight *im, const struct vpt_cell *id);

/* Intern such a string, or any text, in the collector. Both count bad text, the first one once per
 * string. */
uint64_t vpt_nsight_string(struct vpt_nsight *im, struct vpt_nsight_name *name);
uint64_t vpt_nsight_text(struct vpt_nsight *im, struct vpt_text text);

/* Frees `im` and what it holds; accepts NULL. */
void vpt_nsight_free(struct vpt_nsight *im);

/* ---- the tables of an export, and how each row becomes a row of ours ---- */

/* Each array ends with a table that has no name. */
extern const struct vpt_nsight_table vpt_nsight_session[]; /* what was recorded, on which devices */
extern const struct vpt_nsight_table vpt_nsight_tables[];  /* CUPTI's events */
extern const struct vpt_nsight_table vpt_nsight_lifetimes[]; /* graphs and memory */
extern const struct vpt_nsight_table vpt_nsight_metrics[];   /* samples of the GPUs' counters */
extern const struct vpt_nsight_table vpt_nsight_nvtx;
extern const struct vpt_nsight_table vpt_nsight_nvtx_domains; /* read it before vpt_nsight_nvtx */

/* Put the rows that had to wait for the end of the trace. */
void vpt_nsight_put_losses(struct vpt_nsight *im);
void vpt_nsight_put_unmatched(struct vpt_nsight *im);
void vpt_nsight_put_meta(struct vpt_nsight *im);

#endif
