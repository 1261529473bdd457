/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "slab_depot.h"
#include "slab_fast.h"
#include "slab_slab.h"

/*
 * Get and put through the layers. An lcore with a cache works on that; when it is empty (get) or
 * full (put), a magazine's worth comes from the depot or goes there, so that the next few bursts
 * stay in the cache whichever way they go (Bonwick and Adams 2001, section 3.1). Then come the
 * slabs, at last the caches of other lcores. Threads without a cache begin at the depot.
 *
 * What is shared has its orderings elsewhere: lists in slab_list.h, words of slabs in slab_slab.c,
 * the caches of others in slab_lcore.h. All else here touches what the caller holds (I2).
 */

/*
 * Objects to the depot of the lcore's node: returns how many, at least 1, or -1 when there is no
 * room, or no code for one of them. Words as in slab_magazine_push_owner().
 */
static int
put_to_depot(struct slab_pool *pool, struct slab_lcore *lc, const void *words, unsigned int n,
	uintptr_t base)
{
	uint32_t id = slab_depot_get_room(pool, lc->node);
	int k;

	if (id == 0)
		return -1;
	slab_count_owner(pool, &lc->counters.depot_puts, 1);
	k = slab_magazine_push_owner(pool, id, words, n, base);
	slab_depot_park(pool, lc->node, id);
	return k;
}

/* Put objects into their slabs that an lcore's cache held. */
static void
spill(struct slab_pool *pool, const uint64_t *offsets, unsigned int n)
{
	void *objs[SLAB_OBJECTS];
	unsigned int k, i;

	for (; n != 0; offsets += k, n -= k) {
		k = n < SLAB_OBJECTS ? n : SLAB_OBJECTS;
		for (i = 0; i < k; i++)
			objs[i] = (void *)(slab_base(pool) + (uintptr_t)offsets[i]);
		slab_slabs_put(pool, objs, k);
	}
}

/* The coldest of a full cache leave it: a magazine's worth, or less if that fills one. */
static void
make_room(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint64_t *offsets = slab_lcore_offsets(pool, lc);
	int k = put_to_depot(pool, lc, offsets, pool->magazine, 0);

	if (k < 0) {
		k = (int)pool->magazine;
		slab_count_owner(pool, &lc->counters.slab_puts, 1);
		spill(pool, offsets, pool->magazine);
	}
	memmove(offsets, offsets + k, (pool->cache - (unsigned int)k) * sizeof(*offsets));
	slab_store_relaxed(&lc->len, pool->cache - (uint32_t)k);
}

/* Returns how many, at least 1, or -1 if one of those that there is room for has no code. */
static int
put_to_cache(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	uint32_t room = pool->cache - slab_load_relaxed(&lc->len);

	if (room == 0) {
		make_room(pool, lc);
		room = pool->cache - slab_load_relaxed(&lc->len);
	}
	n = n < room ? n : room;
	return slab_lcore_push_owner(pool, lc, objs, n) ? (int)n : -1;
}

/* A magazine's worth goes past the cache. What finds no place in a magazine goes to its slabs. */
static __attribute__((noinline)) void
put_slow(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	int k;

	for (; n != 0; objs += k, n -= (unsigned int)k) {
		k = slab_lcore_has_cache(lc) && n < pool->magazine ? put_to_cache(pool, lc, objs, n) :
			put_to_depot(pool, lc, objs, n, slab_base(pool));
		if (k < 0) {
			slab_count_owner(pool, &lc->counters.slab_puts, 1);
			slab_slabs_put(pool, objs, n);
			return;
		}
	}
}

static unsigned int
get_from_cache(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	uint32_t len = slab_load_relaxed(&lc->len);
	unsigned int n = max < len ? max : len;

	if (n != 0)
		slab_lcore_pop_owner(pool, lc, objs, n);
	return n;
}

/*
 * A magazine that has more than what is wanted goes into the cache, if there is one: it is empty,
 * or else nobody would ask the depot. A second step takes the objects from there.
 */
static unsigned int
get_from_depot(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void **objs,
	unsigned int max)
{
	bool through_cache = slab_lcore_has_cache(lc) && max < pool->magazine;
	uint32_t id = slab_depot_get_objects(pool, node);
	unsigned int n;

	if (id == 0)
		return 0;
	slab_count_owner(pool, &lc->counters.depot_gets, 1);
	if (through_cache)
		slab_store_relaxed(&lc->len, slab_magazine_pop_owner(pool, id,
			slab_lcore_offsets(pool, lc), pool->magazine, 0));
	else
		n = slab_magazine_pop_owner(pool, id, objs, max, slab_base(pool));
	slab_depot_park(pool, node, id);
	return through_cache ? get_from_cache(pool, lc, objs, max) : n;
}

/* Some of the k objects at hand are what was asked for; the cache or the depot gets the rest. */
static unsigned int
share_out(struct slab_pool *pool, struct slab_lcore *lc, void *const *at_hand, unsigned int k,
	void **objs, unsigned int max)
{
	unsigned int n = k < max ? k : max, i;

	for (i = 0; i < n; i++)
		objs[i] = at_hand[i];
	put_slow(pool, lc, at_hand + n, k - n);
	return n;
}

static unsigned int
get_from_slabs(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, uint32_t floor,
	void **objs, unsigned int max)
{
	void *slab[SLAB_OBJECTS];
	unsigned int k = slab_slabs_get(pool, node, floor, slab, SLAB_OBJECTS);

	slab_count_owner(pool, &lc->counters.slab_gets, k != 0);
	return share_out(pool, lc, slab, k, objs, max);
}

static unsigned int
get_from_node(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, uint32_t floor,
	void **objs, unsigned int max)
{
	unsigned int n = get_from_depot(pool, lc, node, objs, max);

	return n != 0 ? n : get_from_slabs(pool, lc, node, floor, objs, max);
}

/* Other nodes keep min_partial slabs for themselves at first; the second time they give all. */
static unsigned int
get_from_others(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	uint32_t i, node, floor;
	unsigned int n;

	for (i = 1; i < 2 * pool->nodes; i++) {
		node = (lc->node + i) % pool->nodes;
		floor = i < pool->nodes ?
			slab_load_relaxed(&slab_node_at(pool, node)->min_partial) : 0;
		n = get_from_node(pool, lc, node, floor, objs, max);
		if (n != 0)
			return n;
	}
	return 0;
}

/* One take moves a slab's worth at most, so that lcores that starve do not rob each other. */
static unsigned int
get_from_lcores(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	uint32_t open = slab_load_relaxed(&pool->lcores_open), i;
	void *taken[SLAB_OBJECTS];
	struct slab_lcore *other;
	unsigned int k = 0;

	for (i = 0; k == 0 && i < open; i++) {
		other = slab_lcore_at(pool, i);
		if (other != lc)
			k = slab_lcore_take(pool, other, taken, SLAB_OBJECTS);
	}
	slab_count_owner(pool, &lc->counters.takes, k != 0);
	return share_out(pool, lc, taken, k, objs, max);
}

/* Some objects from the nearest place that has any; 0 when no place has. */
static unsigned int
get_nearest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	unsigned int n = get_from_cache(pool, lc, objs, max);

	if (n == 0)
		n = get_from_node(pool, lc, lc->node, 0, objs, max);
	if (n == 0)
		n = get_from_others(pool, lc, objs, max);
	return n != 0 ? n : get_from_lcores(pool, lc, objs, max);
}

/* Objects that others move from one place to another can be missed once. */
static unsigned int
get_some(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	unsigned int n = get_nearest(pool, lc, objs, max);
	int rounds;

	for (rounds = 1; n == 0 && rounds < SLAB_GET_ROUNDS; rounds++) {
		slab_pause();
		n = get_nearest(pool, lc, objs, max);
	}
	return n;
}

/* All n objects, or none. */
static __attribute__((noinline)) bool
get_slow(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n)
{
	unsigned int have, k;

	for (have = 0; have < n; have += k) {
		k = get_some(pool, lc, objs + have, n - have);
		if (k == 0) {
			put_slow(pool, lc, objs, have);
			return false;
		}
	}
	return true;
}

static void
count_fail(struct slab_pool *pool, struct slab_lcore *lc)
{
	slab_store_relaxed(&lc->fail_run, slab_load_relaxed(&lc->fail_run) + 1);
	slab_count_owner(pool, &lc->counters.get_fails, 1);
}

/*
 * As whom the lcore does this operation: shut out by a taker, as threads that are no lcores. The
 * claim is looked at anew; that it was there a moment ago says nothing (slab_lcore.h).
 */
static __attribute__((noinline)) struct slab_lcore *
lcore_slow(struct slab_pool *pool, struct slab_lcore *lc)
{
	struct slab_lcore *none = slab_lcore_at(pool, SLAB_NO_LCORE);
	enum slab_shut shut = slab_lcore_enter_owner(lc);

	if (shut == SLAB_SHUT_TAKEN) {
		slab_lcore_leave_owner(lc);
		return none;
	}
	if (shut == SLAB_SHUT_NEW && pool->caches_id != 0 && lc != none)
		slab_lcore_open_owner(pool, lc);
	return lc;
}

int
slab_get_rest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n)
{
	struct slab_lcore *as = lcore_slow(pool, lc);
	bool done = get_slow(pool, as, objs, n);

	if (done)
		slab_count_get_owner(pool, as, n);
	else
		count_fail(pool, as);
	slab_lcore_leave_owner(lc);
	return done ? 0 : -ENOBUFS;
}

int
slab_put_rest(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	struct slab_lcore *as = lcore_slow(pool, lc);

	put_slow(pool, as, objs, n);
	slab_count_put_owner(pool, as, n);
	slab_lcore_leave_owner(lc);
	return 0;
}

int
slab_get(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	return slab_simd.get(pool, slab_lcore_at(pool, lcore), objs, n);
}

int
slab_put(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	return slab_simd.put(pool, slab_lcore_at(pool, lcore), objs, n);
}
