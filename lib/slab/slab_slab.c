/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_slab.h"
#include "slab_chunk.h"

/*
 * Slabs (L3) and each node's lists of partial slabs (L2). Two steps make an operation, and I1 ties
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

/* What a slab may cost a get that looks for one that is free in part: slabs that it puts aside. */
#define MOST_ASIDE 8

static uint32_t
number_of(const struct slab_pool *pool, const struct slab_slab *at)
{
	return slab_id(pool, at) - pool->slabs_id;
}

static bool
is_whole(const struct slab_pool *pool, const struct slab_slab *at, uint64_t word)
{
	return word == UINT64_MAX && slab_chunk_row(pool, number_of(pool, at)) >= SLAB_OBJECTS;
}

static struct slab_slab *
pop(const struct slab_pool *pool, slab_atomic64 *list)
{
	uint32_t id = slab_list_pop(pool, list);

	return id == 0 ? NULL : slab_at(pool, id);
}

uint64_t
slab_slab_put(struct slab_pool *pool, uint32_t slab, uint64_t bits)
{
	struct slab_slab *at = slab_slab_at(pool, slab);
	struct slab_node *node = slab_node_at(pool, slab_chunk_at(pool, at->chunk)->node);
	uint64_t old = slab_or_acq_rel(&at->word, bits);

	if (old == 0) {
		slab_list_push(pool, is_whole(pool, at, bits) ? &node->whole : &node->slabs[0],
			slab_id(pool, at));
		slab_add_relaxed(&node->nr_partial, 1);
	}
	return old & bits;
}

/*
 * Partial slabs first, so that whole ones stay whole. A slab that became whole while it was on a
 * list of partial ones is found there, and put aside.
 */
static struct slab_slab *
pop_any(struct slab_pool *pool, struct slab_node *node)
{
	struct slab_slab *at;
	unsigned int aside;

	for (aside = 0; aside <= MOST_ASIDE; aside++) {
		at = pop(pool, &node->slabs[0]);
		if (at == NULL)
			at = pop(pool, &node->slabs[1]);
		if (at == NULL)
			return pop(pool, &node->whole);
		if (aside == MOST_ASIDE || !is_whole(pool, at, slab_load_relaxed(&at->word)))
			break;
		slab_list_push(pool, &node->whole, slab_id(pool, at));
	}
	return at;
}

/*
 * A whole slab from among those that are taken for partial ones. These go from one list to the other
 * and back, one by one, so that the others find all but one of them meanwhile.
 */
static struct slab_slab *
sift(struct slab_pool *pool, struct slab_node *node)
{
	unsigned int from;
	struct slab_slab *at;
	uint32_t n;

	for (from = 0; from < 2; from++)
		for (n = pool->nr_slabs; n != 0; n--) {
			at = pop(pool, &node->slabs[from]);
			if (at == NULL)
				break;
			if (is_whole(pool, at, slab_load_relaxed(&at->word)))
				return at;
			slab_list_push(pool, &node->slabs[1 - from], slab_id(pool, at));
		}
	return NULL;
}

/* The caller has popped the slab. */
static unsigned int
empty(struct slab_pool *pool, struct slab_slab *at, void **objs)
{
	return slab_chunk_expand(pool, number_of(pool, at), slab_exchange_acq_rel(&at->word, 0),
		objs);
}

unsigned int
slab_slabs_get(struct slab_pool *pool, uint32_t node, void **objs)
{
	struct slab_node *here = slab_node_at(pool, node);
	struct slab_slab *at = pop_any(pool, here);

	if (at == NULL)
		return 0;
	slab_sub_relaxed(&here->nr_partial, 1);
	return empty(pool, at, objs);
}

unsigned int
slab_slabs_get_own(struct slab_pool *pool, struct slab_cache *own, void **objs)
{
	struct slab_slab *at = slab_at(pool, slab_load_relaxed(&own->slabs));

	if (slab_load_relaxed(&own->slabs) == 0)
		return 0;
	slab_store_relaxed(&own->slabs, slab_load_relaxed(&at->link.next));
	return empty(pool, at, objs);
}

void
slab_slabs_take(struct slab_pool *pool, uint32_t node, struct slab_cache *own, uint32_t max)
{
	struct slab_node *here = slab_node_at(pool, node);
	uint32_t n, first = slab_list_pop_some(pool, &here->slabs[0], max, &n);

	if (first == 0)
		return;
	slab_sub_relaxed(&here->nr_partial, n);
	/* After a kill in between they are lost; the other way round, the last would lead to the list. */
	slab_compiler_barrier();
	slab_store_relaxed(&own->slabs, first);
}

void *
slab_slabs_get_block(struct slab_pool *pool, uint32_t node)
{
	struct slab_node *here = slab_node_at(pool, node);
	struct slab_slab *at = pop(pool, &here->whole);
	void *objs[SLAB_OBJECTS];

	if (at == NULL)
		at = sift(pool, here);
	if (at == NULL)
		return NULL;
	slab_sub_relaxed(&here->nr_partial, 1);
	empty(pool, at, objs);
	return objs[0];
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
			slab_fault_report(pool, objs[i], slab_fault_of_stranger(pool, objs[i]));
		else
			gather(pool, &pending[number / SLAB_OBJECTS % PENDING], number, objs[i]);
	}
	for (i = 0; i < PENDING; i++)
		settle(pool, &pending[i]);
}
