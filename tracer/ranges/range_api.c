/* range_api.c - ranges, marks and counters of vptrace.h: the counterpart of NVTX, for programs that
 * call this library directly.
 *
 * All are in the default domain. */
#include "tracer/vptrace.h"

#include "formats/event_schema.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_note.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/settings/last_error.h"
#include "tracer/window/recording_window.h"
#include "tracer/window/slow_steps.h"

#include <string.h>

_Static_assert((int)VPTRACE_ANNOTATION_MAX <= (int)VTR_BLOB_MAX, "an annotation is kept whole");

static struct vtr_attributes noted(const char *name, const struct vptrace_note *note)
{
	struct vtr_attributes a = {.name = vtr_name_of(name)};

	if (note) {
		a.payload.type = VPT_PAYLOAD_BLOB;
		a.payload.bytes = sizeof(*note);
		a.payload.schema = VTR_SCHEMA_NOTE;
		a.payload.blob = note;
	}
	return a;
}

void vptrace_range_push(const char *name)
{
	vtr_range_push(&(struct vtr_attributes){.name = vtr_name_of(name)});
}

void vptrace_range_pop(void)
{
	vtr_range_pop(VTR_NAME_EMPTY);
}

uint64_t vptrace_range_start(const char *name)
{
	return vtr_range_start(&(struct vtr_attributes){.name = vtr_name_of(name)});
}

void vptrace_range_end(uint64_t id)
{
	vtr_range_end(id);
}

void vptrace_mark(const char *name)
{
	vtr_mark(&(struct vtr_attributes){.name = vtr_name_of(name)});
}

void vptrace_note_push(const char *name, const struct vptrace_note *note)
{
	struct vtr_attributes a = noted(name, note);

	vtr_range_push(&a);
}

void vptrace_note_mark(const char *name, const struct vptrace_note *note)
{
	struct vtr_attributes a = noted(name, note);

	vtr_mark(&a);
}

void vptrace_note_fill(const struct vptrace_note *note)
{
	if (note)
		vtr_range_fill(note);
}

static struct vtr_attributes annotated(const char *name, const char *json)
{
	struct vtr_attributes a = {.name = vtr_name_of(name)};
	size_t len = json ? strnlen(json, VPTRACE_ANNOTATION_MAX) : 0;

	/* A part of an object says nothing. */
	if (len && len < VPTRACE_ANNOTATION_MAX) {
		a.payload.type = VPT_PAYLOAD_JSON;
		a.payload.bytes = (uint32_t)len;
		a.payload.blob = json;
	}
	return a;
}

void vptrace_annotated_push(const char *name, const char *json)
{
	struct vtr_attributes a = annotated(name, json);

	vtr_range_push(&a);
}

void vptrace_annotated_mark(const char *name, const char *json)
{
	struct vtr_attributes a = annotated(name, json);

	vtr_mark(&a);
}

int vptrace_fact(const char *name, const char *value)
{
	char text[VTR_FACT_TEXT_MAX];
	struct vtr_attributes a = {.name = vtr_name_of("fact")};

	if (!name || !*name || !value)
		return vtr_fail(VPTRACE_EINVAL, "fact: expected a name and a value");
	a.payload.type = VPT_PAYLOAD_JSON;
	a.payload.bytes = (uint32_t)vtr_fact_text(name, value, text);
	a.payload.blob = text;
	vtr_mark(&a);
	return VPTRACE_OK;
}

void vptrace_step(void)
{
	vtr_window_step();
	vtr_slow_steps_call();
}

int vptrace_counter(const char *name, double value, const char *unit)
{
	if (!name || !*name)
		return vtr_fail(VPTRACE_EINVAL, "counter: expected a name");
	vtr_counter(vtr_name_of(name), value, vtr_name_of(unit));
	return VPTRACE_OK;
}
