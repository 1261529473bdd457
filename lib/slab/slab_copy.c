/* SPDX-License-Identifier: BSD-3-Clause */

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
VARIANT(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx512f,avx512vl"))))
#endif

const struct slab_copy slab_copies[] = {
	{ "plain", decode_plain, encode_plain },
#ifdef __x86_64__
	{ "avx2", decode_avx2, encode_avx2 },
	{ "avx512", decode_avx512, encode_avx512 },
#endif
};

struct slab_copy slab_copy = { "plain", decode_plain, encode_plain };

unsigned int
slab_copies_usable(void)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2"))
		return 1;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? 3 : 2;
#else
	return 1;
#endif
}

__attribute__((constructor)) static void
choose(void)
{
	slab_copy = slab_copies[slab_copies_usable() - 1];
}
