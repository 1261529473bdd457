/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stddef.h>

#include "slab_depot.h"

/*
 * What can be set while others get and put. They read each tunable anew whenever they need it, so
 * to set one is a store; for what has come to rest under another limit there is more to do.
 */

static const size_t place[] = {
	[SLAB_TUNABLE_MIN_PARTIAL] = offsetof(struct slab_pool, min_partial),
	[SLAB_TUNABLE_DEPOT] = offsetof(struct slab_pool, depot_most),
	[SLAB_TUNABLE_LCORE_PARTIAL] = offsetof(struct slab_pool, lcore_partial),
};

uint32_t
slab_pool_tunable(const struct slab_pool *pool, enum slab_tunable which)
{
	return slab_load_relaxed((const slab_atomic32 *)((const char *)pool + place[which]));
}

uint32_t
slab_pool_tunable_most(const struct slab_pool *pool, enum slab_tunable which)
{
	switch (which) {
	case SLAB_TUNABLE_DEPOT:
		return pool->depot;
	case SLAB_TUNABLE_LCORE_PARTIAL:
		return SLAB_MAX_LCORE_PARTIAL;
	default:
		return SLAB_AUTO - 1;
	}
}

/*
 * Full magazines over the limit go to slabs. No more of them than there are: those who read the
 * old limit may bring others, and whoever raises it meanwhile wants them left.
 */
static void
trim(struct slab_pool *pool, uint32_t node)
{
	const struct slab_node *here = slab_node_at(pool, node);
	uint32_t i, id;

	for (i = 0; i < pool->depot; i++) {
		if (slab_load_relaxed(&here->nr_full) <= slab_load_relaxed(&pool->depot_most))
			return;
		id = slab_depot_get_full(pool, node);
		if (id == 0)
			return;
		slab_depot_spill(pool, node, id);
	}
}

int
slab_pool_tune(struct slab_pool *pool, enum slab_tunable which, uint32_t value)
{
	uint32_t node;

	if (value > slab_pool_tunable_most(pool, which))
		return -ERANGE;
	slab_store_relaxed((slab_atomic32 *)((char *)pool + place[which]), value);
	if (which == SLAB_TUNABLE_DEPOT)
		for (node = 0; node < pool->nodes; node++)
			trim(pool, node);
	return 0;
}
