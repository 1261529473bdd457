/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "slab_check.h"
#include "slab_chunk.h"
#include "slab_cpu.h"
#include "slab_depot.h"
#include "slab_fast.h"
#include "slab_node.h"
#include "slab_slab.h"

/*
 * Blocks: whole slabs. What is free but not in its slab goes there when blocks run out, and comes
 * back into magazines as it is used again.
 */

static unsigned int
take_from_nodes(struct slab_pool *pool, uint32_t home, void **first, unsigned int n)
{
	unsigned int have = 0;
	uint32_t i;

	for (i = 0; i < pool->nodes && have < n; i++)
		while (have < n && (first[have] = slab_slabs_get_block(pool,
				(home + i) % pool->nodes)) != NULL)
			have++;
	return have;
}

/* At most as many magazines as there are: others may go on to fill them. */
static void
empty_depot(struct slab_pool *pool, uint32_t node)
{
	uint32_t i, id;

	for (i = 0; i < pool->depot && (id = slab_depot_get_objects(pool, node)) != 0; i++)
		slab_depot_spill(pool, node, id);
}

/* The caller is no lcore inside an operation, so its own cache is one among the others. */
static void
empty_caches(struct slab_pool *pool)
{
	uint32_t open = slab_lcores_open(pool), i;
	void *objs[SLAB_OBJECTS];
	unsigned int n, bursts;

	for (i = 0; i < open; i++)
		for (bursts = pool->cache + pool->magazine; bursts != 0; bursts--) {
			n = slab_lcore_take(pool, slab_lcore_open_at(pool, i), objs,
				SLAB_OBJECTS);
			if (n == 0)
				break;
			slab_slabs_put(pool, objs, n);
		}
}

static void
empty_all(struct slab_pool *pool)
{
	uint32_t node;

	for (node = 0; node < pool->nodes; node++)
		empty_depot(pool, node);
	empty_caches(pool);
}

static void
put_back(struct slab_pool *pool, void *const *first, unsigned int n)
{
	while (n-- != 0)
		slab_slab_put(pool, slab_chunk_number(pool, first[n]) / SLAB_OBJECTS, UINT64_MAX);
}

static int
get_blocks(struct slab_pool *pool, struct slab_lcore *lc, void **first, unsigned int n)
{
	uint32_t home = lc->node == SLAB_NODE_HERE ? slab_node_here(pool) : lc->node;
	unsigned int have = take_from_nodes(pool, home, first, n);

	if (have < n) {
		empty_all(pool);
		have += take_from_nodes(pool, home, first + have, n - have);
	}
	if (have < n) {
		put_back(pool, first, have);
		return -ENOBUFS;
	}
	return 0;
}

/* Others for those that do not pass, as long as there are any. */
static int
get_checked_blocks(struct slab_pool *pool, uint32_t lcore, struct slab_lcore *lc, void **first,
	unsigned int n, const void *caller)
{
	int ret = get_blocks(pool, lc, first, n);
	unsigned int i = 0;

	while (ret == 0 && (i += slab_check_blocks(pool, lcore, first + i, n - i, caller)) < n) {
		ret = get_blocks(pool, lc, first + i, 1);
		if (ret != 0) {
			put_back(pool, first + i + 1, n - i - 1);
			slab_check_put_blocks(pool, first, i);
			put_back(pool, first, i);
		}
	}
	return ret;
}

int
slab_get_blocks(struct slab_pool *pool, uint32_t lcore, void **first, unsigned int n)
{
	struct slab_lcore *lc = lcore < pool->lcores ? slab_lcore_at(pool, lcore) :
		slab_cpu_here(pool);
	int ret = get_checked_blocks(pool, lcore, lc, first, n, __builtin_return_address(0));

	if (ret != 0) {
		slab_count_owner(pool, &lc->counters.get_fails, 1);
		return ret;
	}
	slab_count_owner(pool, &lc->counters.get_bulks, 1);
	slab_count_owner(pool, &lc->counters.get_objs, (uint64_t)n * SLAB_OBJECTS);
	return 0;
}

bool
slab_pool_has_blocks(const struct slab_pool *pool)
{
	uint32_t slabs = slab_load_acquire(&pool->numbers) / SLAB_OBJECTS, i;

	for (i = 0; i < slabs; i++)
		if (slab_chunk_row(pool, i) >= SLAB_OBJECTS)
			return true;
	return false;
}
