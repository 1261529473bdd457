/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_DEPOT_H
#define SLAB_DEPOT_H

/*
 * Magazines (L0, L1). A depot has three lists: full magazines, partial ones and empty ones (I3).
 * An lcore with a cache exchanges whole magazines, so it parks full and empty ones; whoever has no
 * cache takes one, moves what it needs and parks it again. That leaves at most one partial
 * magazine for each thread inside an operation, so magazines do not fragment, and while one is
 * out, others find another: nobody waits.
 */

#include "slab_copy.h"
#include "slab_list.h"

/* Take a magazine with objects, or with room for some: 0 when there is none. Thread-safe. */
uint32_t
slab_depot_get_objects(struct slab_pool *pool, uint32_t node);
uint32_t
slab_depot_get_room(struct slab_pool *pool, uint32_t node);

/* Give a magazine to the list where it belongs. Thread-safe. */
void
slab_depot_park(struct slab_pool *pool, uint32_t node, uint32_t magazine);

static inline uintptr_t
slab_code_base(const struct slab_pool *pool)
{
	return (uintptr_t)pool + (uintptr_t)pool->base;
}

/* Take n objects off the top of a magazine that has them. The holder only (I2). */
static inline void
slab_magazine_pop_owner(const struct slab_pool *pool, struct slab_magazine *m, void **objs,
	unsigned int n, slab_decoder decode)
{
	uint32_t left = slab_load_relaxed(&m->len) - n;

	decode(objs, m->codes + left, n, slab_code_base(pool), pool->shift);
	slab_store_relaxed(&m->len, left);
}

/*
 * Put n objects on a magazine that has room for them. The holder only (I2).
 * False if any of them has no code: then nothing was put.
 */
static inline bool
slab_magazine_push_owner(const struct slab_pool *pool, struct slab_magazine *m,
	void *const *objs, unsigned int n, slab_encoder encode)
{
	uint32_t len = slab_load_relaxed(&m->len);
	uint64_t seen = encode(m->codes + len, objs, n, slab_code_base(pool), pool->shift);

	if (__builtin_expect((seen & pool->beyond) != 0, 0))
		return false;
	slab_store_relaxed(&m->len, len + n);
	return true;
}

/* Take as many of max objects as the magazine has. The holder only (I2). */
static inline unsigned int
slab_magazine_pop_some_owner(const struct slab_pool *pool, uint32_t id, void **objs,
	unsigned int max)
{
	struct slab_magazine *m = slab_at(pool, id);
	uint32_t len = slab_load_relaxed(&m->len);
	unsigned int n = max < len ? max : len;

	slab_magazine_pop_owner(pool, m, objs, n, slab_decode);
	return n;
}

/*
 * Put as many of n objects as there is room for. The holder only (I2). Returns how many, or -1 if
 * any of those has no code: then nothing was put.
 */
static inline int
slab_magazine_push_some_owner(const struct slab_pool *pool, uint32_t id, void *const *objs,
	unsigned int n)
{
	struct slab_magazine *m = slab_at(pool, id);
	uint32_t room = pool->magazine - slab_load_relaxed(&m->len);
	unsigned int k = n < room ? n : room;

	return slab_magazine_push_owner(pool, m, objs, k, slab_encode) ? (int)k : -1;
}

#endif /* SLAB_DEPOT_H */
