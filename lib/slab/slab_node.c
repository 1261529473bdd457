/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_node.h"
#include "slab_process.h"

static bool
in_window(const struct slab_node *node, uint64_t at)
{
	uint64_t low = slab_load_relaxed(&node->low);

	return at - low < slab_load_relaxed(&node->high) - low;
}

/* Memory lies before the pool as well as behind it. */
static bool
before(uint64_t a, uint64_t b)
{
	return (int64_t)a < (int64_t)b;
}

static bool
overlap(const struct slab_node *a, const struct slab_node *b)
{
	return before(slab_load_relaxed(&a->low), slab_load_relaxed(&b->high)) &&
		before(slab_load_relaxed(&b->low), slab_load_relaxed(&a->high));
}

void
slab_node_cover(struct slab_pool *pool, const struct slab_chunk *chunk)
{
	struct slab_node *node = slab_node_at(pool, chunk->node);
	uint64_t low = slab_load_relaxed(&node->low), high = slab_load_relaxed(&node->high);
	uint64_t end = slab_chunk_end(pool, chunk);
	uint32_t i;

	if (low == high || before(chunk->base, low))
		slab_store_relaxed(&node->low, chunk->base);
	if (low == high || before(high, end))
		slab_store_relaxed(&node->high, end);
	for (i = 0; i < pool->nodes; i++)
		if (i != chunk->node && overlap(node, slab_node_at(pool, i)))
			slab_store_relaxed(&pool->mixed, 1);
}

uint32_t
slab_node_of(const struct slab_pool *pool, const void *obj, uint32_t home)
{
	uint64_t at = slab_distance(pool, obj);
	const struct slab_chunk *chunk;
	uint32_t i;

	if (slab_load_relaxed(&pool->mixed)) {
		chunk = slab_chunk_below(pool, obj);
		return chunk != NULL ? chunk->node : home;
	}
	if (in_window(slab_node_at(pool, home), at))
		return home;
	for (i = 0; i < pool->nodes; i++)
		if (in_window(slab_node_at(pool, i), at))
			return i;
	return home;
}

uint32_t
slab_node_numbered(const struct slab_pool *pool, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < pool->nodes; i++)
		if (slab_node_at(pool, i)->number == number)
			return i;
	return 0;
}

/* A thread that moves at this moment is served all the same. */
uint32_t
slab_node_here(const struct slab_pool *pool)
{
	uint32_t cpu, number;

	return pool->nodes > 1 && slab_process_where(&cpu, &number) ?
		slab_node_numbered(pool, number) : 0;
}
