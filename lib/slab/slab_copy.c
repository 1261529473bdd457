/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab.h"
#include "slab_copy.h"

/*
 * One loop, compiled once for each set of instructions; the compiler makes the vectors. The set
 * is chosen when the library is loaded, in each process for itself.
 */

#define VARIANT(suffix, attributes) \
attributes static void \
decode_##suffix(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base, \
	unsigned int shift) \
{ \
	for (unsigned int i = 0; i < n; i++) \
		objs[i] = slab_decode_one(codes[i], base, shift); \
} \
attributes static uint64_t \
encode_##suffix(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base, \
	unsigned int shift) \
{ \
	uint64_t seen = 0; \
	for (unsigned int i = 0; i < n; i++) \
		codes[i] = slab_encode_one(objs[i], base, shift, &seen); \
	return seen; \
}

VARIANT(plain, )
#ifdef __x86_64__
VARIANT(sse42, __attribute__((target("sse4.2"))))
VARIANT(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx512f,avx512vl"))))
#endif

/* What every processor of the architecture has is in "plain": NEON, or SSE2. */
const struct slab_copy slab_copies[] = {
	{ "plain", 0, decode_plain, encode_plain },
#ifdef __x86_64__
	{ "sse4.2", 128, decode_sse42, encode_sse42 },
	{ "avx2", 256, decode_avx2, encode_avx2 },
	{ "avx512", 512, decode_avx512, encode_avx512 },
#endif
};

struct slab_copy slab_copy = { "plain", 0, decode_plain, encode_plain };

unsigned int
slab_copies_usable(void)
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
	unsigned int i = slab_copies_usable() - 1;

	while (bits != 0 && slab_copies[i].bits > bits)
		i--;
	/* A second pool must not disturb those who use the first. */
	if (slab_copy.decode != slab_copies[i].decode)
		slab_copy = slab_copies[i];
}

__attribute__((constructor)) static void
choose(void)
{
	slab_set_simd_bits(0);
}
