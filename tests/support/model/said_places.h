/* said_places.h - what findings say about places, judged by the pieces of idle time alone: "all of this wait with the host
 * in ffn" needs every piece of that cause there, up to what rounds to nothing. Include cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_MODEL_SAID_PLACES_H
#define VPT_TESTS_SUPPORT_MODEL_SAID_PLACES_H

#include "analysis/advice/findings/findings_idle.h"
#include "analysis/report/report.h"

#include <stdlib.h>
#include <string.h>

/* Whether two names are equal but for their numbers. */
static inline int said_alike(const char *a, const char *b)
{
	for (;; a++, b++) {
		int number = *a >= '0' && *a <= '9' && *b >= '0' && *b <= '9';

		while (number && a[1] >= '0' && a[1] <= '9')
			a++;
		while (number && b[1] >= '0' && b[1] <= '9')
			b++;
		if (!number && *a != *b)
			return 0;
		if (!*a)
			return 1;
	}
}

static inline enum vpa_waits said_part(const struct vpa_finding *f)
{
	switch (f->id) {
	case VPA_FOUND_SMALL_READS:
		return VPA_WAITS_READS;
	case VPA_FOUND_BLOCKING_COPY:
		return VPA_WAITS_COPIES;
	case VPA_FOUND_SYNC_DRAIN:
		return VPA_WAITS_SYNCS;
	case VPA_FOUND_HOST_WAITS:
		return VPA_WAITS_ALL;
	default:
		return VPA_WAITS_NONE;
	}
}

/* Whether a piece is of what the finding is about. */
static inline int said_is_of(
	const struct vpa_report *r, const struct vpa_finding *f, const struct vpa_idle_part *p)
{
	enum vpa_waits part = said_part(f);
	size_t length = strlen(vpa_cause_words(p->cause));

	if (part == VPA_WAITS_NONE)
		return !strncmp(f->measured, vpa_cause_words(p->cause), length) &&
		       f->measured[length] == ':';
	if (p->cause != VPA_CAUSE_SYNC && p->cause != VPA_CAUSE_BLOCKING_COPY)
		return 0;
	if ((part == VPA_WAITS_SYNCS && p->cause != VPA_CAUSE_SYNC) ||
		(part == VPA_WAITS_COPIES && p->cause != VPA_CAUSE_BLOCKING_COPY))
		return 0;
	return vpa_waits_take_place(r, part, &p->place);
}

/* The part of the finding's pieces that is where `p` is, or, if `alike`, where names differ by a number. */
static inline double said_share(const struct vpa_report *r, const struct vpa_finding *f,
	const struct vpa_idle_part *p, int alike)
{
	double there = 0, all = 0;
	size_t d, i;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].cause_count; i++) {
			const struct vpa_idle_part *q = &r->devices[d].causes[i];
			const char *a = q->place.text ? q->place.text : "",
				   *b = p->place.text ? p->place.text : "";

			if (!said_is_of(r, f, q))
				continue;
			all += (double)q->ns;
			if (q->cause == p->cause && q->place.kind == p->place.kind &&
				!strcmp(q->call ? q->call : "", p->call ? p->call : "") &&
				(alike ? said_alike(a, b) : !strcmp(a, b)))
				there += (double)q->ns;
		}
	return all > 0 ? there / all : 0;
}

static inline const char *said_word(double share)
{
	return share >= 0.9995 ? "all"
	       : share >= 0.95 ? "nearly all"
	       : share >= 0.6  ? "most"
	       : share >= 0.4  ? "about half"
	       : share >= 0.28 ? "about a third"
			       : "some";
}

/* Whether a text begins with these words, where a number of theirs may be in a span: "IO 0..430" is about "IO 12". */
static inline int said_begins(const char *text, const char *words)
{
	while (*words) {
		int number = *words >= '0' && *words <= '9';
		size_t digits = strspn(text, "0123456789");

		if (number && digits && !strncmp(text + digits, "..", 2)) {
			words += strspn(words, "0123456789");
			text += digits + 2;
			text += strspn(text, "0123456789");
		} else if (*text++ != *words++) {
			return 0;
		}
	}
	return 1;
}

/* Whether the note is about the place of this piece: its call and its name are in it, where they belong. */
static inline int said_names(const char *note, const struct vpa_idle_part *p)
{
	char words[512];

	snprintf(words, sizeof(words), " of this wait%s %.100s%s%s%.100s",
		p->call                             ? ":"
		: p->place.kind == VPA_PLACE_BEFORE ? ""
						    : " with the host",
		p->call ? p->call : "", p->call && p->place.text ? " " : "",
		p->place.text && p->place.kind != VPA_PLACE_BEFORE ? "in " : "",
		p->place.text ? p->place.text : "");
	for (; *note; note++)
		if (said_begins(note, words))
			return 1;
	return 0;
}

/* Whether the word stands right before `of`, and nothing of its sentence before it. */
static inline int said_before(const char *note, const char *of, const char *word)
{
	size_t length = strlen(word);
	const char *from = of - length;

	return (size_t)(of - note) >= length && !strncmp(from, word, length) &&
	       (from == note || (from - note >= 2 && !strncmp(from - 2, "; ", 2)));
}

/* NULL, or the first note or place of a finding that the pieces do not bear out. Adds to `claims` how many there are. */
static inline const char *said_places_differ(const struct vpa_report *r, unsigned *claims)
{
	size_t k, d, i;

	for (k = 0; k < r->finding_count; k++) {
		const struct vpa_finding *f = &r->findings[k];
		const char *of = f->note ? strstr(f->note, " of this wait") : NULL;
		double said = -1, most = 0;
		int matched = 0;

		for (d = 0; of && d < r->device_count; d++)
			for (i = 0; i < r->devices[d].cause_count; i++) {
				const struct vpa_idle_part *p = &r->devices[d].causes[i];
				const char *word;

				if (!said_is_of(r, f, p) || !said_names(f->note, p))
					continue;
				said = said_share(r, f, p, strstr(of, " of them)") != NULL);
				most = said > most ? said : most;
				word = said_word(said);
				matched |= said_before(f->note, of, word);
			}
		if (of && !matched)
			return f->note;
		*claims += of != NULL;
		if (of && f->where && !f->is_code &&
			most < (f->is_half            ? 0.4
				       : f->is_mostly ? 0.6
						      : 0.95))
			return f->where;
	}
	return NULL;
}

#endif
