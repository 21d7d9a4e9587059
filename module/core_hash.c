// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * SipHash-2-4, from the paper "SipHash: a fast short-input PRF" (2012).
 */
#include "core_hash.h"

struct sip_state {
	u64 v0, v1, v2, v3;
};

static __always_inline void sip_round(struct sip_state *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = bloom_rol64(s->v1, 13) ^ s->v0;
	s->v3 = bloom_rol64(s->v3, 16) ^ s->v2;
	s->v0 = bloom_rol64(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = bloom_rol64(s->v1, 17) ^ s->v2;
	s->v3 = bloom_rol64(s->v3, 21) ^ s->v0;
	s->v2 = bloom_rol64(s->v2, 32);
}

static __always_inline void sip_word(struct sip_state *s, u64 word)
{
	s->v3 ^= word;
	sip_round(s);
	sip_round(s);
	s->v0 ^= word;
}

u64 bloom_hash_siphash(const void *key, u32 len, const u64 seed[2])
{
	struct sip_state s = {
		.v0 = seed[0] ^ 0x736f6d6570736575ULL,
		.v1 = seed[1] ^ 0x646f72616e646f6dULL,
		.v2 = seed[0] ^ 0x6c7967656e657261ULL,
		.v3 = seed[1] ^ 0x7465646279746573ULL,
	};
	const u8 *k = key;
	u64 last = (u64)len << 56;
	u32 i;

	for (; len >= 8; k += 8, len -= 8)
		sip_word(&s, bloom_load_le64(k));
	for (i = 0; i < len; i++)
		last |= (u64)k[i] << (8 * i);
	sip_word(&s, last);

	s.v2 ^= 0xff;
	for (i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
