/* kineto_python.c - calls of Python functions as exact stacks.
 *
 *	main    |----------------------------|            samples: main 0, step 2, item 3, step 4,
 *	step      |-----------|  |-----------|                     main 8, step 9, none 15
 *	item        |-|
 *
 * Calls of a thread nest. Where two overlap without nesting, because times were rounded or the calls
 * are those of two threads, the inner one ends with the outer one. A call without length leaves no
 * trace: of two samples of one moment, the last counts.
 *
 * While a call runs, its caller is at the line of the call, if the trace has that:
 *
 *	main (run.py:3), then main (run.py:5);step (model.py:40), then main (run.py:3) again
 *
 * Between its calls a function is somewhere; its frame then has the line where the function begins. */
#include "formats/import/kineto/kineto_parts.h"

#include "formats/import/kineto/kineto_put.h"

#include "formats/base/memory.h"
#include "formats/base/run_sort.h"

#include <string.h>

struct vpt_kineto_call {
	uint64_t start_ns, end_ns;
	uint32_t thread; /* in r->threads */
	uint32_t site;   /* in r->python.sites */
	/* Numbers of the call and of the one that called it; 0: none. The low half is enough to
	 * tell calls that are near each other. */
	uint32_t id, parent;
};

/* Its frame with the line where it begins, and that frame's number in the collector. */
struct vpt_kineto_function {
	struct vpt_frame frame;
	uint32_t id;
};

struct vpt_kineto_place {
	uint64_t file, line; /* line 0: unknown */
};

struct site {
	uint32_t function, place; /* ids in names and places */
};

/* ---- names ---- */

/* Finds the parts of "FILE(LINE): FUNCTION". Returns 0 if the name has another form. */
static int split_name(
	struct vpt_text name, struct vpt_text *file, uint64_t *line, struct vpt_text *function)
{
	const char *p, *open, *close = NULL;

	for (p = name.text; (p = memmem(p, name.len - (size_t)(p - name.text), "): ", 3)); p++)
		close = p;
	if (!close || !vpt_is_digit(close > name.text ? close[-1] : 0))
		return 0;
	for (open = close; open > name.text && vpt_is_digit(open[-1]);)
		open--;
	if (open == name.text || *--open != '(' || close - open > 10)
		return 0;
	for (*line = 0, p = open + 1; p < close; p++)
		*line = *line * 10 + (uint64_t)(*p - '0');
	*file = (struct vpt_text){name.text, (size_t)(open - name.text)};
	*function = (struct vpt_text){close + 3, name.len - (size_t)(close + 3 - name.text)};
	return 1;
}

/* Length of a name without the address of its object, which is another one in each call:
 * "<built-in method item of Tensor object at 0x7fdf>" without " at 0x7fdf>". */
static size_t without_address(struct vpt_text name)
{
	size_t i = name.len;

	if (!i || name.text[--i] != '>')
		return name.len;
	while (i && (vpt_is_digit(name.text[i - 1]) ||
			    (name.text[i - 1] >= 'a' && name.text[i - 1] <= 'f')))
		i--;
	if (i < 6 || memcmp(name.text + i - 6, " at 0x", 6) != 0)
		return name.len;
	return i - 6;
}

/* Interns the texts of a function's name; a text that had an address lacks its end. */
static void read_function(struct vpt_kineto_rows *r, struct vpt_text name, int had_address,
	struct vpt_kineto_function *out)
{
	struct vpt_text file = {NULL, 0}, function = name;
	char *whole;

	r->stats->bad_text += !vpt_kineto_text_is_clean(name);
	*out = (struct vpt_kineto_function){0};
	if (had_address) {
		whole = vpt_strndup(name.text, name.len + 1);
		r->no_memory |= !whole;
		if (whole) {
			whole[name.len] = '>';
			out->frame.function = vpt_collect_string(r->collect, whole, name.len + 1);
		}
		vpt_free(whole);
	} else {
		split_name(name, &file, &out->frame.line, &function);
		out->frame.function = vpt_collect_string(r->collect, function.text, function.len);
		out->frame.file = vpt_collect_string(r->collect, file.text, file.len);
	}
	out->id = (uint32_t)vpt_collect_frame(r->collect, &out->frame);
}

/* Reads "FILE:LINE". Anything else is no place. */
static struct vpt_kineto_place read_place(struct vpt_kineto_rows *r, struct vpt_text text)
{
	struct vpt_kineto_place place = {0};
	size_t digits = 0, i;

	while (digits < text.len && vpt_is_digit(text.text[text.len - 1 - digits]))
		digits++;
	if (!digits || digits > 10 || digits + 2 > text.len ||
		text.text[text.len - 1 - digits] != ':')
		return place;
	for (i = text.len - digits; i < text.len; i++)
		place.line = place.line * 10 + (uint64_t)(text.text[i] - '0');
	text.len -= digits + 1;
	r->stats->bad_text += !vpt_kineto_text_is_clean(text);
	place.file = vpt_collect_string(r->collect, text.text, text.len);
	return place;
}

/* The id of a function's name. Names repeat, so each is taken apart once. */
static uint64_t function_of(struct vpt_kineto_rows *r, struct vpt_text name)
{
	struct vpt_kineto_python *p = &r->python;
	size_t len = without_address(name), before = p->names.count;
	uint64_t id = vpt_strings_put_recent(&p->names, &p->recent_names, name.text, len);

	if (id == VPT_NO_ID ||
		vpt_grow(&p->functions, &p->function_cap, id + 1, sizeof(*p->functions)))
		return VPT_NO_ID;
	if (id == before)
		read_function(
			r, (struct vpt_text){name.text, len}, len < name.len, &p->functions[id]);
	return id;
}

/* The same for the place of a call; text NULL: unknown. */
static uint64_t place_of(struct vpt_kineto_rows *r, struct vpt_text text)
{
	struct vpt_kineto_python *p = &r->python;
	size_t before = p->places.count;
	uint64_t id = vpt_strings_put_recent(
		&p->places, &p->recent_places, text.text ? text.text : "", text.len);

	if (id == VPT_NO_ID || vpt_grow(&p->callers, &p->caller_cap, id + 1, sizeof(*p->callers)))
		return VPT_NO_ID;
	if (id == before)
		p->callers[id] = read_place(r, text);
	return id;
}

/* The number of a function that is called from a place. */
static uint32_t site_of(struct vpt_kineto_rows *r, struct vpt_text name, struct vpt_text from)
{
	uint64_t function = function_of(r, name), place = place_of(r, from), id = VPT_NO_ID;
	struct site site = {(uint32_t)function, (uint32_t)place};

	if (function < UINT32_MAX && place < UINT32_MAX)
		id = vpt_strings_put_recent(&r->python.sites, &r->python.recent_sites,
			(const char *)&site, sizeof(site));
	r->no_memory |= id >= UINT32_MAX;
	return (uint32_t)id;
}

/* ---- events ---- */

/* Keeps a call. Returns 1; VPT_KINETO_NOT_MEANT for one of a thread that the profiler could not
 * identify: its calls are mixed with those of others. */
static int keep(struct vpt_kineto_rows *r, struct vpt_kineto_thread *thread, struct vpt_text name,
	struct vpt_text from, struct vpt_kineto_call call)
{
	struct vpt_kineto_python *p = &r->python;

	if (!thread->pid && !thread->tid)
		return VPT_KINETO_NOT_MEANT;
	if (p->call_count >= UINT32_MAX ||
		vpt_grow(&p->calls, &p->call_cap, p->call_count + 1, sizeof(*p->calls))) {
		r->no_memory = 1;
		return 0;
	}
	call.thread = (uint32_t)(thread - r->threads.at);
	call.site = site_of(r, name, from);
	p->calls[p->call_count++] = call;
	return 1;
}

int vpt_kineto_put_python(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e)
{
	struct vpt_kineto_call call = {
		.start_ns = e->start_ns, .end_ns = e->start_ns + e->duration_ns};
	struct vpt_kineto_thread *thread;
	int64_t id;

	if (!e->name.text || call.end_ns < call.start_ns)
		return 0;
	if (vpt_kineto_number(vpt_kineto_member(e->args, "Python id"), 0, &id) == VPT_KINETO_EXACT)
		call.id = (uint32_t)id;
	if (vpt_kineto_number(vpt_kineto_member(e->args, "Python parent id"), 0, &id) ==
		VPT_KINETO_EXACT)
		call.parent = (uint32_t)id;
	thread = vpt_kineto_thread_of(r, e->object);
	return thread ? keep(r, thread, e->name,
				vpt_kineto_text(vpt_kineto_member(e->args, "CallFrom")), call)
		      : 0;
}

/* ---- stacks ---- */

/* By thread and start; an outer call before the inner ones, which have larger numbers, or, without
 * numbers, end earlier. */
static int is_call_after(const void *pa, const void *pb, void *unused)
{
	const struct vpt_kineto_call *a = pa, *b = pb;

	(void)unused;
	if (a->thread != b->thread)
		return a->thread > b->thread;
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	if (a->id != b->id)
		return a->id > b->id;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns;
	return a->site > b->site;
}

/* A call that is running. */
struct running {
	uint64_t end_ns, stack;
	uint64_t below; /* the stack without its frame */
	uint32_t id, function;
	int truncated; /* the stack lacks its frame */
};

/* The calls of a thread that are running, outermost first. */
struct running_calls {
	struct vpt_collect *collect;
	const struct vpt_kineto_python *python;
	uint64_t lane;
	struct running *items;
	size_t count, cap;
	struct vpt_sample next; /* not put yet; time_ns UINT64_MAX: none */
	uint64_t shown;         /* stack of the last sample that was put */
};

static void flush(struct running_calls *c)
{
	if (c->next.time_ns != UINT64_MAX && c->next.stack != c->shown) {
		vpt_collect_put(c->collect, VPT_SAMPLE, c->lane, &c->next);
		c->shown = c->next.stack;
	}
	c->next.time_ns = UINT64_MAX;
}

/* From this time on the innermost call is the last one that is running. */
static void show(struct running_calls *c, uint64_t time_ns)
{
	const struct running *top = c->count ? &c->items[c->count - 1] : NULL;

	if (c->next.time_ns != time_ns)
		flush(c);
	c->next.time_ns = time_ns;
	c->next.stack = top ? top->stack : 0;
	c->next.flags = VPT_SAMPLE_EXACT | (top && top->truncated ? VPT_SAMPLE_TRUNCATED : 0u);
}

/* Ends the calls that end by `until_ns`. */
static void end_calls(struct running_calls *c, uint64_t until_ns)
{
	while (c->count && c->items[c->count - 1].end_ns <= until_ns) {
		uint64_t end_ns = c->items[--c->count].end_ns;

		show(c, end_ns);
	}
}

/* Ends the calls inside the one that this call names as its caller, if that is running. Their times
 * overlap because they were rounded. */
static void end_siblings(struct running_calls *c, const struct vpt_kineto_call *call)
{
	enum { LOOK = 64 };
	size_t i, least = c->count > LOOK ? c->count - LOOK : 0;

	for (i = c->count; call->parent && i > least; i--)
		if (c->items[i - 1].id == call->parent) {
			c->count = i;
			return;
		}
}

/* The stack of the caller at the place of a call. That place is in the caller's file, unless the trace
 * lacks a caller in between, or the caller is a module or a function in C. */
static uint64_t stack_at(struct running_calls *c, const struct running *caller, uint32_t parent,
	const struct vpt_kineto_place *place)
{
	struct vpt_frame frame = c->python->functions[caller->function].frame;

	if (!place->line || !parent || caller->id != parent || caller->truncated ||
		frame.file != place->file)
		return caller->stack;
	frame.line = place->line;
	return vpt_collect_stack(c->collect, caller->below, vpt_collect_frame(c->collect, &frame));
}

static int begin_call(struct running_calls *c, const struct vpt_kineto_call *call)
{
	const struct running *caller;
	struct running now = {.end_ns = call->end_ns, .id = call->id};
	struct site site;

	memcpy(&site, vpt_strings_get(&c->python->sites, call->site).text, sizeof(site));
	end_calls(c, call->start_ns);
	end_siblings(c, call);
	caller = c->count ? &c->items[c->count - 1] : NULL;
	if (caller && now.end_ns > caller->end_ns)
		now.end_ns = caller->end_ns;
	now.function = site.function;
	if (caller)
		now.below = stack_at(c, caller, call->parent, &c->python->callers[site.place]);
	now.stack =
		vpt_collect_stack(c->collect, now.below, c->python->functions[site.function].id);
	now.truncated = now.below && now.stack == now.below;
	if (vpt_grow(&c->items, &c->cap, c->count + 1, sizeof(*c->items)))
		return VPT_ENOMEM;
	c->items[c->count++] = now;
	show(c, call->start_ns);
	return VPT_OK;
}

/* Our own files list all facts by name, including this one. */
static void tell_lines(struct vpt_kineto_rows *r)
{
	const struct vpt_kineto_python *p = &r->python;
	size_t i;

	for (i = 0; i < p->places.count && !p->callers[i].line;)
		i++;
	if (i < p->places.count && !r->own.is_own)
		vpt_collect_fact(r->collect, VPT_METADATA_TORCH_CALL_LINES, "1");
}

void vpt_kineto_python_end(struct vpt_kineto_rows *r)
{
	struct vpt_kineto_python *p = &r->python;
	struct running_calls c = {.collect = r->collect, .python = p, .next.time_ns = UINT64_MAX};
	size_t i;

	r->no_memory |= vpt_run_sort(p->calls, p->call_count, sizeof(*p->calls), is_call_after,
				NULL) != VPT_OK;
	for (i = 0; i < p->call_count && !r->no_memory; i++) {
		struct vpt_kineto_thread *thread = &r->threads.at[p->calls[i].thread];

		if (!i || p->calls[i].thread != p->calls[i - 1].thread) {
			end_calls(&c, UINT64_MAX);
			flush(&c);
			c.shown = 0;
			if (!thread->lane)
				thread->lane =
					vpt_collect_thread(r->collect, thread->pid, thread->tid);
			c.lane = thread->lane;
		}
		r->no_memory |= begin_call(&c, &p->calls[i]) != VPT_OK;
	}
	end_calls(&c, UINT64_MAX);
	flush(&c);
	vpt_free(c.items);
	tell_lines(r);
	vpt_kineto_python_free(p);
}

void vpt_kineto_python_free(struct vpt_kineto_python *p)
{
	vpt_free(p->calls);
	vpt_free(p->functions);
	vpt_free(p->callers);
	vpt_strings_free(&p->names);
	vpt_strings_free(&p->places);
	vpt_strings_free(&p->sites);
	*p = (struct vpt_kineto_python){0};
}
