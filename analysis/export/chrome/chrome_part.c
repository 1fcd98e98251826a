/* chrome_part.c - what is known of one rank of several in a file: an event of metadata, "vptrace_rank", which other readers skip.
 *
 * {"ph":"M","name":"vptrace_rank","pid":"[rank 3] 100","tid":0,"args":{"facts":[["host","a"],..],"unit":"..","stages":"..","devices":[]}}
 *
 * The profiler's own members are about a file of one rank. Its unit is what the rank's report counts in, and its stages
 * are those of that report: all ranks of a file have one report, which counts in none of them. */
#include "analysis/export/chrome/chrome_rows.h"

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/ranks/rank/rank_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_fact(struct vpa_line *l, const char *key, const char *value)
{
	if (!value)
		return;
	vpa_line_words(l, l->data[l->size - 1] == '[' ? "[" : ",[");
	vpa_line_json(l, key, strlen(key));
	vpa_line_words(l, ",");
	vpa_line_json(l, value, strlen(value));
	vpa_line_words(l, "]");
}

static void put_text(struct vpa_line *l, const char *member, const char *text)
{
	if (!text)
		return;
	vpa_line_words(l, member);
	vpa_line_json(l, text, strlen(text));
}

static void put_number(struct vpa_line *l, const char *key, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	put_fact(l, key, number < 0 ? NULL : text);
}

static void put_facts(struct vpa_line *l, const struct vpa_rank *rank)
{
	size_t i;

	put_number(l, vpt_metadata_key(VPT_METADATA_RANK), rank->rank);
	put_number(l, vpt_metadata_key(VPT_METADATA_WORLD_SIZE), rank->world_size);
	put_number(l, vpt_metadata_key(VPT_METADATA_LOCAL_RANK), rank->local_rank);
	put_number(l, "device", rank->device);
	put_fact(l, vpt_metadata_key(VPT_METADATA_HOST), rank->host);
	put_fact(l, vpt_metadata_key(VPT_METADATA_BOOT_ID), rank->boot_id);
	put_fact(l, vpt_metadata_key(VPT_METADATA_JOB), rank->job);
	for (i = 0; i < rank->fact_count; i++)
		put_fact(l, rank->facts[i].name, rank->facts[i].value);
}

void vpa_chrome_put_part(struct vpa_chrome *x, const struct vpa_line *devices)
{
	const struct vpa_rank *rank = x->part->rank;
	struct vpa_line *l = &x->out;
	struct vpa_arena texts = {.failed = 0};
	char unit[VPA_RANK_UNIT_SIZE];

	if (!rank || l->failed)
		return;
	vpa_chrome_event(x);
	vpa_line_words(l, "{\"ph\":\"M\",\"name\":\"vptrace_rank\"");
	vpa_chrome_pid(x, l, ",\"pid\":", rank->pid < 0 ? 0 : (uint64_t)rank->pid);
	vpa_line_words(l, ",\"tid\":0,\"args\":{\"facts\":[");
	put_facts(l, rank);
	vpa_line_words(l, "]");
	put_text(l, ",\"unit\":", vpa_rank_unit_write(rank, unit) ? unit : NULL);
	put_text(l, ",\"stages\":", vpa_rank_stages_write(rank, &texts));
	vpa_line_words(l, ",\"devices\":[");
	vpa_line_put(l, devices->data, devices->size);
	vpa_line_words(l, "]}}");
	l->failed |= texts.failed;
	vpa_arena_free(&texts);
}
