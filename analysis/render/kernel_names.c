/* kernel_names.c - shortens the names of kernels.
 *
 * Names of templates and of tuned kernels run to hundreds of bytes. Usually the beginning says most. If
 * several rows have the same beginning, the reader needs the difference: a row then shows, after its
 * beginning, the word at which it differs from each of the others. */
#include "analysis/render/kernel_names.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The length of a kernel's name without its parameters, "f<...>(int)". */
static size_t length_without_parameters(const char *name)
{
	size_t len = strlen(name), at = len;
	int depth = 0;

	if (!len || name[len - 1] != ')')
		return len;
	do {
		at--;
		depth += (name[at] == ')') - (name[at] == '(');
	} while (depth && at);
	return at ? at : len;
}

/* A kernel's name after its namespaces: "at::native::(anonymous namespace)::f<...>" begins at f, and so
 * does "<unnamed>::f<...>", as Nsight writes it. */
static const char *unqualified(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)", unnamed[] = "<unnamed>";
	const char *at = name, *begin = name;

	while (*at) {
		if (!strncmp(at, anonymous, sizeof(anonymous) - 1))
			at += sizeof(anonymous) - 1;
		else if (!strncmp(at, unnamed, sizeof(unnamed) - 1))
			at += sizeof(unnamed) - 1;
		else if (*at == '<')
			break;
		else if (*at == '(')
			break;
		else if (at[0] == ':' && at[1] == ':')
			begin = at += 2;
		else
			at++;
	}
	return *begin ? begin : name;
}

/* A part of a name. */
struct piece {
	const char *text;
	size_t len;
};

static struct piece whole(const char *name)
{
	struct piece out = {name ? name : "?", 0};

	if (!strncmp(out.text, "void ", 5))
		out.text += 5;
	out.len = strlen(out.text);
	return out;
}

static struct piece essence(const char *name)
{
	struct piece out = whole(name);

	out.text = unqualified(out.text);
	out.len = length_without_parameters(out.text);
	return out;
}

static int same(struct piece a, struct piece b)
{
	return a.len == b.len && !memcmp(a.text, b.text, a.len);
}

struct vpa_label vpa_kernel_label(const char *name, size_t columns)
{
	struct piece p = essence(name);

	return vpa_fit_part(p.text, p.len, columns);
}

/* ---- names that look alike ---- */

/* "_" separates the words of a C name; in a C++ name it is part of a word. */
static int in_word(const struct piece *name, size_t at)
{
	char c = name->text[at];

	return isalnum((unsigned char)c) || (c == '_' && memchr(name->text, '<', name->len));
}

/* The start of the first word at which two names differ. */
static size_t parting(struct piece a, struct piece b)
{
	size_t at = 0;

	while (at < a.len && at < b.len && a.text[at] == b.text[at])
		at++;
	while (at && in_word(&a, at - 1))
		at--;
	return at;
}

static size_t word_end(const struct piece *name, size_t at)
{
	size_t end = at;

	while (end < name->len && in_word(name, end))
		end++;
	return end == at && at < name->len ? at + 1 : end;
}

struct cuts {
	size_t at[VPA_LABELS_MAX], count; /* rising */
};

static void add_cut(struct cuts *cuts, size_t at)
{
	size_t i = cuts->count, k;

	while (i && cuts->at[i - 1] >= at)
		i--;
	if (i < cuts->count && cuts->at[i] == at)
		return;
	for (k = cuts->count++; k > i; k--)
		cuts->at[k] = cuts->at[k - 1];
	cuts->at[i] = at;
}

struct builder {
	struct vpa_label label;
	size_t used, columns; /* bytes written, columns left */
};

static void put(struct builder *b, const char *text, size_t len)
{
	struct vpa_label part = vpa_fit_part(text, len, b->columns);
	size_t bytes = strlen(part.text);

	if (b->used + bytes >= sizeof(b->label.text))
		return;
	memcpy(b->label.text + b->used, part.text, bytes + 1);
	b->used += bytes;
	b->columns -= vpa_columns(part.text);
}

/* The beginning of a name, as long as the words at its cuts leave room for, then those words. */
static struct vpa_label show_cuts(struct piece name, const struct cuts *cuts, size_t columns)
{
	enum { DOTS = 3, HEAD_MIN = 8 };
	struct builder b = {.columns = columns};
	size_t words = 0, shown, begin, end, i;

	for (i = 0; i < cuts->count; i++)
		words += DOTS + word_end(&name, cuts->at[i]) - cuts->at[i];
	shown = columns > words + HEAD_MIN ? columns - words : HEAD_MIN;
	if (shown > name.len)
		shown = name.len;
	put(&b, name.text, shown);
	for (i = 0; i < cuts->count; i++) {
		begin = cuts->at[i];
		end = word_end(&name, begin);
		if (end <= shown)
			continue;
		if (begin > shown + DOTS)
			put(&b, "...", DOTS);
		else
			begin = shown;
		put(&b, name.text + begin, end - begin);
		shown = end;
	}
	return b.label;
}

void vpa_kernel_labels(
	const char *const *names, size_t count, size_t columns, struct vpa_label *labels)
{
	struct vpa_label usual[VPA_LABELS_MAX];
	size_t i, k;

	assert(count <= VPA_LABELS_MAX);
	for (i = 0; i < count; i++)
		usual[i] = labels[i] = vpa_kernel_label(names[i], columns);
	for (i = 0; i < count; i++) {
		struct piece own = essence(names[i]);
		struct cuts cuts = {.count = 0};
		int all = 0;

		/* If they differ only in namespaces or parameters, show those. */
		for (k = 0; k < count; k++)
			all |= k != i && same(own, essence(names[k])) &&
			       !same(whole(names[i]), whole(names[k]));
		own = all ? whole(names[i]) : own;
		for (k = 0; k < count; k++)
			if (k != i && !strcmp(usual[i].text, usual[k].text) &&
				!same(whole(names[i]), whole(names[k])))
				add_cut(&cuts,
					parting(own, all ? whole(names[k]) : essence(names[k])));
		if (cuts.count)
			labels[i] = show_cuts(own, &cuts, columns);
	}
}

/* ---- kernels without a family ---- */

struct vpa_label vpa_unknown_label(const struct vpa_report *r)
{
	enum { NAME = 28 };
	struct vpa_label out = {"unknown"};
	size_t used = strlen(out.text), i;

	for (i = 0; i < r->unknown_count && used + 4 * NAME + 4 < sizeof(out.text); i++)
		used += (size_t)snprintf(out.text + used, sizeof(out.text) - used, "%s%s",
			i ? ", " : " (", vpa_kernel_label(r->unknown_kernels[i], NAME).text);
	if (i)
		memcpy(out.text + used, ")", 2);
	return out;
}
