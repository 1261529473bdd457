/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_LCORE_H
#define SLAB_LCORE_H

/*
 * The cache of an lcore (L0), and who may touch it (I2): an asymmetric form of Dekker's mutual
 * exclusion that costs the lcore two plain stores and a load, and the taker a system call.
 *
 *     lcore, each operation               taker
 *
 *     busy = process      relaxed         shut: NOT -> TAKEN   acquire
 *     compiler barrier                    membarrier
 *     if shut, acquire: no cache now      if busy, acquire: shut = NOT, go on to the next
 *     ... its cache ...                   ... its cache ...
 *     busy = 0            release         shut = NOT           release
 *
 * membarrier(2) stands for a full fence inside whatever the lcore does at that moment. So either
 * the lcore's store of busy was before it, and the taker sees that, or its load of shut comes
 * after it and sees the claim. Release of busy pairs with the taker's acquire, release of shut
 * with the lcore's: each sees the cache as the other left it. Neither ever waits: the lcore
 * does without its cache, and is then not busy with it, and the taker looks a few times and goes
 * on. A taker that dies with its claim leaves the lcore without a cache, not wrong.
 *
 * A process may be killed between any two instructions, and another may have its lcore after it, so
 * what the cache holds must never be held elsewhere as well, in the order in which the program
 * says things: a row is written before its length says so, and shortened before anybody
 * hears of what was at its end. Barriers keep the compiler to that; what a processor did up to the
 * kill, it did in this order for whoever comes later. slab_reclaim.c tells what gets lost.
 */

#include "slab_process.h"
#include "slab_types.h"

/*
 * May the lcore use its cache? If not, why: one answer, since a taker may end at any moment. To be
 * followed by slab_lcore_leave_owner() in any case.
 */
static inline uint64_t
slab_lcore_enter_owner(struct slab_lcore *lc)
{
	slab_store_relaxed(&lc->busy, slab_process.self);
	slab_compiler_barrier();
	return slab_load_acquire(&lc->shut);
}

static inline void
slab_lcore_leave_owner(struct slab_lcore *lc)
{
	slab_store_release(&lc->busy, 0);
}

/* Give the lcore its cache, at its first operation: so those that never come cost nothing. */
void
slab_lcore_open_owner(struct slab_pool *pool, struct slab_lcore *lc);

/* A cache for an lcore or a CPU of this number; open counts those that have one. Its holder only. */
void
slab_lcore_give_cache(const struct slab_pool *pool, struct slab_lcore *lc, slab_atomic32 *open,
	uint32_t number);

/*
 * Claim a cache that others use, to become its holder (I2) until "shut" is set again with release; was
 * is what it has been. False if somebody else has claimed it, or is inside. Never waits.
 */
bool
slab_lcore_claim(const struct slab_pool *pool, struct slab_lcore *lc, uint64_t *was);

/* All lcores and CPUs that may have caches by now; and each of them, i is below that. */
static inline uint32_t
slab_lcores_open(const struct slab_pool *pool)
{
	return slab_load_relaxed(&pool->lcores_open) + slab_load_relaxed(&pool->cpus_open);
}

struct slab_lcore *
slab_lcore_open_at(const struct slab_pool *pool, uint32_t i);

/* Some microseconds for what the lcore is at to end: whether it has, or was left by that process. */
bool
slab_lcore_is_left(const struct slab_lcore *lc, uint32_t by);

/* Take as slab_lcore_take() does, from a cache that the caller has claimed. The holder only (I2). */
unsigned int
slab_lcore_take_claimed(struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int wanted);

/* Whether it stands for threads that are no lcores. */
static inline bool
slab_lcore_is_none(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return lc >= slab_no_lcore_at(pool, 0);
}

/* Acquire pairs with release of slab_lcore_give_cache(): what was set before, as the node, is seen. */
static inline bool
slab_lcore_has_cache(const struct slab_lcore *lc)
{
	return slab_load_acquire(&lc->cache) != 0;
}

/* Of an lcore that has a cache. */
static inline struct slab_cache *
slab_lcore_cache(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return slab_at(pool, slab_load_relaxed(&lc->cache));
}

static inline uint64_t *
slab_lcore_offsets(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return slab_lcore_cache(pool, lc)->offsets;
}

/* Its aliens, where the pool has several nodes. */
static inline uint64_t *
slab_lcore_aliens(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return slab_lcore_offsets(pool, lc) + pool->cache;
}

/* Between addresses and offsets. */
static inline __attribute__((always_inline)) void
slab_offsets_load(const struct slab_pool *pool, const uint64_t *offsets, void **objs,
	unsigned int n)
{
	uintptr_t base = slab_base(pool);
	unsigned int i;

	for (i = 0; i < n; i++)
		objs[i] = (void *)(base + (uintptr_t)offsets[i]);
}

/* Returns all offsets, or-ed. */
static inline __attribute__((always_inline)) uint64_t
slab_offsets_store(const struct slab_pool *pool, uint64_t *offsets, void *const *objs,
	unsigned int n)
{
	uintptr_t base = slab_base(pool);
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		offsets[i] = (uintptr_t)objs[i] - base;
		seen |= offsets[i];
	}
	return seen;
}

/* Take n objects that the cache has. The holder only (I2). */
static inline __attribute__((always_inline)) void
slab_lcore_pop_owner(const struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int n)
{
	uint32_t left = slab_load_relaxed(&lc->len) - n;

	slab_offsets_load(pool, slab_lcore_offsets(pool, lc) + left, objs, n);
	slab_store_relaxed(&lc->len, left);
}

/*
 * Put n objects for which the cache has room. The holder only (I2). False if any of them has no
 * code: then nothing was put.
 */
static inline __attribute__((always_inline)) bool
slab_lcore_push_owner(const struct slab_pool *pool, struct slab_lcore *lc, void *const *objs,
	unsigned int n)
{
	uint32_t len = slab_load_relaxed(&lc->len);
	uint64_t seen = slab_offsets_store(pool, slab_lcore_offsets(pool, lc) + len, objs, n);

	if (__builtin_expect((seen & pool->beyond) != 0, 0))
		return false;
	slab_compiler_barrier();
	slab_store_relaxed(&lc->len, len + n);
	return true;
}

/*
 * Take objects from another lcore's cache: as many as are wanted, or half of them if that is more, but
 * at most SLAB_OBJECTS, for which there has to be room; 0 if none could be had. Never waits.
 * Thread-safe.
 */
unsigned int
slab_lcore_take(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int wanted);

/* Take up to max of what the cache has, or of the lcore's own aliens. The holder only (I2). */
unsigned int
slab_lcore_pop_some_owner(const struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int max);
unsigned int
slab_lcore_pop_aliens_owner(const struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int max);

#endif /* SLAB_LCORE_H */
