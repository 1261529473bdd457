/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_COPY_H
#define SLAB_COPY_H

/*
 * Between addresses and codes. Bursts of SLAB_COPY_WIDE or more go through the widest
 * instructions that the processor has; shorter ones are done in place, since a masked vector
 * store that is loaded again at once is not forwarded.
 */

#include <stdbool.h>
#include <stdint.h>

#define SLAB_COPY_WIDE 16

struct slab_copy {
	const char *name;
	/* base is the address that code 0 stands for; a code counts steps of 1 << shift bytes. */
	void (*decode)(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
		unsigned int shift);
	/* All distances from base, or-ed: the caller looks for bits that had no place. */
	uint64_t (*encode)(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base,
		unsigned int shift);
};

/* All variants, narrowest first; those from slab_copies_usable() on, this processor lacks. */
extern const struct slab_copy slab_copies[];
unsigned int
slab_copies_usable(void);

/* The variant in use in this process. */
extern struct slab_copy slab_copy;

static inline void
slab_decode_each(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		objs[i] = (void *)(base + ((uintptr_t)codes[i] << shift));
}

static inline uint64_t
slab_encode_each(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	uint64_t seen = 0, distance;
	unsigned int i;

	for (i = 0; i < n; i++) {
		distance = (uintptr_t)objs[i] - base;
		seen |= distance;
		codes[i] = (uint32_t)(distance >> shift);
	}
	return seen;
}

static inline void
slab_decode(void **objs, const uint32_t *codes, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	if (n < SLAB_COPY_WIDE)
		slab_decode_each(objs, codes, n, base, shift);
	else
		slab_copy.decode(objs, codes, n, base, shift);
}

static inline uint64_t
slab_encode(uint32_t *codes, void *const *objs, unsigned int n, uintptr_t base,
	unsigned int shift)
{
	if (n < SLAB_COPY_WIDE)
		return slab_encode_each(codes, objs, n, base, shift);
	return slab_copy.encode(codes, objs, n, base, shift);
}

#endif /* SLAB_COPY_H */
