/* answer.c - lines of at most 80 columns on a terminal or in a file: status, check, fact, and below
 * the fact the remedy. Bytes from outside are shown as a terminal may see them. */
#include "tracer/doctor/checks/checks.h"

#include "formats/io/io.h"
#include "formats/io/json_writer.h"
#include "formats/base/text.h"
#include "formats/cli/terminal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_MAX = 200, WIDTH_MIN = 60, FACT_COLUMN = 18 };

static const struct {
	const char *word, *json, *colour;
} statuses[] = {
	[VTR_STATUS_OK] = {"ok", "ok", "\x1b[32m"},
	[VTR_STATUS_WARN] = {"warn", "warn", "\x1b[33m"},
	[VTR_STATUS_FAIL] = {"FAIL", "fail", "\x1b[1;31m"},
};

/* ---- collecting ---- */

static struct vtr_finding *add(struct vtr_answer *a, enum vtr_status status)
{
	struct vtr_finding *f;

	if (a->count == VTR_FINDINGS_MAX)
		a->count--; /* the last line stands for all beyond */
	f = &a->findings[a->count++];
	memset(f, 0, sizeof(*f));
	f->check = a->check;
	f->status = status;
	return f;
}

void vtr_find(
	struct vtr_answer *a, enum vtr_status status, const char *remedy, const char *fmt, ...)
{
	struct vtr_finding *f = add(a, status);
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->fact, sizeof(f->fact), fmt, args);
	va_end(args);
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy ? remedy : "");
}

/* The end of the first sentence; NULL: there is no second one. */
static const char *first_end(const char *words)
{
	const char *p;

	for (p = strstr(words, ". "); p; p = strstr(p + 1, ". "))
		if (isupper((unsigned char)p[2]))
			return p;
	return NULL;
}

void vtr_find_words(
	struct vtr_answer *a, enum vtr_status status, const char *words, const char *remedy)
{
	const char *end = first_end(words);

	if (end)
		vtr_find(a, status, end + 2, "%.*s", (int)(end - words), words);
	else
		vtr_find(a, status, remedy, "%s", words);
}

enum vtr_status vtr_answer_worst(const struct vtr_answer *a, const char *check)
{
	enum vtr_status worst = VTR_STATUS_OK;
	size_t i;

	for (i = 0; i < a->count; i++)
		if ((!check || !strcmp(check, a->findings[i].check)) &&
			a->findings[i].status > worst)
			worst = a->findings[i].status;
	return worst;
}

/* ---- text ---- */

/* Standard output, as vptrace-analyze sees it. */
static struct vpt_out standard_output(void)
{
	int is_terminal = isatty(STDOUT_FILENO);

	return (struct vpt_out){.to_stdout = is_terminal, .to_terminal = is_terminal};
}

static unsigned page_width(const struct vpt_out *out)
{
	unsigned width = vpt_terminal_width(out);

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* A copy in which nothing commands a terminal. */
static void clean(const char *text, char *out, size_t size)
{
	size_t used = 0;

	for (; *text && used + 5 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == 0x7f)
			used += (size_t)snprintf(out + used, size - used, "\\x%02x", c);
		else
			out[used++] = *text;
	}
	out[used] = '\0';
}

/* Words from FACT_COLUMN on; the cursor is there. */
static void put_wrapped(const char *text, unsigned width)
{
	char shown[4 * VTR_FACT_BYTES];
	size_t column = FACT_COLUMN;
	const char *p = shown;

	clean(text, shown, sizeof(shown));
	while (*p) {
		size_t word = strcspn(p, " ");

		if (column > FACT_COLUMN && column + 1 + word > width) {
			printf("\n%*s", FACT_COLUMN, "");
			column = FACT_COLUMN;
		}
		printf("%s%.*s", column > FACT_COLUMN ? " " : "", (int)word, p);
		column += word + (column > FACT_COLUMN);
		p += word;
		p += strspn(p, " ");
	}
	putchar('\n');
}

static void put_finding(const struct vtr_finding *f, const char *check, int colour, unsigned width)
{
	const char *word = statuses[f->status].word;

	printf("%s%s%s%*s%-*s", colour ? statuses[f->status].colour : "", word,
		colour ? "\x1b[0m" : "", (int)(6 - strlen(word)), "", FACT_COLUMN - 6, check);
	put_wrapped(f->fact, width);
	if (!*f->remedy)
		return;
	printf("%*s", FACT_COLUMN, "");
	put_wrapped(f->remedy, width);
}

int vtr_answer_text(const struct vtr_answer *a)
{
	const struct vpt_out out = standard_output();
	int colour = vpt_terminal_colour(&out, "auto");
	unsigned width = page_width(&out);
	size_t i, counts[VTR_STATUS_FAIL + 1] = {0};

	for (i = 0; i < a->count; i++) {
		const struct vtr_finding *f = &a->findings[i];
		int same = i && !strcmp(f->check, f[-1].check);

		put_finding(f, same ? "" : f->check, colour, width);
		counts[f->status]++;
	}
	printf("\n%zu ok, %zu warning%s, %zu failed\n", counts[VTR_STATUS_OK],
		counts[VTR_STATUS_WARN], counts[VTR_STATUS_WARN] == 1 ? "" : "s",
		counts[VTR_STATUS_FAIL]);
	return fflush(stdout) || ferror(stdout);
}

/* ---- JSON ---- */

int vtr_answer_json(const struct vtr_answer *a)
{
	static struct vpt_json j; /* its buffer is large */
	struct vpt_err err = {0};
	struct vpt_sink *sink;
	size_t i;
	int rc;

	if (vpt_sink_open("-", 0, &sink, &err))
		return 1;
	vpt_json_init(&j, sink, 1);
	vpt_json_array(&j, NULL);
	for (i = 0; i < a->count; i++) {
		const struct vtr_finding *f = &a->findings[i];

		vpt_json_object(&j, NULL);
		vpt_json_string(&j, "check", f->check);
		vpt_json_string(&j, "status", statuses[f->status].json);
		vpt_json_string(&j, "fact", f->fact);
		vpt_json_string(&j, "remedy", *f->remedy ? f->remedy : NULL);
		vpt_json_end(&j);
	}
	vpt_json_end(&j);
	vpt_json_newline(&j);
	rc = vpt_json_finish(&j, &err);
	return sink->finish(sink, !rc, &err) || rc;
}
