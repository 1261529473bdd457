/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counts what a pattern does to a pool: which calls went past the lcore's cache to the driver,
 * and which objects were got. For the first, this stands in the driver's place in the table of
 * drivers as long as the counting lasts.
 */

#include <stdlib.h>

#include <rte_per_lcore.h>

#include "bench.h"

/* Also of threads that are no lcores. */
static RTE_DEFINE_PER_LCORE(uint64_t, calls);

static rte_mempool_enqueue_t real_put;
static rte_mempool_dequeue_t real_get;
static const struct bench_arena *arena;
static uint8_t *seen;	/* lcores may write one at once: all write the same */

static int
noted_put(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	RTE_PER_LCORE(calls)++;
	return real_put(mp, objs, n);
}

static int
noted_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	RTE_PER_LCORE(calls)++;
	return real_get(mp, objs, n);
}

int
bench_counted_get(struct bench_worker *w, void **objs, unsigned int n)
{
	uint64_t before = RTE_PER_LCORE(calls);
	int ret = w->mp != NULL ? rte_mempool_get_bulk(w->mp, objs, n) :
		w->array->get(w->array, objs, n);

	if (ret < 0)
		return ret;
	w->bulks++;
	w->left_cache += RTE_PER_LCORE(calls) != before;
	for (unsigned int i = 0; i < n; i++)
		__atomic_store_n(&seen[((uintptr_t)objs[i] - arena->base) / arena->stride], 1,
			__ATOMIC_RELAXED);
	return ret;
}

void
bench_counted_put(struct bench_worker *w, void *const *objs, unsigned int n)
{
	uint64_t before = RTE_PER_LCORE(calls);

	if (w->mp != NULL)
		rte_mempool_put_bulk(w->mp, objs, n);
	else
		w->array->put(w->array, objs, n);
	w->bulks++;
	w->left_cache += RTE_PER_LCORE(calls) != before;
}

int
bench_count_begin(const struct bench_pool *pool)
{
	struct rte_mempool_ops *ops;

	arena = pool->arena;
	seen = calloc(arena->slots, 1);
	if (seen == NULL)
		return bench_error("no memory to mark %zu objects", arena->slots);
	if (pool->mp == NULL)
		return 0;
	ops = &rte_mempool_ops_table.ops[pool->mp->ops_index];
	real_put = ops->enqueue;
	real_get = ops->dequeue;
	ops->enqueue = noted_put;
	ops->dequeue = noted_get;
	return 0;
}

unsigned int
bench_count_end(const struct bench_pool *pool)
{
	unsigned int distinct = 0;

	for (size_t i = 0; i < arena->slots; i++)
		distinct += seen[i];
	free(seen);
	if (pool->mp != NULL) {
		rte_mempool_ops_table.ops[pool->mp->ops_index].enqueue = real_put;
		rte_mempool_ops_table.ops[pool->mp->ops_index].dequeue = real_get;
	}
	return distinct;
}
