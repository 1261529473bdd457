/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_slab.h"
#include "slab_chunk.h"

/*
 * Slabs (L3) and each node's list of partial slabs (L2). Two steps make an operation, and I1 ties
 * them: who turns a word from 0 to something owns the push, who popped a slab owns turning its
 * word to 0. In between the word says "not 0" and so nobody else pushes.
 *
 *     put: old = fetch_or(word, bits); if old == 0, push
 *     get: pop; bits = exchange(word, 0), which I1 says is never 0
 *
 * Both release and both acquire, on the same word. What was written to an object before its put is
 * seen after its get: release in fetch_or, acquire in exchange. And the other way round: who pushes
 * next stores the slab's link after all who pushed it before, which the list's own orderings do not
 * say, since pushers need not be poppers: release in exchange, acquire in fetch_or.
 */

static void
push(struct slab_pool *pool, uint32_t slab)
{
	struct slab_slab *at = slab_slab_at(pool, slab);
	struct slab_node *node = slab_node_at(pool, slab_chunk_at(pool, at->chunk)->node);

	slab_list_push(pool, &node->slabs, slab_id(pool, at));
	slab_add_relaxed(&node->nr_partial, 1);
}

static struct slab_slab *
pop(struct slab_pool *pool, struct slab_node *node)
{
	uint32_t id = slab_list_pop(pool, &node->slabs);

	if (id == 0)
		return NULL;
	slab_sub_relaxed(&node->nr_partial, 1);
	return slab_at(pool, id);
}

uint64_t
slab_slab_put(struct slab_pool *pool, uint32_t slab, uint64_t bits)
{
	uint64_t old = slab_or_acq_rel(&slab_slab_at(pool, slab)->word, bits);

	if (old == 0)
		push(pool, slab);
	return old & bits;
}

unsigned int
slab_slabs_get(struct slab_pool *pool, uint32_t node, void **objs)
{
	struct slab_slab *at = pop(pool, slab_node_at(pool, node));

	if (at == NULL)
		return 0;
	return slab_chunk_expand(pool, slab_id(pool, at) - pool->slabs_id,
		slab_exchange_acq_rel(&at->word, 0), objs);
}

/* Bits of one burst that wait to be put, by slab: a cache that is mapped directly. */
#define PENDING 16

struct pending {
	uint32_t slab;
	uint64_t bits;
};

static void
settle(struct slab_pool *pool, const struct pending *p)
{
	uint64_t twice = p->bits == 0 ? 0 : slab_slab_put(pool, p->slab, p->bits);
	void *obj;

	for (; twice != 0; twice &= twice - 1) {
		slab_chunk_expand(pool, p->slab, twice & -twice, &obj);
		slab_fault_report(pool, obj, SLAB_FAULT_DOUBLE);
	}
}

static void
gather(struct slab_pool *pool, struct pending *p, uint32_t number, const void *obj)
{
	uint64_t bit = UINT64_C(1) << number % SLAB_OBJECTS;

	if (p->slab != number / SLAB_OBJECTS) {
		settle(pool, p);
		*p = (struct pending){ .slab = number / SLAB_OBJECTS };
	}
	if (p->bits & bit)
		slab_fault_report(pool, obj, SLAB_FAULT_DOUBLE);
	p->bits |= bit;
}

void
slab_slabs_put(struct slab_pool *pool, void *const *objs, unsigned int n)
{
	struct pending pending[PENDING] = { 0 };
	uint32_t number;
	unsigned int i;

	for (i = 0; i < n; i++) {
		number = slab_chunk_number(pool, objs[i]);
		if (number == SLAB_NO_NUMBER)
			slab_fault_report(pool, objs[i], SLAB_FAULT_FOREIGN);
		else
			gather(pool, &pending[number / SLAB_OBJECTS % PENDING], number, objs[i]);
	}
	for (i = 0; i < PENDING; i++)
		settle(pool, &pending[i]);
}
