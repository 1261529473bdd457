/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_FAST_H
#define SLAB_FAST_H

/*
 * Get and put for whoever compiles them into its own functions: many ports take or free packets
 * one by one, and one object out of the lcore's cache is so little work that a call and
 * a loop would double it.
 */

#include "slab_lcore.h"
#include "slab_simd.h"

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
	slab_count_owner(pool, &lc->counters.get_bulks, 1);
	slab_count_owner(pool, &lc->counters.get_objs, n);
}

static inline void
slab_count_put_owner(const struct slab_pool *pool, struct slab_lcore *lc, unsigned int n)
{
	slab_count_owner(pool, &lc->counters.put_bulks, 1);
	slab_count_owner(pool, &lc->counters.put_objs, n);
}

/* A burst that the cache holds, or has room for, is done in one step; else false. */
static inline __attribute__((always_inline)) bool
slab_get_cached_owner(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n)
{
	if (slab_lcore_enter_owner(lc) != SLAB_SHUT_NOT || n > slab_load_relaxed(&lc->len))
		return false;
	slab_lcore_pop_owner(pool, lc, objs, n);
	slab_store_relaxed(&lc->fail_run, 0);
	slab_count_get_owner(pool, lc, n);
	slab_lcore_leave_owner(lc);
	return true;
}

static inline __attribute__((always_inline)) bool
slab_put_cached_owner(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs,
	unsigned int n)
{
	if (slab_lcore_enter_owner(lc) != SLAB_SHUT_NOT ||
			(uint64_t)slab_load_relaxed(&lc->len) + n > pool->put_cache ||
			!slab_lcore_push_owner(pool, lc, objs, n))
		return false;
	slab_count_put_owner(pool, lc, n);
	slab_lcore_leave_owner(lc);
	return true;
}

/* What remains to be done where those return false. */
int
slab_get_rest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n);
int
slab_put_rest(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n);

/* For threads that are no lcores; and what then remains, the first objects are there already. */
int
slab_get_thread(struct slab_pool *pool, void **objs, unsigned int n);
int
slab_put_thread(struct slab_pool *pool, void *const *objs, unsigned int n);
int
slab_get_thread_rest(struct slab_pool *pool, void **objs, unsigned int have, unsigned int n);
int
slab_put_thread_rest(struct slab_pool *pool, void *const *objs, unsigned int n);

static inline __attribute__((always_inline)) int
slab_get_lcore(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n)
{
	if (n != 1)
		return slab_simd.get(pool, lc, objs, n);
	return slab_get_cached_owner(pool, lc, objs, 1) ? 0 : slab_get_rest(pool, lc, objs, 1);
}

static inline __attribute__((always_inline)) int
slab_put_lcore(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	if (n != 1)
		return slab_simd.put(pool, lc, objs, n);
	return slab_put_cached_owner(pool, lc, objs, 1) ? 0 : slab_put_rest(pool, lc, objs, 1);
}

/* Of lcores past slab_pool.direct: threads that are no lcores, and all where objects are checked. */
int
slab_get_aside(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n,
	const void *caller);
int
slab_put_aside(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n);

static inline __attribute__((always_inline)) int
slab_get_fast(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	if (__builtin_expect(lcore >= pool->direct, 0))
		return slab_get_aside(pool, lcore, objs, n, __builtin_return_address(0));
	return slab_get_lcore(pool, slab_lcores(pool) + lcore, objs, n);
}

static inline __attribute__((always_inline)) int
slab_put_fast(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	if (__builtin_expect(lcore >= pool->direct, 0))
		return slab_put_aside(pool, lcore, objs, n);
	return slab_put_lcore(pool, slab_lcores(pool) + lcore, objs, n);
}

#endif /* SLAB_FAST_H */
