/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "stop_states.h"

static void
get(struct stop *s)
{
	MUST(slab_get(s->pool, s->lcore, s->objs, s->op->n) == 0);
	s->n = s->op->n;
}

/* Unless others put what it lacks, while it is stopped. */
static void
get_too_many(struct stop *s)
{
	if (slab_get(s->pool, s->lcore, s->objs, s->op->n) == 0)
		s->n = s->op->n;
	MUST(s->n == 0 || s->stopped);
}

static void
put(struct stop *s)
{
	slab_put(s->pool, s->lcore, s->objs, s->n);
	s->n = 0;
}

static void
get_blocks(struct stop *s)
{
	void *first[STOP_MOST / BLOCK];
	uint32_t i;

	if (slab_get_blocks(s->pool, s->lcore, first, s->op->n) != 0)
		return;
	for (i = 0; i < s->op->n * BLOCK; i++)
		s->objs[i] = (char *)first[i / BLOCK] + (size_t)(i % BLOCK) * 64;
	s->n = i;
}

/* Unless others use them while it is stopped. */
static void
blocks(struct stop *s)
{
	get_blocks(s);
	MUST(s->n != 0 || s->stopped);
}

static void
too_many_blocks(struct stop *s)
{
	get_blocks(s);
	MUST(s->n == 0 || s->stopped);
}

static void
count(struct stop *s)
{
	MUST(slab_pool_count(s->pool) <= slab_pool_added(s->pool));
}

static void
look(struct stop *s)
{
	struct slab_stats stats;

	slab_pool_stats(s->pool, s->lcore, &stats);
	MUST(slab_pool_has_blocks(s->pool));
	MUST(slab_pool_fail_run(s->pool, s->lcore) == 0);
}

static void
no_depot(struct stop *s)
{
	MUST(slab_pool_tune(s->pool, SLAB_TUNABLE_DEPOT, 0) == 0);
}

static void
tune_others(struct stop *s)
{
	MUST(slab_pool_tune(s->pool, SLAB_TUNABLE_MIN_PARTIAL, 7) == 0);
	MUST(slab_pool_tune(s->pool, SLAB_TUNABLE_LCORE_PARTIAL, 2) == 0);
}

static void
add_at(struct stop *s, uint32_t first, uint32_t node)
{
	struct slab_range range = { .base = MADE_UP + (size_t)first * 64, .count = s->op->later,
		.node = node };

	MUST(slab_pool_add(s->pool, &range) == s->op->later);
}

static void
add_more(struct stop *s)
{
	add_at(s, s->op->objects, 0);
}

static void
add_apart(struct stop *s)
{
	add_at(s, s->op->objects + 10, 0);
}

static void
add_to_other_node(struct stop *s)
{
	add_at(s, s->op->objects + 10, 1);
}

/*
 * What a stopped thread may have, as the sums below name it:
 *
 *     CACHE, LARGE...  what is in its own cache, if it is an lcore inside an operation, or in a
 *                      CPU's or another lcore's that it has claimed: nobody else takes from there
 *     MAGAZINE, BLOCK  magazines and slabs in its hands
 *     a number         what it is to get or put: until it has put them, they count as lost
 *     PARTIAL          a magazine in its hands with room for what it puts
 *     SHARED           a slab that it has popped and not yet emptied, or put into and not yet
 *                      pushed: what others put there meanwhile they cannot get back
 *
 * The second sum is what stays lost after it was killed and reclaimed: what it had in its hands, as the
 * list in slab_reclaim.c says.
 *
 *     REST             of a magazine or a slab in its hands, besides what it wants of it
 */
#define REST (BLOCK - 1)
#define PARTIAL (MAGAZINE - 1)
#define SHARED (BLOCK - 1)

#define LARGER .magazine = LARGE, .objects = STOP_MOST
#define OWN .lcore_partial = 4, .no_depot = true, .thread_cache = SLAB_THREADS_OFF
#define NODES .nodes = 2
#define NONE .none = true, .thread_cache = SLAB_THREADS_OFF
#define LOCK .none = true, .thread_cache = SLAB_THREADS_LOCK
#define RSEQ .none = true, .thread_cache = SLAB_THREADS_RSEQ

const struct operation stop_operations[] = {
	{ "lcore's first get of 1", fresh, get, 1, BLOCK, 1 + REST },
	{ "lcore gets 1, cached", cached, get, 1, MAGAZINE, 1 },
	{ "lcore gets 32, cached", cached, get, 32, MAGAZINE, 32 },
	{ "lcore gets 300, cached", cached, get, 300, 2 * LARGE, 300, LARGER },
	{ "lcore gets 32, cached, with stats", cached, get, 32, MAGAZINE, 32, .stats = true },
	{ "lcore puts 1 to its cache", room, put, 1, 1, 1 },
	{ "lcore puts 32 to its cache", room, put, 32, 32, 32 },
	{ "lcore puts 300 to its cache", room, put, 300, 300, 300, LARGER },
	{ "lcore gets 1 from depot", all_in_depot, get, 1, MAGAZINE, 1 + REST },
	{ "lcore gets 32 from depot", all_in_depot, get, 32, MAGAZINE, 32 + REST },
	{ "lcore gets 300 from depot", all_in_depot, get, 300, 5 * MAGAZINE, 300 + REST },
	{ "lcore gets 32 from depot, with stats", all_in_depot, get, 32, MAGAZINE, 32 + REST,
		.stats = true },
	{ "lcore puts 1, cache to depot", full, put, 1, CACHE + 1, CACHE + 1 },
	{ "lcore puts 32, cache to depot", full, put, 32, CACHE + 32, CACHE + 32 },
	{ "lcore puts 300, cache to depot", full, put, 300, CACHE + 300, CACHE + 300 },
	{ "lcore gets 1 from slabs", all_in_slabs, get, 1, BLOCK, 1 + REST, .no_depot = true },
	{ "lcore gets 32 from slabs", all_in_slabs, get, 32, BLOCK, 32 + REST, .no_depot = true },
	{ "lcore gets 300 from slabs", all_in_slabs, get, 300, 5 * BLOCK, 300 + REST,
		.no_depot = true },
	{ "lcore puts 1, cache to slabs", full_of_few, put, 1, 32 + 1 + SHARED, 32 + 1 + SHARED,
		.no_depot = true, .magazine = 16 },
	{ "lcore puts 32, cache to slabs", full, put, 32, CACHE + 32 + SHARED,
		CACHE + 32 + SHARED, .no_depot = true },
	{ "lcore puts 300 to slabs", full, put, 300, CACHE + 300 + SHARED, CACHE + 300 + SHARED,
		.no_depot = true },
	{ "lcore gets 1 from its slabs", partial_slabs, get, 1, 4 * BLOCK, 1 + 4 * BLOCK, OWN },
	{ "lcore gets 32 from its slabs", partial_slabs, get, 32, 4 * BLOCK, 32 + 4 * BLOCK, OWN },
	{ "lcore gets 300 from its slabs", partial_slabs, get, 300, 8 * BLOCK, 300 + 4 * BLOCK,
		OWN },
	{ "lcore gets 1 from another's cache", rests_with_lcore, get, 1, CACHE, 1 + REST },
	{ "lcore gets 32 from another's cache", rests_with_lcore, get, 32, CACHE, 32 + REST },
	{ "lcore gets 300 from another's cache", rests_with_lcore, get, 300, 2 * LARGE,
		300 + REST, LARGER },
	{ "lcore gets 32 from another's slabs", rests_in_slabs, get, 32, 3 * BLOCK,
		32 + 4 * BLOCK, OWN },
	{ "lcore gets 32, all with one who is busy", rests_with_busy, get_too_many, 32, CACHE, 0 },
	{ "lcore gets 32 from another process's CPU", rests_with_other, get, 32, CACHE, 32 + REST },
	{ "lcore gets 32 from a CPU, locked", rests_with_cpu, get, 32, CACHE, 32 + REST,
		.thread_cache = SLAB_THREADS_LOCK },
	{ "lcore gets 32 from a CPU, sequences", rests_with_cpu, get, 32, CACHE, 32 + REST },
	{ "lcore that is shut out gets 1", shut_out, get, 1, MAGAZINE + MAGAZINE, 1 + REST },
	{ "lcore that is shut out gets 32", shut_out, get, 32, MAGAZINE + MAGAZINE, 32 + REST },
	{ "lcore that is shut out puts 32", shut_out_room, put, 32, MAGAZINE + 32, 32 + PARTIAL },
	{ "lcore gets 300, too few", too_few, get_too_many, 300, 2 * MAGAZINE + CACHE, 300 },

	{ "lcore puts 32 aliens", aliens_out, put, 32, 32, 32, NODES },
	{ "lcore puts 32 aliens, all go home", aliens_full, put, 32, MAGAZINE + 32, MAGAZINE + 32,
		NODES },
	{ "lcore puts 300 of two nodes", both_out, put, 300, 300, 300 + PARTIAL, NODES },
	{ "lcore gets 32 of its aliens", aliens_at_hand, get, 32, MAGAZINE, 32 + REST, NODES },
	{ "lcore gets 32 of another's aliens", aliens_elsewhere, get, 32, MAGAZINE, 32 + REST,
		NODES },
	{ "lcore gets 32 from other node", other_node, get, 32, MAGAZINE, 32 + REST, NODES },
	{ "lcore gets 300 from other node", other_node, get, 300, 5 * MAGAZINE, 300 + REST, NODES },
	{ "lcore gets 32 from other node's slabs", other_node, get, 32, BLOCK, 32 + REST, NODES,
		.no_depot = true },

	{ "thread gets 1 from depot", all_in_depot, get, 1, MAGAZINE, 1 + REST, NONE },
	{ "thread gets 32 from depot", all_in_depot, get, 32, MAGAZINE, 32 + REST, NONE },
	{ "thread gets 300 from depot", all_in_depot, get, 300, 5 * MAGAZINE, 300 + REST, NONE },
	{ "thread puts 1 to depot", some_out, put, 1, 1 + PARTIAL, 1 + PARTIAL, NONE },
	{ "thread puts 32 to depot", some_out, put, 32, 32 + PARTIAL, 32 + PARTIAL, NONE },
	{ "thread puts 300 to depot", some_out, put, 300, 300 + PARTIAL, 300 + PARTIAL, NONE },
	{ "thread gets 1 from slabs", all_in_slabs, get, 1, BLOCK, 1 + REST, NONE,
		.no_depot = true },
	{ "thread gets 32 from slabs", all_in_slabs, get, 32, BLOCK, 32 + REST, NONE,
		.no_depot = true },
	{ "thread gets 300 from slabs", all_in_slabs, get, 300, 5 * BLOCK, 300 + REST, NONE,
		.no_depot = true },
	{ "thread puts 1 to slabs", slabs_out, put, 1, 1 + SHARED, 1 + SHARED, NONE,
		.no_depot = true },
	{ "thread puts 32 to slabs", slabs_out, put, 32, 32 + SHARED, 32 + SHARED, NONE,
		.no_depot = true },
	{ "thread puts 300 to slabs", slabs_out, put, 300, 300 + SHARED, 300 + SHARED, NONE,
		.no_depot = true },
	{ "thread gets 32 from an lcore", rests_with_lcore, get, 32, CACHE, 32 + REST, NONE },

	{ "locked: first get of 1", all_in_depot, get, 1, MAGAZINE, 1 + REST, LOCK },
	{ "locked: gets 1", cached, get, 1, MAGAZINE, 1, LOCK },
	{ "locked: gets 32", cached, get, 32, MAGAZINE, 32, LOCK },
	{ "locked: gets 300", cached, get, 300, 2 * LARGE, 300, LOCK, LARGER },
	{ "locked: puts 1", room, put, 1, 1, 1, LOCK },
	{ "locked: puts 32", room, put, 32, 32, 32, LOCK },
	{ "locked: puts 300 to depot", room, put, 300, 300, 300, LOCK, LARGER },
	{ "locked: gets 32 from depot", all_in_depot, get, 32, MAGAZINE, 32 + REST, LOCK },
	{ "locked: puts 1, cache to depot", full, put, 1, CACHE + 1, MAGAZINE + 1, LOCK },
	{ "locked: puts 32, cache to depot", full, put, 32, CACHE + 32, MAGAZINE + 32, LOCK },
	{ "locked: puts 1, cache to slabs", full_of_few, put, 1, 32 + 1 + SHARED, 16 + 1 + SHARED,
		LOCK, .no_depot = true, .magazine = 16 },
	{ "locked: gets 32 from slabs", all_in_slabs, get, 32, BLOCK, 32 + REST, LOCK,
		.no_depot = true },
	{ "locked: gets 32 from an lcore", rests_with_lcore, get, 32, CACHE, 32 + REST, LOCK },
	{ "locked: shut out, gets 32", shut_out, get, 32, MAGAZINE + MAGAZINE, 32 + REST, LOCK },
	{ "locked: shut out, puts 32", shut_out_room, put, 32, MAGAZINE + 32, 32 + PARTIAL, LOCK },

	{ "sequences: first get of 1", all_in_depot, get, 1, MAGAZINE, 1 + REST, RSEQ },
	{ "sequences: gets 32", cached, get, 32, 32, 32, RSEQ },
	{ "sequences: puts 32", room, put, 32, 32, 32, RSEQ },
	{ "sequences: gets 32 from depot", all_in_depot, get, 32, MAGAZINE, 32 + REST, RSEQ },
	{ "sequences: puts 32, cache to depot", full, put, 32, MAGAZINE + 32, MAGAZINE + 32, RSEQ },
	{ "sequences: gets 32 from an lcore", rests_with_lcore, get, 32, CACHE, 32 + REST, RSEQ },
	{ "sequences: gets 32, another process's", cached_by_other, get, 32, MAGAZINE, 32 + REST,
		RSEQ },
	{ "sequences: shut out, gets 32", shut_out, get, 32, MAGAZINE + MAGAZINE, 32 + REST, RSEQ },

	{ "2 blocks", fresh, blocks, 2, 2 * BLOCK, 2 * BLOCK },
	{ "1 block, apart", block_apart, blocks, 1, BLOCK, 1 * BLOCK, .magazine = 16,
		.thread_cache = SLAB_THREADS_OFF },
	{ "3 blocks, too few", two_blocks, too_many_blocks, 3, 2 * BLOCK, 3 * BLOCK,
		.no_depot = true, .thread_cache = SLAB_THREADS_OFF },
	{ "count", cached, count, 0, 0, 0 },
	{ "stats, has_blocks, fail_run", cached, look, 0, 0, 0, .stats = true },
	{ "tune depot", two_magazines, no_depot, 0, 16 + SHARED, 16 + SHARED, .magazine = 16,
		.thread_cache = SLAB_THREADS_OFF },
	{ "tune min_partial, lcore_partial", cached, tune_others, 0, 0, 0 },
	{ "add to the last chunk", cached, add_more, 0, 100, 100, .objects = 1000, .later = 100 },
	{ "add a chunk", cached, add_apart, 0, 100, 100, .objects = 1000, .later = 100 },
	{ "add a chunk of another node", all_in_depot, add_to_other_node, 0, 100, 100, NODES,
		.objects = 1000, .later = 100 },
};
const unsigned int nr_stop_operations = sizeof(stop_operations) / sizeof(stop_operations[0]);
