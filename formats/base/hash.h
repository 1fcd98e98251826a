/* hash.h - keyed hashes for tables in memory.
 *
 * Names and numbers come from files that anybody may have made. Whoever knows a table's hash can make
 * all of its entries collide, and then each look-up scans the table. So the hashes have a secret key,
 * different in each run of the program.
 *
 *	text, any bytes       vpt_hash()          SipHash-1-3, about 14 instructions for 8 bytes
 *	numbers, few          vpt_hash_number(), vpt_hash_pair(), vpt_hash_words()
 *	                                          products of the numbers and the key, about 4 each
 *	ids given in order    vpt_hash_near()     neighbours stay neighbours
 *
 * A hash decides where an entry is kept, and nothing else. It must not reach an output, nor the order
 * of one: the same file gives the same bytes in each run. For a number that a result depends on there is
 * vpt_mix(), which has no key, and so must not decide where an entry is kept. */
#ifndef VPT_FORMATS_BASE_HASH_H
#define VPT_FORMATS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { VPT_HASH_WORDS_MAX = 24 };

/* Set before main() from the kernel's random bytes, which takes no system call; then read only. */
extern struct vpt_hash_keys {
	uint64_t text[2], last[2], words[VPT_HASH_WORDS_MAX + 1];
} vpt_hash_keys __attribute__((visibility("hidden")));

uint64_t vpt_hash(const void *data, size_t len);

/* Both halves of a product, so that each bit of it counts. */
static inline uint64_t vpt_hash_fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* `count`: a constant, at most VPT_HASH_WORDS_MAX. */
static inline uint64_t vpt_hash_words(const uint64_t *words, unsigned count)
{
	const struct vpt_hash_keys *k = &vpt_hash_keys;
	uint64_t h = 0;
	unsigned i;

	for (i = 0; i + 1 < count; i += 2)
		h ^= vpt_hash_fold(words[i] ^ k->words[i], words[i + 1] ^ k->words[i + 1]);
	if (count & 1)
		h ^= vpt_hash_fold(words[count - 1] ^ k->words[count - 1], k->words[count]);
	return vpt_hash_fold(h ^ k->last[0], k->last[1]);
}

static inline uint64_t vpt_hash_number(uint64_t number)
{
	return vpt_hash_words(&number, 1);
}

static inline uint64_t vpt_hash_pair(uint64_t a, uint64_t b)
{
	const uint64_t words[] = {a, b};

	return vpt_hash_words(words, 2);
}

/* The low bits choose a slot: of 64 ids in a row each has its own, next to the others'. For chains,
 * not for open addressing, where runs of slots in use would meet. One product of id and key is too
 * little: with one key in 50, ids at equal distances share few slots. */
static inline uint64_t vpt_hash_near(uint64_t id)
{
	return vpt_hash_number(id >> 6) + (id & 63);
}

/* Spreads a number, the same way in each run. */
static inline uint64_t vpt_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15u;
	h ^= h >> 29;
	return h;
}

#endif
