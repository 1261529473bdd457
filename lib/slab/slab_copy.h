/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_COPY_H
#define SLAB_COPY_H

/*
 * Between addresses and codes. Long bursts go through the widest instructions that the processor
 * has; short ones are done one by one. For putting, "long" is longer: addresses that the caller
 * has just stored one by one are not forwarded to a wide load.
 */

#include <stdbool.h>
#include <stdint.h>

#include "slab_atomic.h"

#define SLAB_DECODE_WIDE 8
#define SLAB_ENCODE_WIDE 16

/* base is the address that code 0 stands for; a code counts steps of 1 << shift bytes. */
typedef void (*slab_decoder)(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
	unsigned int shift);
/* Returns all distances from base, or-ed: the caller looks for bits that had no place. */
typedef uint64_t (*slab_encoder)(uint32_t *codes, void *const *objs, unsigned int n,
	uintptr_t base, unsigned int shift);

struct slab_copy {
	const char *name;
	unsigned int bits; /* width of its vectors */
	slab_decoder decode;
	slab_encoder encode;
};

/* All variants, narrowest first; those from slab_copies_usable() on, this processor lacks. */
extern const struct slab_copy slab_copies[];
unsigned int
slab_copies_usable(void);

/* The variant in use in this process. */
extern struct slab_copy slab_copy;

static inline void *
slab_decode_one(uint32_t code, uintptr_t base, unsigned int shift)
{
	return (void *)(base + ((uintptr_t)code << shift));
}

static inline uint32_t
slab_encode_one(const void *obj, uintptr_t base, unsigned int shift, uint64_t *seen)
{
	uint64_t distance = (uintptr_t)obj - base;

	*seen |= distance;
	return (uint32_t)(distance >> shift);
}

/*
 * Without vectors, so for less than SLAB_DECODE_WIDE or SLAB_ENCODE_WIDE. Whoever knows n when it
 * compiles gets straight code.
 */
static inline void
slab_decode_few(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
	unsigned int shift)
{
#define DECODE(i) objs[i] = slab_decode_one(codes[i], base, shift)
	switch (n) {
	case 7: DECODE(6); /* fall through */
	case 6: DECODE(5); /* fall through */
	case 5: DECODE(4); /* fall through */
	case 4: DECODE(3); /* fall through */
	case 3: DECODE(2); /* fall through */
	case 2: DECODE(1); /* fall through */
	case 1: DECODE(0);
	}
#undef DECODE
}

static inline uint64_t
slab_encode_few(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	uint64_t seen = 0;

#define ENCODE(i) codes[i] = slab_encode_one(objs[i], base, shift, &seen)
	for (; n > 7; n--) {
		ENCODE(n - 1);
		slab_compiler_barrier();
	}
	switch (n) {
	case 7: ENCODE(6); /* fall through */
	case 6: ENCODE(5); /* fall through */
	case 5: ENCODE(4); /* fall through */
	case 4: ENCODE(3); /* fall through */
	case 3: ENCODE(2); /* fall through */
	case 2: ENCODE(1); /* fall through */
	case 1: ENCODE(0);
	}
#undef ENCODE
	return seen;
}

static inline void
slab_decode(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	if (n >= SLAB_DECODE_WIDE)
		slab_copy.decode(objs, codes, n, base, shift);
	else
		slab_decode_few(objs, codes, n, base, shift);
}

static inline uint64_t
slab_encode(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	return n >= SLAB_ENCODE_WIDE ? slab_copy.encode(codes, objs, n, base, shift) :
		slab_encode_few(codes, objs, n, base, shift);
}

#endif /* SLAB_COPY_H */
