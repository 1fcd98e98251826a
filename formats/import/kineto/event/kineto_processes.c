/* kineto_processes.c - the processes of a file, and whose the lanes of GPUs are. */
#include "formats/import/kineto/event/kineto_import.h"

#include "formats/base/memory.h"
#include "formats/import/kineto/event/kineto_event.h"

#include <string.h>

enum {
	OWNERS_MAX = 4096,
	SAID_MOST = 1 << 18, /* texts of a file about its processes */
	BEYOND_PIDS = VPT_COLLECT_PID_MAX
};

#define NONE   UINT32_MAX
#define NOBODY INT64_MIN

struct vpt_kineto_process {
	int64_t pid;
	uint64_t label; /* id in labels; VPT_NO_ID: its id is a number */
	uint64_t name;  /* of the collector's strings */
	int calls;
};

/* What the "pid" of GPU lanes says: a label, or else a number. */
struct vpt_kineto_owner {
	int64_t number;
	uint64_t label; /* VPT_NO_ID: none */
	uint32_t owner; /* of the collector */
	int is_other;   /* the number is not that of the device */
};

/* ---- texts as numbers ---- */

static size_t digits_at(struct vpt_text t, size_t at)
{
	size_t n = 0;

	while (at + n < t.len && vpt_is_digit(t.text[at + n]))
		n++;
	return n;
}

static int is_word(char c)
{
	return vpt_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The digits of the number in a text: the word at its end, or else at its start. Returns how many; 0: none. */
static size_t find_number(struct vpt_text t, size_t *at)
{
	size_t begin = t.len, n;

	while (begin && vpt_is_digit(t.text[begin - 1]))
		begin--;
	*at = begin;
	if (begin < t.len && (!begin || !is_word(t.text[begin - 1])))
		return t.len - begin;
	*at = 0;
	n = digits_at(t, 0);
	return n < t.len && !is_word(t.text[n]) ? n : 0;
}

static int number_in(struct vpt_text t, int64_t *number)
{
	enum { LONGEST = 18 };
	size_t at, n = find_number(t, &at), i;

	if (!n || n > LONGEST)
		return 0;
	*number = 0;
	for (i = 0; i < n; i++)
		*number = *number * 10 + (t.text[at + i] - '0');
	return 1;
}

/* Interns a text without its number. */
static uint64_t label_of(struct vpt_kineto_rows *r, struct vpt_text t)
{
	enum { LONGEST = 200 };
	char text[LONGEST];
	size_t at, n = find_number(t, &at), after;
	uint64_t id;

	if (t.len >= LONGEST)
		t.len = LONGEST - 1;
	at = at < t.len ? at : t.len;
	after = at + n < t.len ? at + n : t.len;
	memcpy(text, t.text, at);
	memcpy(text + at, t.text + after, t.len - after);
	id = vpt_strings_put(&r->processes.labels, text, at + t.len - after);
	r->no_memory |= id == VPT_NO_ID;
	return id;
}

static struct vpt_kineto_process *find_process(const struct vpt_kineto_processes *p, int64_t pid)
{
	uint64_t hash = vpt_hash_number((uint64_t)pid), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&p->by_pid, hash, &at)) != VPT_MAP_NONE)
		if (p->at[n].pid == pid)
			return &p->at[n];
	return NULL;
}

static int is_taken(const struct vpt_kineto_ids *ids, int64_t number)
{
	uint64_t hash = vpt_hash_number((uint64_t)number), at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&ids->taken, hash, &at)) != VPT_MAP_NONE)
		if (ids->numbers[n] == number)
			return 1;
	return 0;
}

static int64_t number_of_text(
	struct vpt_kineto_rows *r, struct vpt_kineto_ids *ids, struct vpt_text t)
{
	size_t before = ids->texts.count;
	uint64_t id = vpt_strings_put(&ids->texts, t.text, t.len);
	int64_t number;

	if (id != VPT_NO_ID && ids->texts.count == before)
		return ids->numbers[id];
	if (!number_in(t, &number) || is_taken(ids, number) ||
		(ids == &r->processes.pids && find_process(&r->processes, number)))
		number = BEYOND_PIDS + 1 + (int64_t)id;
	if (id == VPT_NO_ID ||
		vpt_grow(&ids->numbers, &ids->cap, ids->texts.count, sizeof(*ids->numbers))) {
		r->no_memory = 1;
		return -1;
	}
	ids->numbers[id] = number;
	r->no_memory |=
		vpt_map_put(&ids->taken, vpt_hash_number((uint64_t)number), (uint32_t)id) != VPT_OK;
	return number;
}

/* The text of an id that is no number; text NULL if it is one, or neither. */
static struct vpt_text text_of(const struct vpt_kineto_value *value)
{
	struct vpt_text t = vpt_kineto_text(value), none = {NULL, 0};
	int64_t number;

	return t.text && vpt_kineto_decimal(t.text, t.len, 0, &number) == VPT_KINETO_BAD ? t : none;
}

static int id_of(struct vpt_kineto_rows *r, struct vpt_kineto_ids *ids,
	const struct vpt_kineto_value *object, const char *key, int64_t *id)
{
	const struct vpt_kineto_value *value = vpt_kineto_member(object, key);
	struct vpt_text t = text_of(value);

	if (!t.text)
		return vpt_kineto_scaled_in(r, value, 0, id);
	*id = number_of_text(r, ids, t);
	return 1;
}

int vpt_kineto_pid(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, int64_t *pid)
{
	return id_of(r, &r->processes.pids, object, "pid", pid);
}

int vpt_kineto_tid(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, int64_t *tid)
{
	return id_of(r, &r->processes.tids, object, "tid", tid);
}

int vpt_kineto_number_in(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const char *key, int64_t *number)
{
	struct vpt_text t = text_of(vpt_kineto_member(object, key));

	if (!t.text)
		return vpt_kineto_integer(r, object, key, number);
	if (number_in(t, number))
		return 1;
	r->stats->bad_numbers++;
	return 0;
}

/* ---- processes ---- */

static struct vpt_kineto_process *process_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	struct vpt_kineto_processes *p = &r->processes;
	struct vpt_text t = text_of(vpt_kineto_member(object, "pid"));
	struct vpt_kineto_process *found;
	int64_t pid;

	if (!vpt_kineto_pid(r, object, &pid))
		return NULL;
	if (p->count && p->at[p->count - 1].pid == pid)
		return &p->at[p->count - 1];
	found = find_process(p, pid);
	if (found)
		return found;
	if (p->count >= NONE - 1 || vpt_grow(&p->at, &p->cap, p->count + 1, sizeof(*p->at)) ||
		vpt_map_put(&p->by_pid, vpt_hash_number((uint64_t)pid), (uint32_t)p->count)) {
		r->no_memory = 1;
		return NULL;
	}
	p->at[p->count] = (struct vpt_kineto_process){.pid = pid,
		.label = t.text ? label_of(r, t) : VPT_NO_ID,
		.name = t.text ? vpt_kineto_put_text(r, t) : 0};
	return &p->at[p->count++];
}

void vpt_kineto_process_seen(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	if (text_of(vpt_kineto_member(object, "pid")).text)
		process_of(r, object);
}

void vpt_kineto_process_calls(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	struct vpt_kineto_process *process = process_of(r, object);

	if (process)
		process->calls = 1;
}

void vpt_kineto_name_process(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object, struct vpt_text name)
{
	struct vpt_kineto_process *process = process_of(r, object);

	/* A text tells more than "python". */
	if (process && process->label == VPT_NO_ID)
		process->name = vpt_kineto_put_text(r, name);
}

/* ---- owners ---- */

static struct vpt_kineto_owner *find_owner(
	struct vpt_kineto_processes *p, const struct vpt_kineto_owner *want, uint64_t hash)
{
	uint64_t at = hash;
	uint32_t n;

	while ((n = vpt_map_next(&p->by_id, hash, &at)) != VPT_MAP_NONE)
		if (p->owners[n].number == want->number && p->owners[n].label == want->label)
			return &p->owners[n];
	return NULL;
}

/* NULL: none, or too many. */
static struct vpt_kineto_owner *owner_of(
	struct vpt_kineto_rows *r, const struct vpt_kineto_value *object)
{
	struct vpt_kineto_processes *p = &r->processes;
	const struct vpt_kineto_value *value = vpt_kineto_member(object, "pid");
	struct vpt_text t = text_of(value);
	struct vpt_kineto_owner want = {.label = VPT_NO_ID}, *found;
	uint64_t hash;

	if (t.text)
		want.label = label_of(r, t);
	else if (!vpt_kineto_scaled_in(r, value, 0, &want.number))
		return NULL;
	if (p->newest < p->owner_count && p->owners[p->newest].number == want.number &&
		p->owners[p->newest].label == want.label)
		return &p->owners[p->newest];
	hash = vpt_hash_pair((uint64_t)want.number, want.label);
	found = find_owner(p, &want, hash);
	if (!found) {
		if (p->owner_count >= OWNERS_MAX)
			return NULL;
		want.owner = vpt_collect_owner(r->collect);
		if (vpt_grow(&p->owners, &p->owner_cap, p->owner_count + 1, sizeof(*p->owners)) ||
			vpt_map_put(&p->by_id, hash, (uint32_t)p->owner_count)) {
			r->no_memory = 1;
			return NULL;
		}
		found = &p->owners[p->owner_count++];
		*found = want;
	}
	p->newest = (size_t)(found - p->owners);
	return found;
}

uint64_t vpt_kineto_owned_lane(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	int64_t device, uint64_t context, int64_t stream)
{
	struct vpt_kineto_owner *owner = owner_of(r, object);

	if (!owner)
		return vpt_collect_stream(r->collect, -1, device, context, stream);
	owner->is_other |= owner->number != device;
	return vpt_collect_owned_stream(r->collect, owner->owner, device, context, stream);
}

void vpt_kineto_say_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	struct vpt_text key, struct vpt_text value)
{
	struct vpt_kineto_processes *p = &r->processes;
	struct vpt_text t = text_of(vpt_kineto_member(object, "pid"));

	if (!t.text || p->said_count >= SAID_MOST)
		return;
	if (vpt_grow(&p->said, &p->said_cap, p->said_count + 1, sizeof(*p->said))) {
		r->no_memory = 1;
		return;
	}
	p->said[p->said_count++] = (struct vpt_kineto_said){
		label_of(r, t), vpt_kineto_put_text(r, key), vpt_kineto_put_text(r, value)};
}

void vpt_kineto_device_of_process(struct vpt_kineto_rows *r, const struct vpt_kineto_value *object,
	const struct vpt_device *device)
{
	struct vpt_kineto_processes *p = &r->processes;
	struct vpt_text t = text_of(vpt_kineto_member(object, "pid"));

	if (!t.text || p->device_count >= SAID_MOST)
		return;
	if (vpt_grow(&p->devices, &p->device_cap, p->device_count + 1, sizeof(*p->devices))) {
		r->no_memory = 1;
		return;
	}
	p->devices[p->device_count++] = (struct vpt_kineto_said_device){label_of(r, t), *device};
}

/* The process that calls and has a label; NOBODY: none, -1: several. */
static int64_t *callers_by_label(struct vpt_kineto_rows *r)
{
	const struct vpt_kineto_processes *p = &r->processes;
	int64_t *pids = vpt_alloc(p->labels.count + 1, sizeof(*pids));
	size_t i;

	if (!pids) {
		r->no_memory = 1;
		return NULL;
	}
	for (i = 0; i < p->labels.count; i++)
		pids[i] = NOBODY;
	for (i = 0; i < p->count; i++)
		if (p->at[i].calls && p->at[i].label != VPT_NO_ID)
			pids[p->at[i].label] = pids[p->at[i].label] == NOBODY ? p->at[i].pid : -1;
	return pids;
}

/* -1: unknown. A label that no caller has is a process of its own. */
static int64_t process_of_label(uint64_t label, const int64_t *callers)
{
	return callers[label] != NOBODY ? callers[label]
					: BEYOND_PIDS * (int64_t)2 + (int64_t)label;
}

/* Puts what was said of processes. */
static void put_said(struct vpt_kineto_rows *r, const int64_t *callers)
{
	struct vpt_kineto_processes *p = &r->processes;
	size_t i;

	for (i = 0; i < p->said_count; i++) {
		int64_t pid = process_of_label(p->said[i].label, callers);

		if (pid != -1)
			vpt_collect_process_fact(r->collect, pid, p->said[i].key, p->said[i].value);
	}
	for (i = 0; i < p->device_count; i++)
		vpt_collect_device(r->collect, process_of_label(p->devices[i].label, callers),
			&p->devices[i].row);
}

/* The process of an owner, -1: unknown. A number that is
 * not the device's may be the process's. */
static int64_t process_of_owner(const struct vpt_kineto_processes *p,
	const struct vpt_kineto_owner *owner, const int64_t *callers)
{
	const struct vpt_kineto_process *process;

	if (owner->label == VPT_NO_ID) {
		process = owner->is_other ? find_process(p, owner->number) : NULL;
		return process && process->calls ? process->pid : -1;
	}
	return process_of_label(owner->label, callers);
}

void vpt_kineto_processes_end(struct vpt_kineto_rows *r)
{
	struct vpt_kineto_processes *p = &r->processes;
	int64_t *callers = callers_by_label(r);
	size_t i;

	if (callers)
		put_said(r, callers);
	for (i = 0; callers && i < p->owner_count; i++) {
		const struct vpt_kineto_owner *owner = &p->owners[i];
		int64_t pid = process_of_owner(p, owner, callers);

		vpt_collect_own(r->collect, owner->owner, pid);
		if (owner->label != VPT_NO_ID && callers[owner->label] == NOBODY)
			vpt_collect_name_process(r->collect, pid,
				vpt_kineto_put_text(r, vpt_strings_get(&p->labels, owner->label)));
	}
	vpt_free(callers);
	/* GPUs are named like processes: name what has threads. */
	for (i = 0; i < r->threads.count && !r->own.is_own; i++) {
		struct vpt_kineto_process *process =
			r->threads.at[i].lane ? find_process(p, r->threads.at[i].pid) : NULL;

		if (process && process->name)
			vpt_collect_name_process(r->collect, process->pid, process->name);
		if (process)
			process->name = 0;
	}
}

static void free_ids(struct vpt_kineto_ids *ids)
{
	vpt_strings_free(&ids->texts);
	vpt_free(ids->numbers);
	vpt_map_free(&ids->taken);
}

void vpt_kineto_processes_free(struct vpt_kineto_processes *p)
{
	free_ids(&p->pids);
	free_ids(&p->tids);
	vpt_strings_free(&p->labels);
	vpt_free(p->at);
	vpt_map_free(&p->by_pid);
	vpt_free(p->owners);
	vpt_map_free(&p->by_id);
	vpt_free(p->said);
	vpt_free(p->devices);
	*p = (struct vpt_kineto_processes){0};
}
