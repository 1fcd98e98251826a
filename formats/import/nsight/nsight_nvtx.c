/* nsight_nvtx.c - NVTX ranges, marks and domains of an Nsight Systems export.
 *
 * One table holds all of NVTX. Every row with an end is a range, so the number of ranges equals
 * that of a query for `end IS NOT NULL`. A range that was never closed is kept, cut at the trace's
 * end and marked as unmatched.
 *
 * Left out: names of categories; the contents of binary payloads. */
#include "formats/import/nsight/nsight_import.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ENUM_NSYS_EVENT_TYPE, the same in all versions; NVTXT_ are events imported from text files. */
enum {
	NVTX_CATEGORY = 33,
	NVTX_MARK = 34,
	NVTX_THREAD = 39,
	NVTX_PUSH_POP = 59,
	NVTX_START_END = 60,
	NVTXT_CATEGORY = 64,
	NVTXT_MARK = 65,
	NVTXT_PUSH_POP = 70,
	NVTXT_START_END = 71,
	NVTXT_THREAD = 72,
	NVTXT_FILE_DISPLAY = 74,
	NVTX_DOMAIN_CREATE = 75,
	NVTX_DOMAIN_DESTROY = 76,
	NVTX_NAME_DEVICE = 97,
	NVTX_NAME_STREAM = 99
};

enum use { USE_UNKNOWN, USE_RANGE, USE_MARK, USE_SKIP };

static const struct {
	int first, last;
	enum use use;
} uses[] = {
	{NVTX_PUSH_POP, NVTX_START_END, USE_RANGE},
	{NVTXT_PUSH_POP, NVTXT_START_END, USE_RANGE},
	{NVTX_MARK, NVTX_MARK, USE_MARK},
	{NVTXT_MARK, NVTXT_MARK, USE_MARK},
	{NVTX_CATEGORY, NVTX_CATEGORY, USE_SKIP},
	{NVTX_THREAD, NVTX_THREAD, USE_SKIP},
	{NVTXT_CATEGORY, NVTXT_CATEGORY, USE_SKIP},
	{NVTXT_THREAD, NVTXT_FILE_DISPLAY, USE_SKIP},
	{NVTX_DOMAIN_CREATE, NVTX_DOMAIN_DESTROY, USE_SKIP},
	{NVTX_NAME_DEVICE, NVTX_NAME_STREAM, USE_SKIP},
};

static enum use use_of(int64_t type)
{
	size_t i;

	for (i = 0; i < COUNT(uses); i++)
		if (type >= uses[i].first && type <= uses[i].last)
			return uses[i].use;
	return USE_UNKNOWN;
}

enum {
	N_START,
	N_TYPE,
	N_THREAD,
	N_TEXT,
	N_TEXT_ID,
	N_DOMAIN,
	N_DOMAIN_FIELDS, /* of the name of a domain */
	N_END = N_DOMAIN_FIELDS,
	N_END_THREAD,
	N_CATEGORY,
	N_COLOUR,
	N_UINT64,
	N_INT64,
	N_DOUBLE,
	N_UINT32,
	N_INT32,
	N_FLOAT,
	N_JSON,
	N_JSON_ID,
	N_BINARY
};

static const struct vpt_nsight_field nvtx_fields[] = {
	[N_START] = {"start", VPT_CELL_STAMP, VPT_NEEDED, 0},
	[N_END] = {"end", VPT_CELL_STAMP, VPT_OPTIONAL, 0},
	[N_TYPE] = {"eventType", VPT_CELL_COUNT, VPT_OPTIONAL, NVTX_PUSH_POP},
	[N_THREAD] = {"globalTid", VPT_CELL_BITS, VPT_NEEDED_IF_THERE, -1},
	[N_END_THREAD] = {"endGlobalTid", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_TEXT] = {"text", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	[N_TEXT_ID] = {"textId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_DOMAIN] = {"domainId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_CATEGORY] = {"category", VPT_CELL_COUNT, VPT_OPTIONAL, 0},
	[N_COLOUR] = {"color", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_UINT64] = {"uint64Value", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_INT64] = {"int64Value", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_DOUBLE] = {"doubleValue", VPT_CELL_REAL, VPT_OPTIONAL, 0},
	[N_UINT32] = {"uint32Value", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_INT32] = {"int32Value", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_FLOAT] = {"floatValue", VPT_CELL_REAL, VPT_OPTIONAL, 0},
	[N_JSON] = {"jsonText", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
	[N_JSON_ID] = {"jsonTextId", VPT_CELL_BITS, VPT_OPTIONAL, 0},
	[N_BINARY] = {"binaryData", VPT_CELL_TEXT, VPT_OPTIONAL, 0},
};

/* The text in the row, or the registered text that it refers to; 0 if there is neither. */
static uint64_t text_or_id(
	struct vpt_nsight *im, const struct vpt_cell *text, const struct vpt_cell *id)
{
	struct vpt_nsight_name *name = text->known ? NULL : vpt_nsight_find_string(im, id);

	if (text->known)
		return vpt_nsight_text(im, text->text);
	return name ? vpt_nsight_string(im, name) : 0;
}

/* ---- domains ---- */

static const struct vpt_nsight_only only_domains = {N_TYPE, NVTX_DOMAIN_CREATE};

/* Their names are rows of the same table and may come after the ranges that refer to them. */
static int domain_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	struct vpt_text text = cell[N_TEXT].text;
	struct vpt_nsight_name *name;

	if (cell[N_TYPE].number != NVTX_DOMAIN_CREATE || !cell[N_DOMAIN].known)
		return VPT_OK;
	name = cell[N_TEXT].known ? NULL : vpt_nsight_find_string(im, &cell[N_TEXT_ID]);
	if (name)
		text = vpt_nsight_name_text(&im->strings, name);
	return vpt_nsight_names_add(&im->domains, vpt_nsight_pid(cell[N_THREAD].number),
		cell[N_DOMAIN].number, text.text, text.len);
}

/* A domain without a name gets one of its own, lest its ranges mix with the default domain's. */
static uint64_t domain_of(struct vpt_nsight *im, const struct vpt_cell *cell)
{
	int64_t id = cell[N_DOMAIN].number;
	struct vpt_nsight_name *name;
	char text[40];
	int len;

	if (!id)
		return 0;
	name = vpt_nsight_names_find(&im->domains, vpt_nsight_pid(cell[N_THREAD].number), id);
	if (!name) {
		len = snprintf(text, sizeof(text), "domain %" PRId64, id);
		return vpt_collect_string(im->out, text, (size_t)len);
	}
	if (name->string == UINT64_MAX)
		name->string = vpt_nsight_text(im, vpt_nsight_name_text(&im->domains, name));
	return name->string;
}

/* ---- payloads ---- */

static const struct {
	int cell;
	unsigned payload;
} payloads[] = {
	{N_UINT64, VPT_PAYLOAD_UINT64}, {N_INT64, VPT_PAYLOAD_INT64},
	{N_DOUBLE, VPT_PAYLOAD_DOUBLE}, {N_UINT32, VPT_PAYLOAD_UINT32},
	{N_INT32, VPT_PAYLOAD_INT32}, {N_FLOAT, VPT_PAYLOAD_FLOAT}, {N_JSON, VPT_PAYLOAD_JSON},
	{N_JSON_ID, VPT_PAYLOAD_JSON},
	{N_BINARY, VPT_PAYLOAD_BLOB}, /* as text, as the tool formats it */
};

/* 64 bits as NVTX's union would hold them: a narrower value is in the low half. */
static uint64_t payload_bits(
	struct vpt_nsight *im, const struct vpt_cell *cell, unsigned payload, int i)
{
	float narrow = (float)cell[i].real;
	uint32_t narrow_bits;
	uint64_t bits;

	switch (payload) {
	case VPT_PAYLOAD_DOUBLE:
		memcpy(&bits, &cell[i].real, sizeof(bits));
		return bits;
	case VPT_PAYLOAD_FLOAT:
		memcpy(&narrow_bits, &narrow, sizeof(narrow_bits));
		return narrow_bits;
	case VPT_PAYLOAD_UINT32:
	case VPT_PAYLOAD_INT32:
		return (uint64_t)cell[i].number & UINT32_MAX;
	case VPT_PAYLOAD_JSON:
		return text_or_id(im, &cell[N_JSON], &cell[N_JSON_ID]);
	case VPT_PAYLOAD_BLOB:
		return vpt_nsight_text(im, cell[i].text);
	default:
		return (uint64_t)cell[i].number;
	}
}

static uint64_t payload_of(struct vpt_nsight *im, const struct vpt_cell *cell, uint64_t *value)
{
	size_t i;

	for (i = 0; i < COUNT(payloads); i++)
		if (cell[payloads[i].cell].known) {
			*value = payload_bits(im, cell, payloads[i].payload, payloads[i].cell);
			return payloads[i].payload;
		}
	return VPT_PAYLOAD_NONE;
}

/* ---- ranges and marks ---- */

static int put_mark(struct vpt_nsight *im, const struct vpt_cell *cell, uint64_t lane)
{
	struct vpt_mark row = {.time_ns = (uint64_t)cell[N_START].number,
		.name = text_or_id(im, &cell[N_TEXT], &cell[N_TEXT_ID]),
		.domain = domain_of(im, cell),
		.category = (uint64_t)cell[N_CATEGORY].number,
		.colour = (uint64_t)cell[N_COLOUR].number & UINT32_MAX};

	row.payload = payload_of(im, cell, &row.value);
	vpt_collect_put(im->out, VPT_MARK, lane, &row);
	vpt_nsight_note(im, cell[N_START].number);
	return VPT_OK;
}

static int put_range(struct vpt_nsight *im, const struct vpt_cell *cell, uint64_t lane)
{
	int64_t type = cell[N_TYPE].number;
	/* Time 0 is the start of the session; a range that was already open is cut there. */
	int64_t start_ns = cell[N_START].number < 0 ? 0 : cell[N_START].number;
	struct vpt_range row = {.start_ns = (uint64_t)start_ns,
		.range_kind = type == NVTX_START_END || type == NVTXT_START_END
				      ? VPT_RANGEKIND_START_END
				      : VPT_RANGEKIND_PUSH_POP,
		.name = text_or_id(im, &cell[N_TEXT], &cell[N_TEXT_ID]),
		.domain = domain_of(im, cell),
		.category = (uint64_t)cell[N_CATEGORY].number,
		.colour = (uint64_t)cell[N_COLOUR].number & UINT32_MAX};

	row.payload = payload_of(im, cell, &row.value);
	if (cell[N_END_THREAD].known && cell[N_END_THREAD].number != cell[N_THREAD].number &&
		vpt_nsight_thread(im, cell[N_END_THREAD].number, &row.end_thread))
		return VPT_ENOMEM;
	if (cell[N_END].known) {
		row.duration_ns = (uint64_t)cell[N_END].number - (uint64_t)start_ns;
		vpt_collect_put(im->out, VPT_RANGE, lane, &row);
		vpt_nsight_note(im, cell[N_END].number);
		return VPT_OK;
	}
	row.unmatched = 1;
	if (vpt_grow(&im->unmatched, &im->unmatched_cap, im->unmatched_count + 1,
		    sizeof(*im->unmatched)))
		return VPT_ENOMEM;
	im->unmatched[im->unmatched_count++] = (struct vpt_nsight_unmatched){lane, row};
	vpt_nsight_note(im, start_ns);
	return VPT_OK;
}

static int nvtx_row(void *ctx, const struct vpt_cell *cell)
{
	struct vpt_nsight *im = ctx;
	enum use use = cell[N_END].known ? USE_RANGE : use_of(cell[N_TYPE].number);
	uint64_t lane;

	if (use == USE_SKIP || use == USE_UNKNOWN) {
		im->stats->skipped += use == USE_SKIP;
		im->stats->unknown_category += use == USE_UNKNOWN;
		return VPT_OK;
	}
	/* Not usable: an end before the session, or a start before it without an end. */
	if (cell[N_END].wrong ||
		(cell[N_END].known ? cell[N_END].number : cell[N_START].number) < 0) {
		im->stats->malformed++;
		return VPT_OK;
	}
	if (vpt_nsight_thread(im, cell[N_THREAD].number, &lane))
		return VPT_ENOMEM;
	return use == USE_MARK ? put_mark(im, cell, lane) : put_range(im, cell, lane);
}

void vpt_nsight_put_unmatched(struct vpt_nsight *im)
{
	size_t i;

	for (i = 0; i < im->unmatched_count; i++) {
		struct vpt_range *row = &im->unmatched[i].range;

		row->duration_ns = im->last_ns - row->start_ns; /* last_ns has seen every start */
		vpt_collect_put(im->out, VPT_RANGE, im->unmatched[i].lane, row);
	}
}

const struct vpt_nsight_table vpt_nsight_nvtx = {
	"NVTX_EVENTS", nvtx_fields, COUNT(nvtx_fields), 1, nvtx_row, NULL};
const struct vpt_nsight_table vpt_nsight_nvtx_domains = {
	"NVTX_EVENTS", nvtx_fields, N_DOMAIN_FIELDS, 0, domain_row, &only_domains};
