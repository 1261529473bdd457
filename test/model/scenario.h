/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SCENARIO_H
#define SCENARIO_H

/* Pools for scenarios, and what their threads share. */

#include <stdlib.h>

#include "model.h"
#include "slab_depot.h"
#include "slab_fast.h"
#include "slab_lcore.h"
#include "slab_slab.h"

#define MADE_UP ((char *)UINT64_C(0x100000000))
#define OBJECT 64

static struct slab_pool *pool;

/* All objects are out. */
static inline void
pool_make(const struct slab_conf *conf)
{
	struct slab_range all = { .base = MADE_UP, .count = conf->objects };
	void *objs[SLAB_OBJECTS];
	uint32_t n = 0;

	pool = slab_pool_init(model_block(slab_pool_size(conf)), conf);
	model_assert(pool != NULL && slab_pool_add(pool, &all) == conf->objects);
	while (n < conf->objects)
		n += slab_slabs_get(pool, 0, objs);
}

static inline void *
object_at(unsigned int number)
{
	return MADE_UP + number * OBJECT;
}

static inline unsigned int
object_number(const void *obj)
{
	return (unsigned int)(((const char *)obj - MADE_UP) / OBJECT);
}

static inline void
hold_all(void *const *objs, unsigned int n)
{
	while (n-- != 0)
		model_hold(object_number(objs[n]));
}

static inline void
pool_put(uint32_t lcore, void *const *objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		model_let_go(object_number(objs[i]));
	slab_put(pool, lcore, objs, n);
}

static inline void
pool_get_and_put(uint32_t lcore, unsigned int n)
{
	void *objs[SLAB_OBJECTS];

	if (slab_get(pool, lcore, objs, n) != 0)
		return;
	hold_all(objs, n);
	pool_put(lcore, objs, n);
}

static inline void
pool_take_and_put(struct slab_lcore *from)
{
	void *objs[SLAB_OBJECTS];
	unsigned int n = slab_lcore_take(pool, from, objs, 1);

	hold_all(objs, n);
	if (n != 0)
		pool_put(SLAB_NO_LCORE, objs, n);
}

static inline void
share_slab(uint32_t slab)
{
	struct slab_slab *at = slab_slab_at(pool, slab);

	model_share(&at->link.next, MODEL_LINK);
	model_share(&at->word, MODEL_ATOMIC);
}

static inline void
share_slabs_list(void)
{
	struct slab_node *node = slab_node_at(pool, 0);

	model_share(&node->slabs[0], MODEL_ATOMIC);
	model_share(&node->slabs[1], MODEL_ATOMIC);
	model_share(&node->whole, MODEL_ATOMIC);
	model_share(&node->nr_partial, MODEL_COUNT);
}

static inline void
share_magazine(uint32_t id)
{
	struct slab_magazine *m = slab_at(pool, id);
	uint32_t i;

	model_share(&m->link.next, MODEL_LINK);
	model_share(&m->len, MODEL_ATOMIC);
	for (i = 0; i < pool->magazine; i++)
		model_share(&m->codes[i], MODEL_PLAIN);
}

static inline void
share_depot(void)
{
	struct slab_node *node = slab_node_at(pool, 0);

	model_share(&node->full, MODEL_ATOMIC);
	model_share(&node->nr_full, MODEL_COUNT);
	model_share(&node->partial, MODEL_ATOMIC);
	model_share(&node->empty, MODEL_ATOMIC);
	model_share(&node->fresh, MODEL_ATOMIC);
}

static inline void
share_lcore(uint32_t lcore)
{
	struct slab_lcore *lc = slab_lcore_at(pool, lcore);

	model_share(&lc->cache, MODEL_ATOMIC);
	model_share(&lc->len, MODEL_ATOMIC);
	model_share(&lc->aliens, MODEL_COUNT);
	model_share(&lc->busy, MODEL_ATOMIC);
	model_share(&lc->shut, MODEL_ATOMIC);
	model_share(&lc->fail_run, MODEL_COUNT);
}

#endif /* SCENARIO_H */
