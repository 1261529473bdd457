/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_FAST_H
#define SLAB_FAST_H

/*
 * Get and put for whoever compiles them into its own functions: many ports take or free packets
 * one by one, and one object out of the lcore's loaded magazine is so little work that a call and
 * a loop would double it.
 */

#include "slab_depot.h"
#include "slab_lcore.h"

/* The owner alone writes its counts, so a plain add will do. */
static inline void
slab_count_owner(const struct slab_pool *pool, slab_atomic64 *counter, uint64_t n)
{
	if (__builtin_expect(pool->stats, 0))
		slab_store_relaxed(counter, slab_load_relaxed(counter) + n);
}

static inline void
slab_count_get_owner(const struct slab_pool *pool, struct slab_lcore *lc, unsigned int n)
{
	slab_store_relaxed(&lc->fail_run, 0);
	slab_count_owner(pool, &lc->counters.get_bulks, 1);
	slab_count_owner(pool, &lc->counters.get_objs, n);
}

static inline void
slab_count_put_owner(const struct slab_pool *pool, struct slab_lcore *lc, unsigned int n)
{
	slab_count_owner(pool, &lc->counters.put_bulks, 1);
	slab_count_owner(pool, &lc->counters.put_objs, n);
}

/* A burst that the loaded magazine holds, or has room for, is done in one step; else false. */
static inline bool
slab_get_loaded_owner(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n,
	slab_decoder decode)
{
	struct slab_magazine *m = slab_at(pool, slab_load_relaxed(&lc->loaded));

	if (slab_lcore_enter_owner(lc) != SLAB_SHUT_NOT || n > slab_load_relaxed(&m->len))
		return false;
	slab_magazine_pop_owner(pool, m, objs, n, decode);
	slab_count_get_owner(pool, lc, n);
	slab_lcore_leave_owner(lc);
	return true;
}

static inline bool
slab_put_loaded_owner(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs,
	unsigned int n, slab_encoder encode)
{
	struct slab_magazine *m = slab_at(pool, slab_load_relaxed(&lc->loaded));

	if (slab_lcore_enter_owner(lc) != SLAB_SHUT_NOT ||
			n > pool->magazine - slab_load_relaxed(&m->len) ||
			!slab_magazine_push_owner(pool, m, objs, n, encode))
		return false;
	slab_count_put_owner(pool, lc, n);
	slab_lcore_leave_owner(lc);
	return true;
}

static inline int
slab_get_fast(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	if (n == 1 && slab_get_loaded_owner(pool, slab_lcore_at(pool, lcore), objs, 1,
			slab_decode_few))
		return 0;
	return slab_get(pool, lcore, objs, n);
}

static inline int
slab_put_fast(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	if (n == 1 && slab_put_loaded_owner(pool, slab_lcore_at(pool, lcore), objs, 1,
			slab_encode_few))
		return 0;
	return slab_put(pool, lcore, objs, n);
}

#endif /* SLAB_FAST_H */
