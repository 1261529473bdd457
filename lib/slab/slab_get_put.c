/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "slab_cpu.h"
#include "slab_depot.h"
#include "slab_fast.h"
#include "slab_node.h"
#include "slab_process.h"
#include "slab_slab.h"

/*
 * Get and put through the layers. An lcore with a cache works on that; when it is empty (get) or
 * full (put), a magazine's worth comes from the depot or goes there, so that the next few bursts
 * stay in the cache whichever way they go (Bonwick and Adams 2001, section 3.1). Then come the
 * slabs, at last the caches of others. Threads that are no lcores have the caches of CPUs, and for
 * them "lc" is one of slab_cpu_here(): it names the node and has the counters, but nobody holds what
 * is in it. Threads without any cache begin at the depot.
 *
 * What is shared has its orderings elsewhere: lists in slab_list.h, words of slabs in slab_slab.c,
 * the caches of others in slab_lcore.h. All else here touches what the caller holds (I2).
 */

/* Objects that are sorted by node at a time, or moved from or to a CPU's cache. */
#define SORTED 256

/* The caller is an lcore with a cache, and its holder (I2). */
static bool
holds_cache(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return !slab_lcore_is_none(pool, lc) && slab_lcore_has_cache(lc);
}

/* The caller is no lcore, and CPUs have caches. */
static bool
has_cpu_cache(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return pool->cpus != 0 && slab_lcore_is_none(pool, lc);
}

/*
 * Objects to the depot of a node: returns how many, at least 1, or -1 when there is no room, or no
 * code for one of them. Words as in slab_magazine_push_owner().
 */
static int
put_to_depot(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, const void *words,
	unsigned int n, uintptr_t base)
{
	uint32_t id = slab_depot_get_room(pool, node);
	int k;

	if (id == 0)
		return -1;
	slab_count_owner(pool, &lc->counters.depot_puts, 1);
	k = slab_magazine_push_owner(pool, id, words, n, base);
	slab_depot_park(pool, node, id);
	return k;
}

/* Put objects into their slabs that an lcore's cache held. */
static void
spill(struct slab_pool *pool, const uint64_t *offsets, unsigned int n)
{
	void *objs[SLAB_OBJECTS];
	unsigned int k;

	for (; n != 0; offsets += k, n -= k) {
		k = n < SLAB_OBJECTS ? n : SLAB_OBJECTS;
		slab_offsets_load(pool, offsets, objs, k);
		slab_slabs_put(pool, objs, k);
	}
}

/*
 * The coldest of a full cache leave it: a magazine's worth, or less if that fills one. Meanwhile, to
 * who comes after a kill, the cache has nothing.
 */
static void
make_room(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint64_t *offsets = slab_lcore_offsets(pool, lc);
	int k;

	slab_store_relaxed(&lc->len, 0);
	slab_compiler_barrier();
	k = put_to_depot(pool, lc, lc->node, offsets, pool->magazine, 0);
	if (k < 0) {
		k = (int)pool->magazine;
		slab_count_owner(pool, &lc->counters.slab_puts, 1);
		spill(pool, offsets, pool->magazine);
	}
	memmove(offsets, offsets + k, (pool->cache - (unsigned int)k) * sizeof(*offsets));
	slab_compiler_barrier();
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

/* Objects to the depot or, as the last resort, to their slabs; returns how many, at least 1. */
static unsigned int
put_beside_cache(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void *const *objs,
	unsigned int n)
{
	int k = put_to_depot(pool, lc, node, objs, n, slab_base(pool));

	if (k >= 0)
		return (unsigned int)k;
	slab_count_owner(pool, &lc->counters.slab_puts, 1);
	slab_slabs_put(pool, objs, n);
	return n;
}

/* A magazine's worth leaves the cache of this CPU, the last put: only those can go by one step. */
static void
make_room_of_cpu(struct slab_pool *pool, struct slab_lcore *lc)
{
	unsigned int n = pool->magazine < SORTED ? pool->magazine : SORTED, i, k;
	void *objs[SORTED];

	n = slab_cpu_pop(pool, objs, n);
	for (i = 0; i < n; i += k)
		k = put_beside_cache(pool, lc, lc->node, objs + i, n - i);
}

static bool
put_to_cpu(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	if (slab_cpu_push(pool, objs, n))
		return true;
	make_room_of_cpu(pool, lc);
	return slab_cpu_push(pool, objs, n);
}

/* The cache takes objects of its own node, but a magazine's worth goes past it. */
static unsigned int
put_some(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void *const *objs,
	unsigned int n)
{
	bool near = node == lc->node && n < pool->magazine;
	int k = near && holds_cache(pool, lc) ? put_to_cache(pool, lc, objs, n) : -1;

	if (k >= 0)
		return (unsigned int)k;
	if (near && has_cpu_cache(pool, lc) && put_to_cpu(pool, lc, objs, n))
		return n;
	return put_beside_cache(pool, lc, node, objs, n);
}

/* Objects of one node. */
static void
put_to_node(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void *const *objs,
	unsigned int n)
{
	unsigned int k;

	slab_count_owner(pool, &lc->counters.node_puts, node != lc->node);
	for (; n != 0; objs += k, n -= k)
		k = put_some(pool, lc, node, objs, n);
}

/* Aliens of one node stay with the lcore until it has a magazine of them. */
static void
keep_aliens(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	uint32_t aliens = slab_load_relaxed(&lc->aliens);

	slab_offsets_store(pool, slab_lcore_aliens(pool, lc) + aliens, objs, n);
	slab_compiler_barrier();
	slab_store_relaxed(&lc->aliens, aliens + n);
}

static void
put_same(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void *const *objs,
	unsigned int n, bool keep)
{
	if (keep && node != lc->node && n <= pool->magazine - slab_load_relaxed(&lc->aliens))
		keep_aliens(pool, lc, objs, n);
	else
		put_to_node(pool, lc, node, objs, n);
}

/* Objects of any node; at most SORTED of them. */
static void
put_sorted(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n,
	bool keep)
{
	void *same[SORTED];
	uint8_t nodes[SORTED];
	unsigned int i, k;
	uint32_t found = 0, node;

	for (i = 0; i < n; i++) {
		nodes[i] = (uint8_t)slab_node_of(pool, objs[i], lc->node);
		found |= UINT32_C(1) << nodes[i];
	}
	if ((found & (found - 1)) == 0) {
		put_same(pool, lc, nodes[0], objs, n, keep);
		return;
	}
	for (; found != 0; found &= found - 1) {
		node = (uint32_t)__builtin_ctz(found);
		for (i = k = 0; i < n; i++)
			if (nodes[i] == node)
				same[k++] = objs[i];
		put_same(pool, lc, node, same, k, keep);
	}
}

/* All aliens of the lcore go home. */
static void
send_home(struct slab_pool *pool, struct slab_lcore *lc)
{
	void *objs[SORTED];
	unsigned int n;

	while ((n = slab_lcore_pop_aliens_owner(pool, lc, objs, SORTED)) != 0)
		put_sorted(pool, lc, objs, n, false);
}

static __attribute__((noinline)) void
put_slow(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n)
{
	bool keep = holds_cache(pool, lc);
	unsigned int k;

	if (pool->nodes == 1) {
		put_to_node(pool, lc, 0, objs, n);
		return;
	}
	for (; n != 0; objs += k, n -= k) {
		k = n < SORTED ? n : SORTED;
		if (slab_load_relaxed(&lc->aliens) + k > pool->magazine)
			send_home(pool, lc);
		put_sorted(pool, lc, objs, k, keep);
	}
}

/* Some of the k objects at hand are what was asked for; a cache or the depot gets the rest. */
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

/*
 * All of a magazine to the cache of the lcore: that is empty, or else nobody would ask the depot. A
 * second step takes the objects from there.
 */
static unsigned int
get_through_cache(struct slab_pool *pool, struct slab_lcore *lc, uint32_t id, void **objs,
	unsigned int max)
{
	slab_store_relaxed(&lc->len, slab_magazine_pop_owner(pool, id,
		slab_lcore_offsets(pool, lc), pool->magazine, 0));
	slab_depot_park(pool, lc->node, id);
	return slab_lcore_pop_some_owner(pool, lc, objs, max);
}

/* As much of it as may lie in between to the cache of this CPU. */
static unsigned int
get_through_cpu(struct slab_pool *pool, struct slab_lcore *lc, uint32_t id, void **objs,
	unsigned int max)
{
	void *at_hand[SORTED];
	unsigned int k = slab_magazine_pop_owner(pool, id, at_hand, SORTED, slab_base(pool));

	slab_depot_park(pool, lc->node, id);
	return share_out(pool, lc, at_hand, k, objs, max);
}

/* A magazine of the caller's own node with more than what is wanted goes to his cache. */
static unsigned int
get_from_depot(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void **objs,
	unsigned int max)
{
	uint32_t id = slab_depot_get_objects(pool, node);
	bool near = node == lc->node && max < pool->magazine;
	unsigned int n;

	if (id == 0)
		return 0;
	slab_count_owner(pool, &lc->counters.depot_gets, 1);
	if (near && holds_cache(pool, lc))
		return get_through_cache(pool, lc, id, objs, max);
	if (near && max < SORTED && has_cpu_cache(pool, lc))
		return get_through_cpu(pool, lc, id, objs, max);
	n = slab_magazine_pop_owner(pool, id, objs, max, slab_base(pool));
	slab_depot_park(pool, node, id);
	return n;
}

/* A slab out of a few that the lcore took from its node at once; 0 if it is to have none. */
static unsigned int
get_own_slab(struct slab_pool *pool, struct slab_lcore *lc, void **objs)
{
	struct slab_cache *own = slab_lcore_cache(pool, lc);
	uint32_t max = slab_load_relaxed(&pool->lcore_partial);

	if (max != 0 && slab_load_relaxed(&own->slabs) == 0)
		slab_slabs_take(pool, lc->node, own, max);
	return slab_slabs_get_own(pool, own, objs);
}

static unsigned int
get_from_slabs(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void **objs,
	unsigned int max)
{
	void *slab[SLAB_OBJECTS];
	unsigned int k = 0;

	if (node == lc->node && holds_cache(pool, lc))
		k = get_own_slab(pool, lc, slab);
	if (k == 0)
		k = slab_slabs_get(pool, node, slab);
	slab_count_owner(pool, &lc->counters.slab_gets, k != 0);
	return share_out(pool, lc, slab, k, objs, max);
}

static unsigned int
get_from_node(struct slab_pool *pool, struct slab_lcore *lc, uint32_t node, void **objs,
	unsigned int max)
{
	unsigned int n = get_from_depot(pool, lc, node, objs, max);

	return n != 0 ? n : get_from_slabs(pool, lc, node, objs, max);
}

/* Racy counts, only a preference; a partial slab counts as a whole one. */
static bool
can_spare(const struct slab_pool *pool, uint32_t node)
{
	const struct slab_node *there = slab_node_at(pool, node);
	uint64_t free = (uint64_t)slab_load_relaxed(&there->nr_partial) * SLAB_OBJECTS +
		(uint64_t)slab_load_relaxed(&there->nr_full) * pool->magazine;

	return free > (uint64_t)slab_load_relaxed(&pool->min_partial) * SLAB_OBJECTS;
}

/* Aliens at hand; then what other nodes can spare; then what they keep for their own lcores. */
static unsigned int
get_from_others(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	unsigned int n = slab_lcore_pop_aliens_owner(pool, lc, objs, max);
	uint32_t i, node;

	for (i = 1; n == 0 && i < 2 * pool->nodes; i++) {
		node = (lc->node + i) % pool->nodes;
		if (node != lc->node && (i > pool->nodes || can_spare(pool, node)))
			n = get_from_node(pool, lc, node, objs, max);
	}
	slab_count_owner(pool, &lc->counters.node_gets, n != 0);
	return n;
}

/*
 * The cache with the most in it, by a glance. Those who starve have little, so that they go to one that
 * rests rather than rob each other.
 */
static uint32_t
fullest(const struct slab_pool *pool, uint32_t open)
{
	uint32_t i, len, most = 0, found = 0;

	for (i = 0; i < open; i++) {
		len = slab_load_relaxed(&slab_lcore_open_at(pool, i)->len);
		if (len > most) {
			most = len;
			found = i;
		}
	}
	return found;
}

/*
 * One take moves a slab's worth at most. The cache that a thread had a moment ago is one among the
 * others now: it may be on another CPU.
 */
static unsigned int
get_from_lcores(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	uint32_t open = slab_lcores_open(pool), first = fullest(pool, open), i;
	void *taken[SLAB_OBJECTS];
	struct slab_lcore *other;
	unsigned int k = 0;

	for (i = 0; k == 0 && i < open; i++) {
		other = slab_lcore_open_at(pool, (first + i) % open);
		if (other != lc || slab_lcore_is_none(pool, lc))
			k = slab_lcore_take(pool, other, taken, max);
	}
	slab_count_owner(pool, &lc->counters.takes, k != 0);
	return share_out(pool, lc, taken, k, objs, max);
}

static unsigned int
get_from_cache(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	return slab_lcore_is_none(pool, lc) ? slab_cpu_pop(pool, objs, max) :
		slab_lcore_pop_some_owner(pool, lc, objs, max);
}

/* Some objects from the nearest place that has any; 0 when no place has. */
static unsigned int
get_nearest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	unsigned int n = get_from_cache(pool, lc, objs, max);

	if (n == 0)
		n = get_from_node(pool, lc, lc->node, objs, max);
	if (n == 0 && pool->nodes > 1)
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

/*
 * All n objects, of which the first are there already, or none: then those that were found go to their
 * slabs, where others that starve find them without a take.
 */
static __attribute__((noinline)) bool
get_slow(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int have,
	unsigned int n)
{
	unsigned int k;

	for (; have < n; have += k) {
		k = get_some(pool, lc, objs + have, n - have);
		if (k == 0) {
			slab_slabs_put(pool, objs, have);
			return false;
		}
	}
	return true;
}

/* Where gets that fail one after the other are counted: threads that are no lcores do not stay. */
static slab_atomic32 *
fail_run(struct slab_pool *pool, struct slab_lcore *lc)
{
	return slab_lcore_is_none(pool, lc) ? &slab_no_lcore_at(pool, 0)->fail_run : &lc->fail_run;
}

static void
count_fail(struct slab_pool *pool, struct slab_lcore *lc)
{
	slab_atomic32 *run = fail_run(pool, lc);
	uint32_t fails = slab_load_relaxed(run);

	slab_store_relaxed(run, fails + (fails != UINT32_MAX));
	slab_count_owner(pool, &lc->counters.get_fails, 1);
}

/* The first of the n objects are there already. */
static int
get_as(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int have, unsigned int n)
{
	if (!get_slow(pool, lc, objs, have, n)) {
		count_fail(pool, lc);
		return -ENOBUFS;
	}
	slab_store_relaxed(fail_run(pool, lc), 0);
	slab_count_get_owner(pool, lc, n);
	return 0;
}

/*
 * As whom the lcore does this operation: shut out by a taker, as threads that are no lcores. The
 * claim is looked at anew; that it was there a moment ago says nothing (slab_lcore.h).
 */
static __attribute__((noinline)) struct slab_lcore *
lcore_slow(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint64_t shut = slab_lcore_enter_owner(lc);

	if (lc->node == SLAB_NODE_HERE)
		lc->node = slab_node_here(pool);
	if (slab_shut_is_taken(shut)) {
		slab_lcore_leave_owner(lc);
		return slab_no_lcore_at(pool, lc->node);
	}
	if (shut == SLAB_SHUT_NEW && pool->lcore_caches && slab_process.fences)
		slab_lcore_open_owner(pool, lc);
	return lc;
}

int
slab_get_rest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n)
{
	int ret = get_as(pool, lcore_slow(pool, lc), objs, 0, n);

	slab_lcore_leave_owner(lc);
	return ret;
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
slab_get_thread_rest(struct slab_pool *pool, void **objs, unsigned int have, unsigned int n)
{
	return get_as(pool, slab_cpu_here(pool), objs, have, n);
}

int
slab_put_thread_rest(struct slab_pool *pool, void *const *objs, unsigned int n)
{
	struct slab_lcore *as = slab_cpu_here(pool);

	put_slow(pool, as, objs, n);
	slab_count_put_owner(pool, as, n);
	return 0;
}

int
slab_get(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	return slab_get_fast(pool, lcore, objs, n);
}

int
slab_put(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	return slab_put_fast(pool, lcore, objs, n);
}
