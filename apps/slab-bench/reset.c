/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pool as it was: everything out, wherever it rests, and back in a fixed order. What came out
 * is compared with what the pool was made of.
 */

#include <rte_lcore.h>
#include <rte_string_fns.h>

#include "bench.h"

#define BURST 64
/* Bytes of one of bucket's buckets. */
#define BUCKET 65536

struct found {
	unsigned int objects;
	uintptr_t sum;
};

/* All lcores are at rest, so their caches may be touched from here. */
static void
flush_caches(struct rte_mempool *mp)
{
	struct rte_mempool_cache *cache;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore) {
		cache = rte_mempool_default_cache(mp, lcore);
		if (cache != NULL)
			rte_mempool_cache_flush(cache, mp);
	}
}

/*
 * One by one: a burst that is more than is left makes bucket lose objects. It also lists what is
 * there, where the list may have to change.
 */
static struct found
drain(struct rte_mempool *mp, void **list)
{
	struct found found = { 0 };
	void *obj;

	flush_caches(mp);
	while (found.objects < mp->size && rte_mempool_ops_dequeue_bulk(mp, &obj, 1) == 0) {
		if (list != NULL)
			list[found.objects] = obj;
		found.objects++;
		found.sum += (uintptr_t)obj;
	}
	return found;
}

static void
fill(const struct bench_pool *pool, void *const *objs, unsigned int objects)
{
	unsigned int n;

	for (unsigned int i = 0; i < objects; i += n) {
		n = RTE_MIN((unsigned int)BURST, objects - i);
		if (pool->mp != NULL)
			rte_mempool_ops_enqueue_bulk(pool->mp, objs + i, n);
		else
			pool->array->put(pool->array, objs + i, n);
	}
}

/*
 * bucket keeps back the objects of buckets that are not full, and the longer it works, the more
 * such buckets there are. The objects are not lost, and come back later in place of others.
 */
static unsigned int
may_be_kept_back(const struct bench_pool *pool)
{
	return !bench_driver_is(pool->driver, "bucket") ? 0 :
		pool->objects / 16 + 2 * (BUCKET / (unsigned int)pool->arena->stride);
}

static int
check(struct bench_pool *pool, struct found found)
{
	const struct bench_arena *arena = pool->arena;
	unsigned int kept_back = may_be_kept_back(pool);

	if (found.objects + kept_back >= arena->objects &&
			(kept_back != 0 || found.sum == arena->sum))
		return 0;
	bench_error("%s, cache %u: of %u objects %u came back%s; no more figures of this pool",
		pool->driver->name, pool->cache, arena->objects, found.objects,
		found.objects == arena->objects ? ", some of them twice or changed" : "");
	rte_strscpy(pool->why, bench_last_error(), sizeof(pool->why));
	return -1;
}

int
bench_pool_reset(struct bench_pool *pool, bool shuffled)
{
	struct bench_arena *arena = pool->arena;
	struct found found = { .objects = arena->objects };
	bool changes = may_be_kept_back(pool) != 0;

	if (pool->mp != NULL) {
		found = drain(pool->mp, changes ? arena->in_order : NULL);
		if (check(pool, found) < 0)
			return -1;
	} else {
		pool->array->len = 0;
	}
	if (changes)
		bench_arena_shuffle(arena, found.objects);
	fill(pool, shuffled ? arena->shuffled : arena->in_order, found.objects);
	return 0;
}
