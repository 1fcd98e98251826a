/* hash.c - the key, and SipHash-1-3 (Aumasson and Bernstein 2012, with one round for each word and three at the end). */
#include "formats/base/hash.h"

#include <string.h>
#include <sys/auxv.h>

struct vpt_hash_keys vpt_hash_keys;

struct state {
	uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void sip_round(struct state *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = rotate(s->b, 13) ^ s->a;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a = rotate(s->a, 32) + s->d;
	s->c += s->b;
	s->d = rotate(s->d, 21) ^ s->a;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

static inline void take(struct state *s, uint64_t word)
{
	s->d ^= word;
	sip_round(s);
	s->a ^= word;
}

static uint64_t sip(const uint64_t key[2], const unsigned char *p, size_t len)
{
	struct state s = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
		key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	uint64_t word, last = (uint64_t)len << 56;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		take(&s, word);
	}
	while (len--)
		last |= (uint64_t)p[len] << 8 * len;
	take(&s, last);
	s.c ^= 0xff;
	sip_round(&s);
	sip_round(&s);
	sip_round(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}

uint64_t vpt_hash(const void *data, size_t len)
{
	return sip(vpt_hash_keys.text, data, len);
}

/* The kernel gives each program 16 random bytes when it starts. The C library uses them too, against
 * overwritten stacks: what is derived from them here does not tell them. */
static void __attribute__((constructor(101))) make_keys(void)
{
	const void *random =
		(const void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
	uint64_t seed[2] = {(uintptr_t)&seed, (uintptr_t)&make_keys},
		 keys[sizeof(vpt_hash_keys) / 8];
	uint64_t i;

	/* Without them, where the kernel has put the program is all that is not known. */
	if (random)
		memcpy(seed, random, sizeof(seed));
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		keys[i] = sip(seed, (const unsigned char *)&i, sizeof(i));
	memcpy(&vpt_hash_keys, keys, sizeof(vpt_hash_keys));
}
