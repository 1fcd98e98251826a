/* kineto_host.c - events on threads: CUDA calls, annotations, PyTorch's operators. */
#include "formats/import/kineto/kineto_flows.h"
#include "formats/import/kineto/kineto_own.h"
#include "formats/import/kineto/kineto_parts.h"
#include "formats/import/kineto/kineto_put.h"
#include "formats/import/kineto/text/kineto_value.h"
#include "formats/import/kineto/text/kineto_work.h"
#include "formats/import/kineto/text/kineto_shapes.h"

#include "formats/calls.h"
#include "formats/domains.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int vpt_kineto_put_call(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_call c = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	const char *known;
	int64_t result;
	uint64_t lane;

	lane = e->name.text ? vpt_kineto_thread_lane(r, e) : 0;
	if (!lane)
		return 0;
	c.id = vpt_call_find(e->name.text, e->name.len);
	known = vpt_call_name((uint32_t)c.id);
	if (!known || strlen(known) != e->name.len || memcmp(known, e->name.text, e->name.len))
		c.name = vpt_kineto_put_text(r, e->name);
	c.correlation = vpt_kineto_natural(r, e->args, "correlation");
	if (vpt_kineto_integer(r, e->args, "result", &result))
		c.result = (uint64_t)result;
	if (lane != r->processes.newest_caller)
		vpt_kineto_process_calls(r, e->object);
	r->processes.newest_caller = lane;
	vpt_kineto_unsaid_launch(r, lane, &c);
	vpt_kineto_put_joined(r, e, VPT_CALL, lane, &c);
	return 1;
}

/* What an operator does, as an annotation: how many operations it does or how much memory it moves, {"flop":N},
 * {"bytes":N}, {"elements":N}, and the shapes of its inputs, {"shapes":"2x3 3x4"}. */
static void put_work(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, struct vpt_range *range)
{
	int is_elements = 0;
	uint64_t flop = vpt_kineto_flop(e->name, e->args);
	uint64_t number = flop ? flop : vpt_kineto_traffic(e->name, e->args, &is_elements);
	char shapes[VPT_KINETO_SHAPES_BYTES], text[VPT_KINETO_SHAPES_BYTES + 60];
	int shapes_len = (int)vpt_kineto_shapes_text(vpt_kineto_dims(e->args), shapes), len = 0;

	if (!number && !shapes_len)
		return;
	if (number)
		len = snprintf(text, sizeof(text), "{\"%s\":%" PRIu64 "%s",
			flop          ? "flop"
			: is_elements ? "elements"
				      : "bytes",
			number, shapes_len ? "," : "}");
	if (shapes_len)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s\"shapes\":\"%.*s\"}",
			number ? "" : "{", shapes_len, shapes);
	range->payload = VPT_PAYLOAD_JSON;
	range->value = vpt_collect_string(r->collect, text, (size_t)len);
}

/* Which collective it is, for the one operator that says it. Returns 1 if that one does not. */
static int put_collective(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, struct vpt_range *range)
{
	char text[VPT_KINETO_COLLECTIVE_BYTES];
	int is_one = vpt_text_is(e->name, "record_param_comms");
	size_t len = is_one ? vpt_kineto_collective(e->args, text) : 0;

	if (!len)
		return is_one && !range->payload;
	range->payload = VPT_PAYLOAD_JSON;
	range->value = vpt_collect_string(r->collect, text, len);
	return 0;
}

static int put_range(
	struct vpt_kineto_rows *r, const struct vpt_kineto_event *e, const char *domain)
{
	struct vpt_range g = {.start_ns = e->start_ns, .duration_ns = e->duration_ns};
	uint64_t lane = e->name.text ? vpt_kineto_thread_lane(r, e) : 0;

	if (!lane)
		return 0;
	g.range_kind = VPT_RANGEKIND_PUSH_POP;
	g.name = vpt_kineto_put_text(r, e->name);
	g.domain = vpt_collect_string(r->collect, domain, strlen(domain));
	if (*domain && !r->own.is_own && !r->own.is_merged) {
		put_work(r, e, &g);
		if (put_collective(r, e, &g)) {
			vpt_kineto_unsaid_range(r, lane, &g);
			return 1;
		}
	}
	if (!vpt_kineto_own_range(r, e, lane, &g))
		vpt_collect_put(r->collect, VPT_RANGE, lane, &g);
	return 1;
}

int vpt_kineto_put_annotation(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	return put_range(r, e, "");
}

int vpt_kineto_put_operator(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	return put_range(r, e, vpt_domain_name(VPT_DOMAIN_OPERATORS));
}
