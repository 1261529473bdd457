/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_DEPOT_H
#define SLAB_DEPOT_H

/*
 * Magazines (L1). A depot has three lists: full magazines, partial ones and empty ones (I3).
 * Whoever comes takes one, moves objects and parks it again; lcores with a cache move a whole
 * magazine's worth. That leaves at most one partial magazine for each thread inside an operation,
 * so magazines do not fragment, and while one is out, others find another: nobody waits.
 */

#include "slab_simd.h"
#include "slab_list.h"

/*
 * Take a magazine with objects, or a full one, or one with room; 0 when there is none, and for room
 * also when the depot has as many full ones as it may. Thread-safe.
 */
uint32_t
slab_depot_get_objects(struct slab_pool *pool, uint32_t node);
uint32_t
slab_depot_get_full(struct slab_pool *pool, uint32_t node);
uint32_t
slab_depot_get_room(struct slab_pool *pool, uint32_t node);

/* Give a magazine to the list where it belongs. Thread-safe. */
void
slab_depot_park(struct slab_pool *pool, uint32_t node, uint32_t magazine);

/* All objects of a magazine to their slabs, and park it. The holder only (I2). */
void
slab_depot_spill(struct slab_pool *pool, uint32_t node, uint32_t magazine);

/*
 * Take as many of max objects as the magazine has. Words are their addresses, with base 0 their
 * offsets. The holder only (I2).
 */
static inline unsigned int
slab_magazine_pop_owner(const struct slab_pool *pool, uint32_t id, void *words, unsigned int max,
	uintptr_t base)
{
	struct slab_magazine *m = slab_at(pool, id);
	uint32_t len = slab_load_relaxed(&m->len);
	unsigned int n = max < len ? max : len;

	slab_simd.decode(words, m->codes + len - n, n, base, pool->shift);
	slab_store_relaxed(&m->len, len - n);
	return n;
}

/*
 * Put as many of n objects as there is room for; words as above. The holder only (I2). Returns how
 * many, or -1 if any of those has no code: then nothing was put.
 */
static inline int
slab_magazine_push_owner(const struct slab_pool *pool, uint32_t id, const void *words,
	unsigned int n, uintptr_t base)
{
	struct slab_magazine *m = slab_at(pool, id);
	uint32_t len = slab_load_relaxed(&m->len), room = pool->magazine - len;
	unsigned int k = n < room ? n : room;

	if (slab_simd.encode(m->codes + len, words, k, base, pool->shift) & pool->beyond)
		return -1;
	slab_store_relaxed(&m->len, len + k);
	return (int)k;
}

#endif /* SLAB_DEPOT_H */
