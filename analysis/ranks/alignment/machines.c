/* machines.c - each rank beside the first one of every machine by its host's name. Threads share the names. */
#include "analysis/ranks/alignment/machines.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/alignment/lags.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <string.h>

enum {
	PAIRS_LEAST = 8,       /* fewer may fit any offset */
	KEYS_LOOKED_AT = 64,   /* of a rank: its first communicators */
	TOGETHER_NS = 100000,  /* as far as ends of one collective are apart, at most */
	ELSEWHERE_NS = 1000000 /* two readings of one clock beside the time of day differ by less */
};

enum kinship { UNKNOWN, ONE_MACHINE, APART };

struct telling {
	uint32_t *items[2], *partner; /* room for the longest rank */
	/* In items[0]: many ranks are beside the first of a machine. Its group is a text of its rank. */
	struct vpa_sequence of_first;
	const char *group;
};

enum { KEYS_KNOWN = 256 };

static size_t is_of(const struct vpa_collective_key *key, const char *group)
{
	return key->group && !strcmp(key->group, group);
}

/* The collectives of a rank in a communicator. Nearly all have one of the first keys, which are looked at once. */
static struct vpa_sequence sequence_of(const struct vpa_rank *r, const char *group, uint32_t *items)
{
	struct vpa_sequence s = {.rank = r, .items = items};
	size_t is_in[KEYS_KNOWN];
	uint32_t i;

	for (i = 0; i < r->key_count && i < KEYS_KNOWN; i++)
		is_in[i] = is_of(&r->keys[i], group);
	for (i = 0; i < r->collective_count; i++) {
		uint32_t key = vpa_rank_key_index(r, i);

		items[s.count] = i;
		s.count += key < KEYS_KNOWN ? is_in[key] : is_of(&r->keys[key], group);
	}
	return s;
}

static uint64_t first_of(const struct vpa_sequence *s)
{
	return vpa_rank_end_ns(s->rank, s->items[0]);
}

static uint64_t last_of(const struct vpa_sequence *s)
{
	return vpa_rank_end_ns(s->rank, s->items[s->count - 1]);
}

/* Whether both go on in half of the time of the shorter one, if they have one clock. */
static int are_at_once(const struct vpa_sequence *a, const struct vpa_sequence *b)
{
	uint64_t from = first_of(a) > first_of(b) ? first_of(a) : first_of(b);
	uint64_t to = last_of(a) < last_of(b) ? last_of(a) : last_of(b);
	uint64_t a_ns = last_of(a) - first_of(a), b_ns = last_of(b) - first_of(b);

	return to > from && to - from >= (a_ns < b_ns ? a_ns : b_ns) / 2;
}

int vpa_count_from_elsewhere(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return a->has_realtime && b->has_realtime &&
	       vpt_distance(a->unix_offset_ns, b->unix_offset_ns) > ELSEWHERE_NS;
}

/* How many of the pairs end together, by one clock: ranks leave a collective at once, whenever they come. */
static size_t ends_together(
	const struct vpa_sequence *a, const struct vpa_sequence *b, const uint32_t *partner)
{
	size_t i, count = 0;

	for (i = 0; i < a->count; i++)
		if (partner[i] != UINT32_MAX)
			count += vpt_distance(vpa_rank_end_ns(a->rank, a->items[i]),
					 vpa_rank_end_ns(b->rank, b->items[partner[i]])) <=
				 TOGETHER_NS;
	return count;
}

static enum kinship compare_sequences(
	const struct vpa_sequence *a, const struct vpa_sequence *b, uint32_t *partner)
{
	struct vpa_lag lag = {.share_clock = 1, .pairs = 1};
	size_t shorter = a->count < b->count ? a->count : b->count, together;

	if (shorter < PAIRS_LEAST)
		return UNKNOWN;
	vpa_lag_follow(a, b, &lag, partner);
	together = ends_together(a, b, partner);
	if (together >= shorter - shorter / 2)
		return ONE_MACHINE;
	if (!are_at_once(a, b))
		return vpa_count_from_elsewhere(a->rank, b->rank) ? APART : UNKNOWN;
	lag = vpa_lag_find(a, b, 0, partner);
	if (!lag.pairs || vpa_lag_follow(a, b, &lag, partner) < shorter - shorter / 4)
		return UNKNOWN;
	return vpa_lag_agreement(a, b, partner).median_ns <= TOGETHER_NS ? APART : UNKNOWN;
}

static enum kinship compare(struct telling *t, const struct vpa_rank *a, const struct vpa_rank *b)
{
	size_t keys = a->key_count < KEYS_LOOKED_AT ? a->key_count : KEYS_LOOKED_AT, k;
	enum kinship kinship = UNKNOWN;

	for (k = 0; k < keys && kinship == UNKNOWN; k++) {
		const char *group = a->keys[k].group;
		struct vpa_sequence y;

		/* Once for each communicator. */
		if (!group || (k && a->keys[k - 1].group && !strcmp(a->keys[k - 1].group, group)))
			continue;
		if (t->of_first.rank != a || t->group != group)
			t->of_first = sequence_of(a, group, t->items[0]);
		t->group = group;
		y = sequence_of(b, group, t->items[1]);
		kinship = compare_sequences(&t->of_first, &y, t->partner);
	}
	return kinship;
}

/* The machine of a rank among those of its host's name so far, whose first ranks are `firsts`. */
static uint32_t machine_of(
	struct telling *t, struct vpa_rank *const *firsts, size_t count, const struct vpa_rank *r)
{
	uint32_t machines = 0, unknown = UINT32_MAX;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct vpa_rank *first = firsts[i];
		enum kinship kinship;

		if (!vpa_ranks_share_host(first, r))
			continue;
		machines = first->machine >= machines ? first->machine + 1 : machines;
		kinship = compare(t, first, r);
		if (kinship == ONE_MACHINE)
			return first->machine;
		if (kinship == UNKNOWN && unknown == UINT32_MAX)
			unknown = first->machine;
	}
	return unknown != UINT32_MAX ? unknown : machines;
}

static int is_one_machine(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return vpt_same_text(a->boot_id, b->boot_id) && vpt_same_text(a->host, b->host) &&
	       a->machine == b->machine;
}

static int has_lost_machine(const struct vpa_rank *r)
{
	return !r->complete && !r->host && !r->boot_id;
}

/* A capture that was cut may have lost the names of its machine: these are those of the rank whose collectives end when its own do, or of
 * all others, if they ran on one machine and their clock is not another one. */
static void find_lost_machine(
	struct telling *t, const struct vpa_rank_list *list, struct vpa_rank *lost)
{
	const struct vpa_rank *first = NULL, *found = NULL;
	int is_only = 1;
	size_t i;

	for (i = 0; i < list->count && !found; i++) {
		const struct vpa_rank *r = list->items[i];
		enum kinship kinship;

		if (!r->host && !r->boot_id)
			continue;
		kinship = compare(t, r, lost);
		first = first ? first : r;
		found = kinship == ONE_MACHINE ? r : NULL;
		is_only &= kinship != APART && is_one_machine(first, r);
	}
	if (!found && is_only)
		found = first;
	if (!found)
		return;
	lost->boot_id = found->boot_id;
	lost->host = found->host;
	lost->machine = found->machine;
}

/* Ranks by the name of their host; those without one are left out. */
struct hosts {
	struct vpa_rank **ranks, **firsts; /* firsts: room for as many */
	size_t *begins;                    /* by host, and one more: in ranks */
	size_t count;
	struct telling rooms[VPA_RANK_THREADS_MOST];
};

static int by_host(const void *a, const void *b)
{
	const struct vpa_rank *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

static int tell_host(void *ctx, unsigned thread, size_t host)
{
	struct hosts *h = ctx;
	struct vpa_rank **firsts = &h->firsts[h->begins[host]];
	size_t count = 0, i, k;

	for (i = h->begins[host]; i < h->begins[host + 1]; i++) {
		struct vpa_rank *r = h->ranks[i];

		r->machine = machine_of(&h->rooms[thread], firsts, count, r);
		for (k = 0; k < count; k++)
			if (vpa_ranks_share_host(firsts[k], r) && firsts[k]->machine == r->machine)
				break;
		if (k == count)
			firsts[count++] = r;
	}
	return VPT_OK;
}

/* They keep their order. 0 or VPT_ENOMEM. */
static int list_hosts(const struct vpa_rank_list *list, struct hosts *out)
{
	size_t count = 0, i;
	int rc;

	out->ranks = vpt_alloc(list->count + 1, sizeof(struct vpa_rank *));
	out->firsts = vpt_alloc(list->count + 1, sizeof(struct vpa_rank *));
	out->begins = vpt_alloc(list->count + 1, sizeof(*out->begins));
	if (!out->ranks || !out->firsts || !out->begins)
		return VPT_ENOMEM;
	for (i = 0; i < list->count; i++) {
		list->items[i]->machine = 0;
		if (list->items[i]->host)
			out->ranks[count++] = list->items[i];
	}
	rc = vpa_sort(out->ranks, count, sizeof(struct vpa_rank *), by_host);
	for (i = 0; i < count && !rc; i++)
		if (!i || by_host(&out->ranks[i - 1], &out->ranks[i]))
			out->begins[out->count++] = i;
	out->begins[out->count] = count;
	return rc;
}

static int new_room(struct telling *t, size_t most)
{
	t->items[0] = vpt_alloc(most, sizeof(**t->items));
	t->items[1] = vpt_alloc(most, sizeof(**t->items));
	t->partner = vpt_alloc(most, sizeof(*t->partner));
	return t->items[0] && t->items[1] && t->partner ? VPT_OK : VPT_ENOMEM;
}

int vpa_machines_tell(struct vpa_rank_list *list)
{
	unsigned threads = vpa_rank_threads(list), t;
	struct hosts hosts = {.count = 0};
	size_t most = 1, i;
	int rc = list_hosts(list, &hosts);

	for (i = 0; i < list->count; i++)
		most = list->items[i]->collective_count > most ? list->items[i]->collective_count
							       : most;
	for (t = 0; t < threads && !rc; t++)
		rc = new_room(&hosts.rooms[t], most);
	if (!rc)
		rc = vpa_in_threads(threads, hosts.count, tell_host, &hosts);
	for (i = 0; i < list->count && !rc; i++) {
		if (has_lost_machine(list->items[i]))
			find_lost_machine(&hosts.rooms[0], list, list->items[i]);
	}
	for (t = 0; t < threads; t++) {
		vpt_free(hosts.rooms[t].items[0]);
		vpt_free(hosts.rooms[t].items[1]);
		vpt_free(hosts.rooms[t].partner);
	}
	vpt_free(hosts.ranks);
	vpt_free(hosts.firsts);
	vpt_free(hosts.begins);
	return rc;
}
