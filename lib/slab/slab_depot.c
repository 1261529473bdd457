/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_depot.h"
#include "slab_slab.h"

/* A depot's magazine that was never used, or 0: until then its memory stays untouched. */
static uint32_t
fresh(struct slab_pool *pool, struct slab_node *here)
{
	uint32_t i;

	if (slab_load_relaxed(&here->fresh) >= pool->depot)
		return 0;
	/* Each caller gets a number of its own; the counter passes the end by few and stays. */
	i = slab_add_relaxed(&here->fresh, 1);
	return i < pool->depot ? here->first + i * pool->magazine_units : 0;
}

uint32_t
slab_depot_get_full(struct slab_pool *pool, uint32_t node)
{
	struct slab_node *here = slab_node_at(pool, node);
	uint32_t id = slab_list_pop(pool, &here->full);

	if (id != 0)
		slab_sub_relaxed(&here->nr_full, 1);
	return id;
}

uint32_t
slab_depot_get_objects(struct slab_pool *pool, uint32_t node)
{
	uint32_t id = slab_list_pop(pool, &slab_node_at(pool, node)->partial);

	return id != 0 ? id : slab_depot_get_full(pool, node);
}

uint32_t
slab_depot_get_room(struct slab_pool *pool, uint32_t node)
{
	struct slab_node *here = slab_node_at(pool, node);
	uint32_t id;

	/*
	 * A racy count: some threads at once may pass the limit by one each. At the limit not even a
	 * partial one is given, which may be there after the limit was lowered.
	 */
	if (slab_load_relaxed(&here->nr_full) >= slab_load_relaxed(&pool->depot_most))
		return 0;
	id = slab_list_pop(pool, &here->partial);
	if (id == 0 && (id = slab_list_pop(pool, &here->empty)) == 0)
		id = fresh(pool, here);
	return id;
}

void
slab_depot_park(struct slab_pool *pool, uint32_t node, uint32_t magazine)
{
	struct slab_node *here = slab_node_at(pool, node);
	const struct slab_magazine *m = slab_at(pool, magazine);
	uint32_t len = slab_load_relaxed(&m->len);

	if (len == pool->magazine)
		slab_add_relaxed(&here->nr_full, 1);
	slab_list_push(pool, len == 0 ? &here->empty :
		len == pool->magazine ? &here->full : &here->partial, magazine);
}

void
slab_depot_spill(struct slab_pool *pool, uint32_t node, uint32_t magazine)
{
	void *objs[SLAB_OBJECTS];
	unsigned int n;

	while ((n = slab_magazine_pop_owner(pool, magazine, objs, SLAB_OBJECTS,
			slab_base(pool))) != 0)
		slab_slabs_put(pool, objs, n);
	slab_depot_park(pool, node, magazine);
}
