/* change.c - reads changes. */
#include "analysis/retime/replay/change.h"

#include "analysis/names/families.h"
#include "formats/cli/command.h"
#include "formats/base/count.h"
#include "formats/event_schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The words of a change that are still to be read. */
struct words {
	const char *text; /* the whole change, for errors */
	char rest[3 * VPA_CHANGE_NAME];
};

static int refuse(const struct words *w, const char *expected, struct vpt_err *err)
{
	return vpt_fail(err, VPT_EINVAL, "change \"%.120s\": expected %s", w->text, expected);
}

/* Takes the text before the first blank off the rest. Of a word that is too long nothing is left to match. */
static void take_word(struct words *w, char *word, size_t size)
{
	size_t len = strcspn(w->rest, " "), skip = len + strspn(w->rest + len, " ");

	if (len >= size)
		return (void)(*word = '\0');
	memcpy(word, w->rest, len);
	word[len] = '\0';
	memmove(w->rest, w->rest + skip, strlen(w->rest + skip) + 1);
}

static void cut_blanks(char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
}

/* Whether the last word of the first `len` bytes is a number. */
static int ends_with_number(const char *text, size_t len)
{
	size_t from = len;
	char *end;

	while (from && text[from - 1] != ' ')
		from--;
	(void)strtod(text + from, &end);
	return from < len && end == text + len;
}

/* Takes a word like " in " and the text after it off the rest, if both are there and the text is short enough. */
static void take_after(struct words *w, const char *mark, int is_after_number, char *out)
{
	char *found = strstr(w->rest, mark), *text;

	while (found && is_after_number && !ends_with_number(w->rest, (size_t)(found - w->rest)))
		found = strstr(found + 1, mark);
	if (!found)
		return;
	text = found + strlen(mark);
	text += strspn(text, " ");
	if (!*text || strlen(text) >= VPA_CHANGE_NAME)
		return;
	strcpy(out, text);
	*found = '\0';
	cut_blanks(w->rest);
}

static int read_number(const struct words *w, const char *word, double most, double *out,
	const char *expected, struct vpt_err *err)
{
	char *end;
	double value = strtod(word, &end);

	if (!*word || *end || !(value >= 0) || value > most)
		return refuse(w, expected, err);
	*out = value;
	return VPT_OK;
}

/* 0: no such kind. */
static uint32_t copy_kind(const char *word)
{
	uint32_t kind;

	for (kind = VPT_COPYKIND_HTOD; kind <= VPT_COPYKIND_MEMSET; kind++) {
		const char *name = vpt_word(VPT_UNIT_COPY_KIND, kind);

		if (name && !strcmp(name, word))
			return kind;
	}
	return 0;
}

static int read_copy_kind(
	const struct words *w, const char *word, struct vpa_change *c, struct vpt_err *err)
{
	c->number = copy_kind(word);
	c->what = VPA_WHAT_COPY_KIND;
	return c->number ? VPT_OK : refuse(w, "a kind of copy, such as HtoD or DtoH", err);
}

static int read_calls(
	const struct words *w, const char *word, struct vpa_change *c, struct vpt_err *err)
{
	static const struct {
		const char *word;
		enum vpa_change_what what;
	} groups[] = {
		{"small-reads", VPA_WHAT_SMALL_READS},
		{"syncs", VPA_WHAT_SYNCS},
		{"launches", VPA_WHAT_LAUNCHES},
		{"copies", VPA_WHAT_COPIES},
		{"allocations", VPA_WHAT_ALLOCATIONS},
		{"loads", VPA_WHAT_LOADS},
		{"graph-builds", VPA_WHAT_BUILDS},
		{"adapters", VPA_WHAT_ADAPTERS},
		{"unpacking", VPA_WHAT_UNPACKING},
		{"reductions", VPA_WHAT_REDUCTIONS},
		{"recomputation", VPA_WHAT_RECOMPUTED},
		{"stops", VPA_WHAT_STOPS},
	};
	size_t i;

	if (!*word || strlen(word) >= sizeof(c->name))
		return refuse(w,
			"the name of a CUDA call, syncs, launches, copies, small-reads, "
			"allocations, loads, graph-builds, adapters, unpacking, reductions, "
			"recomputation or "
			"stops",
			err);
	strcpy(c->name, word);
	c->what = VPA_WHAT_CALLS;
	for (i = 0; i < COUNT(groups); i++)
		if (!strcmp(word, groups[i].word))
			c->what = groups[i].what;
	return VPT_OK;
}

static int read_end(const struct words *w, const char *expected, struct vpt_err *err)
{
	return *w->rest ? refuse(w, expected, err) : VPT_OK;
}

/* ---- a function for each ---- */

/* "over TIME" or "under TIME". 0 without a failure: it is neither. */
static int take_length(
	struct words *w, const char *word, struct vpa_change *c, int *is_there, struct vpt_err *err)
{
	uint64_t *ns = !strcmp(word, "over") ? &c->least_ns : &c->most_ns;
	char time[VPA_CHANGE_NAME];

	*is_there = !strcmp(word, "over") || !strcmp(word, "under");
	if (!*is_there)
		return VPT_OK;
	take_word(w, time, sizeof(time));
	return !vpt_duration_read(time, ns, err) && *ns
		       ? VPT_OK
		       : refuse(w, "over or under and a time, such as 100us", err);
}

/* "every TIME from TIME", or nothing. */
static int read_clock(struct words *w, struct vpa_stop_clock *clock, struct vpt_err *err)
{
	static const char expected[] = "drop stops [every TIME from TIME] [in PLACE]";
	char word[VPA_CHANGE_NAME], time[VPA_CHANGE_NAME];

	if (!*w->rest)
		return VPT_OK;
	take_word(w, word, sizeof(word));
	take_word(w, time, sizeof(time));
	if (strcmp(word, "every") != 0 || vpt_duration_read(time, &clock->every_ns, err) ||
		!clock->every_ns)
		return refuse(w, expected, err);
	take_word(w, word, sizeof(word));
	take_word(w, time, sizeof(time));
	if (strcmp(word, "from") != 0 || vpt_duration_read(time, &clock->from_ns, err))
		return refuse(w, expected, err);
	return read_end(w, expected, err);
}

static int read_drop(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];
	int rc, is_there = 0;

	take_word(w, word, sizeof(word));
	rc = read_calls(w, word, c, err);
	if (!rc && c->what == VPA_WHAT_STOPS)
		return read_clock(w, &c->stops, err);
	if (!rc && *w->rest) {
		take_word(w, word, sizeof(word));
		rc = take_length(w, word, c, &is_there, err);
		if (!rc && !is_there)
			rc = refuse(w, "drop CALL [under TIME] [in PLACE]", err);
	}
	return rc ? rc : read_end(w, "drop CALL [under TIME] [in PLACE]", err);
}

static int read_delete(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];
	int rc;

	take_word(w, word, sizeof(word));
	rc = read_calls(w, word, c, err);
	if (!rc && c->what == VPA_WHAT_COPIES && *w->rest) {
		take_word(w, word, sizeof(word));
		rc = read_copy_kind(w, word, c, err);
	}
	return rc ? rc : read_end(w, "delete small-reads|CALL|copies KIND [in PLACE]", err);
}

/* "FILE:LINE" */
static int is_line(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon > text && colon[1] &&
	       strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

/* "launch", after "per" */
static int read_launch(
	struct words *w, struct vpa_change *c, const char *expected, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];

	take_word(w, word, sizeof(word));
	c->per_launch = !strcmp(word, "launch");
	return c->per_launch ? VPT_OK : refuse(w, expected, err);
}

/* Lengths, as many as there are, then "after CALL"; or "per launch". */
static int read_stretch(
	struct words *w, struct vpa_change *c, const char *expected, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];
	int rc = VPT_OK, is_there = 1;

	while (!rc && is_there && *w->rest) {
		take_word(w, word, sizeof(word));
		if (!strcmp(word, "per") && !c->least_ns && !c->most_ns && !*c->line)
			return read_launch(w, c, expected, err);
		rc = take_length(w, word, c, &is_there, err);
	}
	if (rc || is_there)
		return rc;
	if (strcmp(word, "after") != 0)
		return refuse(w, expected, err);
	c->kind = VPA_CHANGE_HOST_AFTER;
	take_word(w, word, sizeof(word));
	return read_calls(w, word, c, err);
}

static int read_host(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	static const char expected[] = "host X [per launch | over TIME | under TIME | after CALL] "
				       "[at FILE:LINE] [on THREAD] [in PLACE]";
	char word[VPA_CHANGE_NAME];
	int rc;

	take_after(w, " on ", 0, c->thread);
	take_after(w, " at ", 0, c->line);
	if (*c->line && !is_line(c->line))
		return refuse(w, "host X at FILE:LINE, such as model.py:212", err);
	take_word(w, word, sizeof(word));
	rc = read_number(w, word, 1000, &c->factor, "host X, a factor from 0 to 1000", err);
	if (!rc)
		rc = read_stretch(w, c, expected, err);
	return rc ? rc : read_end(w, expected, err);
}

/* "GPU N" */
static int read_gpu(
	const struct words *w, const char *text, struct vpa_change *c, struct vpt_err *err)
{
	const char *number = text + 4;
	int is_gpu = !strncasecmp(text, "GPU ", 4) && *number && strlen(number) <= 6 &&
		     strspn(number, "0123456789") == strlen(number);

	if (!is_gpu)
		return refuse(w, "on GPU N, its number", err);
	c->on_gpu = 1 + (uint32_t)strtoul(number, NULL, 10);
	return VPT_OK;
}

/* A kernel's name may have blanks: the factor is the last word before what follows a number. */
static int read_scale(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	static const char expected[] = "scale FAMILY|KERNEL|KIND X, a factor from 0 to 1000";
	char gpu[VPA_CHANGE_NAME] = "", *last;
	enum vpa_family family;

	take_after(w, " on ", 1, gpu);
	if (*gpu && read_gpu(w, gpu, c, err))
		return VPT_EINVAL;
	last = strrchr(w->rest, ' ');
	if (!last || last - w->rest >= VPA_CHANGE_NAME)
		return refuse(w, expected, err);
	*last = '\0';
	strcpy(c->name, w->rest);
	cut_blanks(c->name);
	c->what = VPA_WHAT_KERNELS;
	if (!vpa_family_find(c->name, strlen(c->name), &family)) {
		c->what = VPA_WHAT_FAMILY;
		c->number = family;
	} else if (copy_kind(c->name)) {
		c->what = VPA_WHAT_COPY_KIND;
		c->number = copy_kind(c->name);
	}
	return read_number(w, last + 1, 1000, &c->factor, expected, err);
}

static int read_rate_of(const struct words *w, const char *word, struct vpa_change *c,
	const char *expected, struct vpt_err *err)
{
	int rc = read_number(w, word, 1e6, &c->factor, expected, err);

	return !rc && !(c->factor > 0) ? refuse(w, "a rate above 0 GB/s", err) : rc;
}

static int read_rate(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];
	int rc;

	take_word(w, word, sizeof(word));
	rc = read_copy_kind(w, word, c, err);
	take_word(w, word, sizeof(word));
	if (!rc)
		rc = read_rate_of(w, word, c, "rate KIND GB/s", err);
	return rc ? rc : read_end(w, "rate KIND GB/s [in PLACE]", err);
}

static int read_pin(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	char word[VPA_CHANGE_NAME];
	int rc;

	c->factor = 0;
	take_word(w, word, sizeof(word));
	rc = read_copy_kind(w, word, c, err);
	take_word(w, word, sizeof(word));
	if (!rc && *word)
		rc = read_rate_of(w, word, c, "pin KIND [GB/s]", err);
	return rc ? rc : read_end(w, "pin KIND [GB/s] [in PLACE]", err);
}

static int take_place(
	struct words *w, struct vpa_change *c, const char *expected, struct vpt_err *err)
{
	if (!*w->rest || strlen(w->rest) >= sizeof(c->place))
		return refuse(w, expected, err);
	strcpy(c->place, w->rest);
	*w->rest = '\0';
	return VPT_OK;
}

static int read_aside(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	return take_place(w, c, "aside PLACE, the name of a range", err);
}

static int read_graph(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	take_after(w, " each ", 0, c->outer);
	return take_place(w, c, "graph PLACE [each OUTER], names of ranges", err);
}

static int read_skip(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	static const char expected[] = "skip 1/N PLACE, with N from 1 to 1000";
	char word[VPA_CHANGE_NAME];
	unsigned long n;

	take_word(w, word, sizeof(word));
	if (strncmp(word, "1/", 2) != 0)
		return refuse(w, expected, err);
	n = strtoul(word + 2, NULL, 10);
	if (strspn(word + 2, "0123456789") != strlen(word + 2) || n < 1 || n > 1000)
		return refuse(w, expected, err);
	c->number = (uint32_t)n;
	return take_place(w, c, expected, err);
}

static int read_steps(struct words *w, struct vpa_change *c, struct vpt_err *err)
{
	static const char expected[] = "steps N PLACE, with N from 1 to 100000";
	char word[VPA_CHANGE_NAME];
	unsigned long n;

	take_word(w, word, sizeof(word));
	n = strtoul(word, NULL, 10);
	if (!*word || strspn(word, "0123456789") != strlen(word) || n < 1 || n > 100000)
		return refuse(w, expected, err);
	c->number = (uint32_t)n;
	return take_place(w, c, expected, err);
}

static const struct reader {
	const char *word;
	enum vpa_change_kind kind;
	int has_in; /* " in PLACE" may follow: 1: the first; 2: the first after a number */
	int (*read)(struct words *w, struct vpa_change *c, struct vpt_err *err);
} readers[] = {
	{"drop", VPA_CHANGE_DROP, 1, read_drop},
	{"delete", VPA_CHANGE_DELETE, 1, read_delete},
	{"host", VPA_CHANGE_HOST, 1, read_host},
	{"scale", VPA_CHANGE_SCALE, 2, read_scale},
	{"rate", VPA_CHANGE_RATE, 1, read_rate},
	{"pin", VPA_CHANGE_PIN, 1, read_pin},
	{"aside", VPA_CHANGE_ASIDE, 0, read_aside},
	{"graph", VPA_CHANGE_GRAPH, 0, read_graph},
	{"skip", VPA_CHANGE_SKIP, 0, read_skip},
	{"steps", VPA_CHANGE_STEPS, 0, read_steps},
};

int vpa_change_read(const char *text, struct vpa_change *out, struct vpt_err *err)
{
	struct words w = {.text = text};
	char word[VPA_CHANGE_NAME];
	size_t i;

	*out = (struct vpa_change){.factor = 1};
	text += strspn(text, " ");
	if (strlen(text) >= sizeof(w.rest))
		return refuse(&w, "a shorter text", err);
	strcpy(w.rest, text);
	cut_blanks(w.rest);
	take_word(&w, word, sizeof(word));
	for (i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		if (!strcmp(readers[i].word, word)) {
			out->kind = readers[i].kind;
			if (readers[i].has_in)
				take_after(&w, " in ", readers[i].has_in == 2, out->place);
			return readers[i].read(&w, out, err);
		}
	return refuse(&w, "drop, delete, host, scale, rate, pin, aside, graph, skip or steps", err);
}
