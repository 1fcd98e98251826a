/* main.c - vptrace-ranks-mpi: `vptrace-analyze ranks`, with captures condensed by many processes.
 *
 *	process   0      1      2      3      each condenses its share of the files
 *	          0 <--- 1      2 <--- 3      and joins what others send, as bytes of a summary
 *	          0 <---------- 2
 *	          report
 *
 * Summaries joined in any tree are the same bytes, so the report is that of one process. What a process cannot read it
 * names itself; where one has no memory, all end. */
#include "analysis/commands/base/analyzer_command.h"
#include "analysis/commands/base/rank_inputs.h"
#include "analysis/commands/base/shared_options.h"
#include "formats/base/cost_limits.h"
#include "formats/base/memory.h"
#include "formats/cli/help.h"
#include "formats/cli/process.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MOST = 64, MESSAGE_MOST = 1 << 30, TAG = 35 };

static struct vpt_option options[OPTIONS_MOST];
static unsigned local_option;

static struct vpt_command command = {
	.program = "mpirun",
	.name = "vptrace-ranks-mpi",
	.usage = "FILE|FOLDER... [options]",
	.help = "report which ranks of a job wait for which others, read by many processes",
	.about = "Each process condenses its share of the files, and the first one reports all. "
		 "The\n"
		 "report is that of vptrace-analyze ranks, see its --help, and so are the options\n"
		 "but for --local, and for --color auto, which is never.\n"
		 "\n"
		 "Without --local each process must see the same files. With it, the processes of "
		 "a\n"
		 "node share those that the node has: name a folder.",
	.options = options,
	.operand_count = 1,
	.more_operands = 1,
};

static void make_command(void)
{
	const unsigned count = vpa_cmd_ranks.option_count;

	memcpy(options, vpa_cmd_ranks.options, count * sizeof(*options));
	local_option = count;
	options[count] = (struct vpt_option){
		"local", '\0', VPT_FLAG, NULL, NULL, "each node has files of its own"};
	command.option_count = count + 1;
}

/* ---- messages ---- */

static int size_of(MPI_Comm comm)
{
	int n = 1;

	MPI_Comm_size(comm, &n);
	return n;
}

static int rank_of(MPI_Comm comm)
{
	int n = 0;

	MPI_Comm_rank(comm, &n);
	return n;
}

static void send_bytes(const struct vpt_buffer *b, int to)
{
	uint64_t size = b->size, at;

	MPI_Send(&size, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD);
	for (at = 0; at < size; at += MESSAGE_MOST)
		MPI_Send(b->data + at, (int)(size - at < MESSAGE_MOST ? size - at : MESSAGE_MOST),
			MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

/* The caller frees b->data. */
static int receive_bytes(struct vpt_buffer *b, int from, struct vpt_err *err)
{
	uint64_t size = 0, at;

	MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	b->data = vpt_alloc(size + 1, 1);
	if (!b->data)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the summary of process %d", from);
	b->size = size;
	for (at = 0; at < size; at += MESSAGE_MOST)
		MPI_Recv(b->data + at, (int)(size - at < MESSAGE_MOST ? size - at : MESSAGE_MOST),
			MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return VPT_OK;
}

/* Others wait for what cannot come: they end too. */
static void give_up(const struct vpt_err *err)
{
	vpa_say("%s", err->text);
	MPI_Abort(MPI_COMM_WORLD, VPT_EXIT_FAILED);
}

/* ---- this process's share ---- */

/* Of the files that all processes of `comm` see, those of this one. */
static int read_share(const struct vpt_args *args, struct vpa_options *o, MPI_Comm comm,
	struct vpa_rank_list *out, int *damaged, struct vpt_err *err)
{
	struct vpa_rank_files files = {.count = 0};
	size_t own = 0, i, at = (size_t)rank_of(comm), parts = (size_t)size_of(comm);
	int rc = vpa_rank_files_list(args->operands, args->operand_count, &files, err);
	const char **paths = vpt_calloc(files.count + 1, sizeof(*paths));

	if (!rc && !paths)
		rc = vpt_fail(err, VPT_ENOMEM, "no memory for a list of files");
	for (i = at; !rc && i < files.count; i += parts)
		paths[own++] = files.paths[i];
	if (!rc && own)
		rc = vpa_rank_inputs_read(paths, own, o, 0, out, damaged, err);
	if (rc == VPT_EDATA) /* none of them is a trace, which has been said */
		rc = VPT_OK;
	if (rc && rc != VPT_ENOMEM) {
		vpa_say("%s", err->text);
		++*damaged;
		rc = vpa_rank_list_unread(out, err->text);
	}
	vpt_free(paths);
	vpa_rank_files_free(&files);
	return rc;
}

/* `unread`, all zeros: gets what could not be read of this process's files. */
static int condense(const struct vpt_args *args, struct vpa_options *o,
	struct vpa_rank_blocks *blocks, struct vpa_rank_list *unread, int *damaged,
	struct vpt_err *err)
{
	struct vpa_rank_list ranks = {.count = 0};
	MPI_Comm comm = MPI_COMM_WORLD;
	size_t i;
	int rc;

	if (vpt_has(args, local_option))
		MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	rc = read_share(args, o, comm, &ranks, damaged, err);
	for (i = 0; i < ranks.count && !rc; i++)
		if (vpa_rank_blocks_add(blocks, ranks.items[i]))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for a summary");
	for (i = 0; i < ranks.unread_count && !rc; i++)
		if (vpa_rank_list_unread(unread, ranks.unread[i]))
			rc = vpt_fail(err, VPT_ENOMEM, "no memory for a list of files");
	vpa_rank_list_free(&ranks);
	if (comm != MPI_COMM_WORLD)
		MPI_Comm_free(&comm);
	return rc;
}

/* ---- joining ---- */

static int pack(struct vpa_rank_blocks *blocks, struct vpt_buffer *out, struct vpt_err *err)
{
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(out, &sink, err);

	if (rc)
		return rc;
	rc = vpa_rank_blocks_write(blocks, sink, err);
	if (!rc)
		return sink->finish(sink, 1, err);
	sink->finish(sink, 0, NULL);
	return rc;
}

static int join(struct vpa_rank_blocks *blocks, int from, struct vpt_err *err)
{
	struct vpt_buffer bytes = {0};
	struct vpt_source *src;
	int rc = receive_bytes(&bytes, from, err);

	if (!rc)
		rc = vpt_source_memory(bytes.data, bytes.size, &src, err);
	if (!rc) {
		rc = vpa_rank_blocks_read(blocks, src, err);
		vpt_source_close(src);
	}
	vpt_free(bytes.data);
	return rc;
}

/* ---- files that could not be read ---- */

/* Sentences one after the other, each with its NUL. */
static int pack_sentences(const struct vpa_rank_list *list, char **out, int *size)
{
	size_t used = 0, i;

	for (i = 0; i < list->unread_count; i++)
		used += strlen(list->unread[i]) + 1;
	*out = used < INT_MAX ? vpt_alloc(used + 1, 1) : NULL;
	if (!*out)
		return VPT_ENOMEM;
	for (*size = 0, i = 0; i < list->unread_count; i++) {
		size_t len = strlen(list->unread[i]) + 1;

		memcpy(*out + *size, list->unread[i], len);
		*size += (int)len;
	}
	return VPT_OK;
}

/* Adds those of all processes to the list of the first one. */
static int gather_sentences(
	const struct vpa_rank_list *own, struct vpa_rank_list *all, struct vpt_err *err)
{
	const size_t count = (size_t)size_of(MPI_COMM_WORLD);
	int *sizes = vpt_calloc(count + 1, sizeof(*sizes)),
	    *at = vpt_calloc(count + 1, sizeof(*at)), size = 0, is_first, rc;
	char *text = NULL, *texts = NULL, *next;
	size_t i;

	is_first = !rank_of(MPI_COMM_WORLD);
	rc = sizes && at ? pack_sentences(own, &text, &size) : VPT_ENOMEM;
	if (rc) {
		vpt_fail(err, rc, "no memory for a list of files");
		give_up(err);
		return rc;
	}
	MPI_Gather(&size, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (i = 0; i < count; i++)
		at[i + 1] = at[i] + sizes[i];
	texts = vpt_alloc((size_t)at[count] + 1, 1);
	if (!texts)
		give_up(err);
	MPI_Gatherv(text, size, MPI_CHAR, texts, sizes, at, MPI_CHAR, 0, MPI_COMM_WORLD);
	for (next = texts; is_first && next < texts + at[count] && !rc; next += strlen(next) + 1)
		rc = vpa_rank_list_unread(all, next);
	vpt_free(sizes);
	vpt_free(at);
	vpt_free(text);
	vpt_free(texts);
	return rc ? vpt_fail(err, rc, "no memory for a list of files") : VPT_OK;
}

/* Condenses this process's share and joins those of others; *all, of the first process, are all as bytes, and *list what could not be
 * read. */
static int gather(const struct vpt_args *args, struct vpa_options *o, struct vpt_buffer *all,
	struct vpa_rank_list *list, int *damaged, struct vpt_err *err)
{
	struct vpa_rank_blocks blocks = {.count = 0};
	struct vpa_rank_list unread = {.count = 0};
	const int self = rank_of(MPI_COMM_WORLD), count = size_of(MPI_COMM_WORLD);
	int own_damaged = 0, step, rc = condense(args, o, &blocks, &unread, &own_damaged, err);

	for (step = 1; step < count && self % (2 * step) == 0 && !rc; step *= 2)
		if (self + step < count)
			rc = join(&blocks, self + step, err);
	if (!rc)
		rc = pack(&blocks, all, err);
	if (rc)
		give_up(err);
	if (!rc && self)
		send_bytes(all, self - step);
	MPI_Reduce(&own_damaged, damaged, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rc)
		rc = gather_sentences(&unread, list, err);
	vpa_rank_list_free(&unread);
	vpa_rank_blocks_free(&blocks);
	return rc;
}

/* ---- the first process ---- */

/* Whether there is anything to do, said to all. */
static void tell(int *go)
{
	MPI_Bcast(go, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static int read_gathered(const struct vpt_args *args, struct vpa_options *o,
	struct vpa_rank_list *out, int *damaged, struct vpt_err *err, void *ctx)
{
	struct vpt_buffer bytes = {0};
	struct vpt_source *src;
	int *told = ctx, rc;

	*told = 1;
	tell(told);
	rc = gather(args, o, &bytes, out, damaged, err);
	if (!rc)
		rc = vpt_source_memory(bytes.data, bytes.size, &src, err);
	if (!rc) {
		rc = vpa_rank_summary_read(src, NULL, 0, out, err);
		vpt_source_close(src);
	}
	vpt_free(bytes.data);
	if (!rc && *damaged && !out->count)
		return vpt_fail(err, VPT_EDATA, "none of the files could be read");
	return rc;
}

static int lead(const struct vpt_args *args)
{
	int told = 0, code;

	/* What Open MPI passes on is a terminal to a process, wherever it ends. */
	setenv("NO_COLOR", "1", 1);
	code = vpa_ranks_run(args, read_gathered, &told);
	if (!told)
		tell(&told);
	return code;
}

/* ---- the others ---- */

static int follow(const struct vpt_args *args)
{
	struct vpa_options o = {.top = 1};
	struct vpa_rank_list nothing = {.count = 0}; /* the first process has it */
	struct vpt_buffer bytes = {0};
	struct vpt_err err = {0};
	char *rules = NULL;
	int go = 0, damaged = 0, rc;

	tell(&go);
	if (!go)
		return VPT_EXIT_DONE;
	rc = vpa_shared_options_read(args, &o, &err);
	if (!rc)
		rc = vpa_rules_option_read(args, &o, &rules, &err);
	if (rc)
		give_up(&err);
	if (!rc)
		rc = gather(args, &o, &bytes, &nothing, &damaged, &err);
	vpt_free(bytes.data);
	vpt_free(rules);
	return rc ? VPT_EXIT_FAILED : VPT_EXIT_DONE;
}

static int run(const struct vpt_args *args)
{
	return rank_of(MPI_COMM_WORLD) ? follow(args) : lead(args);
}

/* What is wrong with the command line, or its help, is said once. */
static int run_words(int argc, char **argv)
{
	const int is_first = !rank_of(MPI_COMM_WORLD);
	struct vpt_err err = {0};
	struct vpt_args args;
	int code = VPT_EXIT_DONE, rc = vpt_args_read(&command, argc, argv, &args, &err);

	if (args.wants_help) {
		rc = is_first ? vpt_help_print(&command, &err) : VPT_OK;
	} else if (!rc) {
		vpa_memory_bound(&args);
		code = run(&args);
	}
	if (rc)
		code = is_first ? vpa_failed(&err) : VPT_EXIT_DONE;
	vpt_args_free(&args);
	return code;
}

int main(int argc, char **argv)
{
	struct vpt_err err;
	int code;

	if (vpt_process_begin(&err)) {
		fprintf(stderr, "vptrace-ranks-mpi: %s\n", err.text);
		return VPT_EXIT_FAILED;
	}
	vpt_limits_memory(0);
	if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
		return VPT_EXIT_FAILED;
	make_command();
	code = run_words(argc - 1, argv + 1);
	MPI_Finalize();
	return code;
}
