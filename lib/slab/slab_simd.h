/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_SIMD_H
#define SLAB_SIMD_H

/*
 * What is compiled once for each set of instructions, since its loops gain from wide vectors. Whole
 * operations rather than their loops alone: short bursts would feel the calls in between.
 */

#include <stdbool.h>
#include <stdint.h>

struct slab_pool;
struct slab_lcore;

struct slab_simd {
	const char *name;
	unsigned int bits; /* width of its vectors */
	/* slab_get() and slab_put(), as this lcore. */
	int (*get)(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n);
	int (*put)(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n);
	/*
	 * Between words and codes:
	 *
	 *     decode      words[i] = base + (codes[i] << shift)
	 *     encode      codes[i] = (words[i] - base) >> shift
	 *
	 * Words are addresses or, when base is 0, offsets. encode returns all words less base,
	 * or-ed: the caller looks for bits that had no place.
	 */
	void (*decode)(void *words, const uint32_t *codes, unsigned int n, uintptr_t base,
		unsigned int shift);
	uint64_t (*encode)(uint32_t *codes, const void *words, unsigned int n, uintptr_t base,
		unsigned int shift);
};

_Static_assert(sizeof(void *) == sizeof(uint64_t), "a word is an address or an offset");

/* All variants, narrowest first; those from slab_simds_usable() on, this processor lacks. */
extern const struct slab_simd slab_simds[];
unsigned int
slab_simds_usable(void);

/* The variant in use in this process. */
extern struct slab_simd slab_simd;

#endif /* SLAB_SIMD_H */
