/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef STOP_STATES_H
#define STOP_STATES_H

/* The states of a pool in which operations begin, made by the thread that is to stop. */

#include "slab_lcore.h"
#include "slab_process.h"
#include "stop.h"

/* Objects in a magazine, in an lcore's or a CPU's cache, and in a larger magazine. */
#define MAGAZINE 64
#define CACHE (2 * MAGAZINE)
#define LARGE 256
#define BLOCK SLAB_OBJECTS

/* To and from those that are kept for now, last in, first out. */

static void
take(struct stop *s, uint32_t lcore, uint32_t n)
{
	MUST(slab_get(s->pool, lcore, s->kept + s->nr_kept, n) == 0);
	s->nr_kept += n;
}

static void
give(struct stop *s, uint32_t lcore, uint32_t n, uint32_t burst)
{
	uint32_t k;

	for (; n != 0; n -= k) {
		k = n < burst ? n : burst;
		s->nr_kept -= k;
		slab_put(s->pool, lcore, s->kept + s->nr_kept, k);
	}
}

/* The last of them are those that the operation puts. */
static void
hand_over(struct stop *s)
{
	s->n = s->op->n;
	s->nr_kept -= s->n;
	memcpy(s->objs, s->kept + s->nr_kept, s->n * sizeof(*s->objs));
}

/* All of them in the order of their addresses. */
static void
take_all(struct stop *s)
{
	take(s, LOOKER, slab_pool_added(s->pool));
	qsort(s->kept, s->nr_kept, sizeof(*s->kept), by_address);
}

/* States. Where whole magazines are moved, they go past the caches. */

static void
fresh(struct stop *s)
{
	(void)s;
}

static void
all_in_depot(struct stop *s)
{
	uint32_t n = slab_pool_added(s->pool);

	take(s, LOOKER, n);
	give(s, LOOKER, n, n);
}

/* But for a few, so that the thread has been there. */
static void
all_in_slabs(struct stop *s)
{
	take(s, s->lcore, MAGAZINE);
}

static void
cached_by(struct stop *s, uint32_t lcore, uint32_t n)
{
	take(s, lcore, n);
	give(s, lcore, n, 32);
}

/* Enough for a get. */
static void
cached(struct stop *s)
{
	all_in_depot(s);
	cached_by(s, s->lcore, s->op->n > MAGAZINE ? 2 * LARGE : MAGAZINE);
}

/* Room for a put. */
static void
room(struct stop *s)
{
	all_in_depot(s);
	take(s, s->lcore, s->op->n > MAGAZINE ? 2 * LARGE : MAGAZINE);
	hand_over(s);
}

/* No room for one. */
static void
full(struct stop *s)
{
	if (!s->op->no_depot)
		all_in_depot(s);
	take(s, s->lcore, CACHE + (s->op->n / MAGAZINE + 1) * MAGAZINE);
	give(s, s->lcore, CACHE, 32);
	hand_over(s);
}

/* The same where magazines are small, so that few go to slabs. */
static void
full_of_few(struct stop *s)
{
	take(s, s->lcore, MAGAZINE);
	give(s, s->lcore, 2 * s->op->magazine, 8);
	hand_over(s);
}

/* Without caches: one magazine in the depot is partial. */
static void
some_out(struct stop *s)
{
	all_in_depot(s);
	take(s, s->lcore, s->op->n + 1);
	hand_over(s);
}

/* Whole slabs are out; others have the rest of them. */
static void
slabs_out(struct stop *s)
{
	take(s, s->lcore, (s->op->n / BLOCK + 1) * BLOCK);
	hand_over(s);
}

/* One object of each slab is kept. */
static void
partial_slabs(struct stop *s)
{
	uint32_t i;

	take_all(s);
	for (i = 0; i < s->nr_kept; i += BLOCK)
		slab_put(s->pool, SLAB_NO_LCORE, s->kept + i + 1, BLOCK - 1);
	s->nr_kept /= BLOCK;
	for (i = 0; i < s->nr_kept; i++)
		s->kept[i] = s->kept[i * BLOCK];
}

/* All else is kept. */
static void
rests_with(struct stop *s, uint32_t lcore, uint32_t n)
{
	all_in_depot(s);
	cached_by(s, lcore, n);
	take(s, LOOKER, slab_pool_added(s->pool) - n);
}

static void
rests_with_lcore(struct stop *s)
{
	rests_with(s, WORKER, s->op->n > MAGAZINE ? 2 * LARGE : CACHE);
}

static void
rests_with_cpu(struct stop *s)
{
	rests_with(s, SLAB_NO_LCORE, CACHE);
}

/* It stands in the middle of an operation. */
static void
rests_with_busy(struct stop *s)
{
	rests_with(s, WORKER, CACHE);
	s->busy = slab_lcore_at(s->pool, WORKER);
	slab_store_release(&s->busy->busy, slab_process.self);
}

/* The cache of this CPU is one that sequences of another process may use. */
static void
leave_to_other_process(struct stop *s)
{
	slab_store_release(&slab_cpu_at(s->pool, (uint32_t)sched_getcpu())->shut,
		slab_process.key ^ 1);
}

static void
cached_by_other(struct stop *s)
{
	cached(s);
	leave_to_other_process(s);
}

static void
rests_with_other(struct stop *s)
{
	rests_with_cpu(s);
	leave_to_other_process(s);
}

/* The lcore has taken four slabs and emptied one. */
static void
rests_in_slabs(struct stop *s)
{
	partial_slabs(s);
	take(s, WORKER, BLOCK - 1);
	take(s, LOOKER, slab_pool_added(s->pool) - s->nr_kept - 3 * (BLOCK - 1));
}

/* A taker has died with the cache. */
static void
shut_out(struct stop *s)
{
	cached(s);
	s->claimed = s->op->none ? slab_cpu_at(s->pool, (uint32_t)sched_getcpu()) :
		slab_lcore_at(s->pool, s->lcore);
	MUST(slab_lcore_claim(s->pool, s->claimed, &s->claimed_was));
}

static void
shut_out_room(struct stop *s)
{
	shut_out(s);
	take(s, LOOKER, MAGAZINE);
	hand_over(s);
}

/* Four magazines of objects for a get that wants more. */
static void
too_few(struct stop *s)
{
	all_in_depot(s);
	take(s, WORKER, slab_pool_added(s->pool) - 4 * MAGAZINE);
	cached_by(s, s->lcore, MAGAZINE);
}

/* Objects of the other node, which is WORKER's. */

static void
aliens_out(struct stop *s)
{
	all_in_depot(s);
	take(s, WORKER, MAGAZINE);
	hand_over(s);
}

static void
aliens_full(struct stop *s)
{
	all_in_depot(s);
	take(s, WORKER, 2 * MAGAZINE);
	give(s, s->lcore, MAGAZINE, 32);
	hand_over(s);
}

static void
both_out(struct stop *s)
{
	all_in_depot(s);
	take(s, s->lcore, 3 * MAGAZINE);
	take(s, WORKER, 2 * MAGAZINE);
	hand_over(s);
}

/* The lcore's own node has nothing. */
static void
aliens_of(struct stop *s, uint32_t lcore)
{
	all_in_depot(s);
	take(s, WORKER, MAGAZINE);
	give(s, lcore, MAGAZINE, 32);
	take(s, WORKER_2, slab_pool_added(s->pool) / 2);
}

static void
aliens_at_hand(struct stop *s)
{
	aliens_of(s, s->lcore);
}

static void
aliens_elsewhere(struct stop *s)
{
	aliens_of(s, WORKER_2);
	take(s, WORKER, slab_pool_added(s->pool) / 2 - MAGAZINE);
}

static void
other_node(struct stop *s)
{
	if (!s->op->no_depot)
		all_in_depot(s);
	take(s, WORKER_2, slab_pool_added(s->pool) / 2);
}

/* All that is free is one slab, half of it in the depot, half in an lcore's cache. */
static void
block_apart(struct stop *s)
{
	take_all(s);
	give(s, SLAB_NO_LCORE, BLOCK / 2, BLOCK / 2);
	give(s, WORKER, BLOCK / 2, 8);
}

static void
two_blocks(struct stop *s)
{
	take_all(s);
	give(s, SLAB_NO_LCORE, 2 * BLOCK, 2 * BLOCK);
}

static void
two_magazines(struct stop *s)
{
	take_all(s);
	give(s, SLAB_NO_LCORE, 2 * s->op->magazine, 2 * s->op->magazine);
}

#endif /* STOP_STATES_H */
