/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "slab_fast.h"
#include "slab_simd.h"

/*
 * Plain loops: the compiler makes the vectors. Which variant to use is chosen when the library is
 * loaded, in each process for itself.
 */

static inline __attribute__((always_inline)) void
decode(void *words, const uint32_t *codes, unsigned int n, uintptr_t base, unsigned int shift)
{
	unsigned int i;
	uint64_t word;

	for (i = 0; i < n; i++) {
		word = base + ((uint64_t)codes[i] << shift);
		memcpy((char *)words + i * sizeof(word), &word, sizeof(word));
	}
}

static inline __attribute__((always_inline)) uint64_t
encode(uint32_t *codes, const void *words, unsigned int n, uintptr_t base, unsigned int shift)
{
	uint64_t seen = 0, word;
	unsigned int i;

	for (i = 0; i < n; i++) {
		memcpy(&word, (const char *)words + i * sizeof(word), sizeof(word));
		word -= base;
		codes[i] = (uint32_t)(word >> shift);
		seen |= word;
	}
	return seen;
}

#define VARIANT(suffix, attributes) \
attributes static int \
get_##suffix(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n) \
{ \
	return slab_get_cached_owner(pool, lc, objs, n) ? 0 : slab_get_rest(pool, lc, objs, n); \
} \
attributes static int \
put_##suffix(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n) \
{ \
	return slab_put_cached_owner(pool, lc, objs, n) ? 0 : slab_put_rest(pool, lc, objs, n); \
} \
attributes static void \
decode_##suffix(void *words, const uint32_t *codes, unsigned int n, uintptr_t base, \
	unsigned int shift) \
{ \
	decode(words, codes, n, base, shift); \
} \
attributes static uint64_t \
encode_##suffix(uint32_t *codes, const void *words, unsigned int n, uintptr_t base, \
	unsigned int shift) \
{ \
	return encode(codes, words, n, base, shift); \
}

VARIANT(plain, )
#ifdef __x86_64__
VARIANT(sse42, __attribute__((target("sse4.2"))))
VARIANT(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx512f,avx512vl"))))
#endif

#define FUNCTIONS(suffix) get_##suffix, put_##suffix, decode_##suffix, encode_##suffix

/* What every processor of the architecture has is in "plain": NEON, or SSE2. */
const struct slab_simd slab_simds[] = {
	{ "plain", 0, FUNCTIONS(plain) },
#ifdef __x86_64__
	{ "sse4.2", 128, FUNCTIONS(sse42) },
	{ "avx2", 256, FUNCTIONS(avx2) },
	{ "avx512", 512, FUNCTIONS(avx512) },
#endif
};

struct slab_simd slab_simd = { "plain", 0, FUNCTIONS(plain) };

unsigned int
slab_simds_usable(void)
{
	unsigned int n = 1;
#ifdef __x86_64__
	__builtin_cpu_init();
	n += !!__builtin_cpu_supports("sse4.2");
	n += n == 2 && __builtin_cpu_supports("avx2");
	n += n == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
#endif
	return n;
}

void
slab_set_simd_bits(unsigned int bits)
{
	unsigned int i = slab_simds_usable() - 1;

	while (bits != 0 && slab_simds[i].bits > bits)
		i--;
	/* A second pool must not disturb those who use the first. */
	if (slab_simd.decode != slab_simds[i].decode)
		slab_simd = slab_simds[i];
}

__attribute__((constructor)) static void
choose(void)
{
	slab_set_simd_bits(0);
}
