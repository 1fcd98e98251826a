/* range_strings.c - interns the strings of ranges, once for the whole process.
 *
 * One reservation of address space holds three arrays; pages are touched as they fill.
 *
 *	slots    hash table, open addressing   hash (upper half) | number (lower half), 0: free
 *	entries  by number                     offset of the text | its length
 *	text     all texts, one after the other, each followed by a NUL
 *	recent   where C strings stood and what they were called then; compared before trusted
 *
 * A thread with a new text reserves a number and room for the bytes, writes both, and publishes
 * them with one compare-and-swap on the slot. If two threads intern the same new text, one loses:
 * it uses the winner's number and returns its own, unless another was reserved meanwhile; then a
 * number stays unused. Nothing is removed, so a probe that finds a free slot has seen
 * everything. */
#include "tracer/ranges/words/range_strings.h"

#include "formats/base/hash.h"
#include "tracer/guest/budget.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
	SLOTS = 2 * VTR_NAMES_MAX, /* never more than half full */
	FIRST_FREE = 2,            /* numbers 0 and 1 are reserved */
	RECENT = 1024
};

struct tables {
	_Atomic uint64_t slots[SLOTS];
	_Atomic uint64_t entries[VTR_NAMES_MAX];
	_Atomic uint64_t recent[RECENT]; /* low 48 bits of an address, shifted up by 16 | number */
	char text[VTR_NAMES_BYTES_MAX];
};

_Static_assert(VTR_NAMES_MAX <= 1 << 16, "a number fits beside an address in `recent`");

static struct tables *_Atomic tables;
static _Atomic uint32_t next_name = FIRST_FREE;
static _Atomic uint32_t next_byte;
static _Atomic uint64_t refused;

static const char refused_text[] = "(too many names)";

int vtr_names_init(void)
{
	void *map;

	if (atomic_load_explicit(&tables, memory_order_acquire))
		return 0;
	map = mmap(NULL, sizeof(struct tables), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -1;
	atomic_store_explicit(&tables, map, memory_order_release);
	return 0;
}

static uint64_t load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return word;
}

/* Up to 7 bytes as one word; the order does not matter, only that all count. */
static uint64_t load_few(const char *p, size_t len)
{
	uint32_t first, last;

	if (len < 4)
		return (uint64_t)(unsigned char)p[0] << 16 |
		       (uint64_t)(unsigned char)p[len / 2] << 8 | (unsigned char)p[len - 1];
	memcpy(&first, p, 4);
	memcpy(&last, p + len - 4, 4);
	return (uint64_t)first << 32 | last;
}

/* A server may name its ranges after what strangers send. Without the key of this process nobody knows which
 * texts collide: it is a factor, so that no difference of two words is undone by one of the next. */
static uint64_t mix(uint64_t h, uint64_t word)
{
	return vpt_hash_fold(h ^ word ^ vpt_hash_keys.words[0], vpt_hash_keys.words[1]);
}

/* Eight bytes and one multiplication per step; the last step may overlap the one before. `len` is
 * not 0. */
static uint32_t hash_of(const char *text, size_t len)
{
	uint64_t h = len;
	size_t at;

	if (len < 8) {
		h = mix(h, load_few(text, len));
	} else {
		for (at = 0; at + 8 < len; at += 8)
			h = mix(h, load8(text + at));
		h = mix(h, load8(text + len - 8));
	}
	return (uint32_t)vpt_hash_fold(h ^ vpt_hash_keys.last[0], vpt_hash_keys.last[1]);
}

static int same_text(const struct tables *t, uint32_t name, const char *text, size_t len)
{
	uint64_t entry = atomic_load_explicit(&t->entries[name], memory_order_acquire);

	return (uint32_t)entry == len && !memcmp(t->text + (entry >> 32), text, len);
}

/* Reserves `count` units of a counter. Returns where they begin, or `limit` if fewer are left. */
static uint32_t reserve(_Atomic uint32_t *counter, uint32_t count, uint32_t limit)
{
	uint32_t at = atomic_load_explicit(counter, memory_order_relaxed);

	do {
		if (limit - at < count)
			return limit;
	} while (!atomic_compare_exchange_weak_explicit(
		counter, &at, at + count, memory_order_acquire, memory_order_relaxed));
	return at;
}

/* Undoes the newest reservation; does nothing if there has been a newer one. */
static void give_back(_Atomic uint32_t *counter, uint32_t at, uint32_t count)
{
	uint32_t expected = at + count;

	atomic_compare_exchange_strong_explicit(
		counter, &expected, at, memory_order_release, memory_order_relaxed);
}

/* Reserves a number for a new text, unpublished. VTR_NAME_REFUSED: a cap is reached. */
static uint32_t add(struct tables *t, const char *text, uint32_t len, uint32_t *offset)
{
	uint32_t name;

	if (!vtr_budget_take(VTR_BUDGET_NAMES, len + 1))
		return VTR_NAME_REFUSED;
	name = reserve(&next_name, 1, VTR_NAMES_MAX);
	if (name == VTR_NAMES_MAX) {
		vtr_budget_give(VTR_BUDGET_NAMES, len + 1);
		return VTR_NAME_REFUSED;
	}
	*offset = reserve(&next_byte, len + 1, VTR_NAMES_BYTES_MAX);
	if (*offset == VTR_NAMES_BYTES_MAX) {
		vtr_budget_give(VTR_BUDGET_NAMES, len + 1);
		give_back(&next_name, name, 1);
		return VTR_NAME_REFUSED;
	}
	memcpy(t->text + *offset, text, len);
	t->text[*offset + len] = 0;
	atomic_store_explicit(
		&t->entries[name], (uint64_t)*offset << 32 | len, memory_order_release);
	return name;
}

static void withdraw(struct tables *t, uint32_t name, uint32_t len, uint32_t offset)
{
	atomic_store_explicit(&t->entries[name], 0, memory_order_relaxed);
	/* the bytes stay charged to the limit: give_back() may do nothing */
	give_back(&next_byte, offset, len + 1);
	give_back(&next_name, name, 1);
}

static uint32_t find_or_add(struct tables *t, const char *text, uint32_t len)
{
	uint64_t hash = (uint64_t)hash_of(text, len) << 32;
	uint32_t at = (uint32_t)(hash >> 32) & (SLOTS - 1);
	uint32_t mine = VTR_NAME_EMPTY, offset = 0;

	for (;; at = (at + 1) & (SLOTS - 1)) {
		uint64_t slot = atomic_load_explicit(&t->slots[at], memory_order_acquire);

		if (!slot) {
			if (mine == VTR_NAME_EMPTY)
				mine = add(t, text, len, &offset);
			if (mine == VTR_NAME_REFUSED) {
				atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
				return VTR_NAME_REFUSED;
			}
			if (atomic_compare_exchange_strong_explicit(&t->slots[at], &slot,
				    hash | mine, memory_order_acq_rel, memory_order_acquire))
				return mine;
		}
		if ((slot ^ hash) >> 32 == 0 && same_text(t, (uint32_t)slot, text, len)) {
			if (mine != VTR_NAME_EMPTY)
				withdraw(t, mine, len, offset);
			return (uint32_t)slot;
		}
	}
}

/* Never cut inside a UTF-8 character: step back to its first byte. */
static size_t cut(const char *text)
{
	size_t len = VTR_NAME_BYTES_MAX, back;

	for (back = 0; back < 4; back++)
		if (((unsigned char)text[len - back] & 0xc0) != 0x80)
			return len - back;
	return len;
}

uint32_t vtr_name(const char *text, size_t len)
{
	struct tables *t = atomic_load_explicit(&tables, memory_order_acquire);

	if (!text || !len)
		return VTR_NAME_EMPTY;
	if (len > VTR_NAME_BYTES_MAX)
		len = cut(text);
	if (!t) {
		atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
		return VTR_NAME_REFUSED;
	}
	return find_or_add(t, text, (uint32_t)len);
}

uint32_t vtr_name_of(const char *text)
{
	struct tables *t = atomic_load_explicit(&tables, memory_order_acquire);
	uint64_t address = (uint64_t)(uintptr_t)text, seen, entry;
	_Atomic uint64_t *place;
	uint32_t name;

	if (!text || !*text)
		return VTR_NAME_EMPTY;
	if (!t)
		return vtr_name(text, 1);
	place = &t->recent[address * 0x9e3779b97f4a7c15u >> 54];
	seen = atomic_load_explicit(place, memory_order_acquire);
	if (seen >> 16 == (address & UINT64_C(0xffffffffffff))) {
		name = (uint32_t)(seen & 0xffff);
		entry = atomic_load_explicit(&t->entries[name], memory_order_relaxed);
		if (!strcmp(text, t->text + (entry >> 32)))
			return name;
	}
	name = vtr_name(text, strnlen(text, VTR_NAME_BYTES_MAX + 1));
	if (name != VTR_NAME_REFUSED && seen != (address << 16 | name))
		atomic_store_explicit(place, address << 16 | name, memory_order_release);
	return name;
}

const char *vtr_name_text(uint32_t name, size_t *len)
{
	struct tables *t = atomic_load_explicit(&tables, memory_order_acquire);
	uint64_t entry;

	*len = 0;
	if (name == VTR_NAME_REFUSED) {
		*len = sizeof(refused_text) - 1;
		return refused_text;
	}
	if (!t || name < FIRST_FREE || name >= VTR_NAMES_MAX)
		return "";
	entry = atomic_load_explicit(&t->entries[name], memory_order_acquire);
	*len = (uint32_t)entry;
	return t->text + (entry >> 32);
}

uint32_t vtr_names_count(void)
{
	return atomic_load_explicit(&next_name, memory_order_relaxed);
}

uint64_t vtr_names_refused(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed);
}
