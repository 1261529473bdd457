/* SPDX-License-Identifier: BSD-3-Clause */

#include "scenario.h"

/*
 * slab_lcore.h: an lcore gets and puts through its cache while others take from it. Each
 * object is handed out once, and what was done to it before it was put is seen by whoever gets it.
 *
 * Two readings of membarrier: one fence for everybody, wherever each of them is, and ("-fences") a
 * fence in the taker and another in the lcore, where the compiler barrier stands.
 */

#define LCORES 2
#define OBJECTS 5

static uint64_t *
cache_of(uint32_t lcore)
{
	struct slab_cache *cache = slab_at(pool, pool->caches_id + lcore * pool->cache_units);

	return cache->offsets;
}

static void
share_lcores(void)
{
	struct slab_lcore *none = slab_lcore_at(pool, SLAB_NO_LCORE);
	uint32_t i;

	for (i = 0; i < LCORES; i++)
		share_lcore(i);
	/* Nobody takes from it, so nobody looks at its mark. */
	model_share(&none->busy, MODEL_COUNT);
	model_share(&none->fail_run, MODEL_COUNT);
	model_share(&pool->lcores_open, MODEL_ATOMIC);
	for (i = 0; i < LCORES * pool->cache; i++)
		model_share(cache_of(i / pool->cache) + i % pool->cache, MODEL_PLAIN);
	for (i = 0; i < pool->depot; i++)
		share_magazine(slab_node_at(pool, 0)->first + i * pool->magazine_units);
	share_depot();
	share_slabs_list();
	share_slab(0);
}

/* The pool, with all its objects put as that lcore. */
static void
make(uint32_t objects, uint32_t depot, uint32_t lcore)
{
	struct slab_conf conf = { .objects = objects, .stride = OBJECT, .align = OBJECT,
		.lcores = LCORES, .lcore_cache = true, .magazine = 2, .depot = depot };
	void *obj;
	uint32_t i;

	pool_make(&conf);
	for (i = 0; i < objects; i++) {
		obj = object_at(i);
		slab_put(pool, lcore, &obj, 1);
	}
	share_lcores();
}

/* Lcore 0 has been full: two objects are in the depot, the others in its cache. */
static void
setup_take(void)
{
	make(OBJECTS, 2, 0);
	model_assert(slab_load_relaxed(&slab_lcore_at(pool, 0)->len) == OBJECTS - 2);
}

/* No lcore has a cache yet, and there is no depot: who starves has to take. */
static void
setup_open(void)
{
	make(2, 0, SLAB_NO_LCORE);
}

/* Thread 0 is lcore 0, the others take from it. */
static void
thread_take(unsigned int i)
{
	if (i != 0) {
		pool_take_and_put(slab_lcore_at(pool, 0));
		pool_take_and_put(slab_lcore_at(pool, 0));
	} else {
		pool_get_and_put(0, 1 + model_rand(4));
		pool_get_and_put(0, 1 + model_rand(4));
	}
}

static void
thread_open(unsigned int i)
{
	pool_get_and_put(i, 1);
	pool_get_and_put(i, 1);
}

/* The first n objects are in the pool, each once. */
static void
whole(unsigned int n)
{
	void *objs[OBJECTS];
	unsigned int found = 0, i;

	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, n) == 0);
	for (i = 0; i < n; i++)
		found |= 1U << object_number(objs[i]);
	model_assert(found == (1U << n) - 1);
	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, 1) != 0);
}

static void
after_take(void)
{
	whole(OBJECTS);
}

static void
after_open(void)
{
	model_assert(slab_load_relaxed(&pool->lcores_open) == LCORES);
	whole(2);
}

/*
 * Not among them: the claim without acquire, since the fence that follows acquires too; the opening
 * of a cache without release, since a taker that finds busy at 0 sees all that came before that.
 */
#define MUTANTS \
	{ "busy not checked", NULL, "&lc->busy", MODEL_LOAD, TWIST_ZERO }, \
	{ "shut not checked", "slab_lcore_enter_owner", "&lc->shut", MODEL_LOAD, TWIST_ZERO }, \
	{ "shut checked relaxed", "slab_lcore_enter_owner", "&lc->shut", MODEL_LOAD, \
		TWIST_RELAXED }, \
	{ "shut ends relaxed", "slab_lcore_take", "&lc->shut", MODEL_STORE, TWIST_RELAXED }, \
	{ "no fence in the taker", "membarrier", NULL, MODEL_FENCE, TWIST_SKIP }
/* The one fence for everybody makes up for these nearly always when each gets twice only. */
#define BUSY \
	{ "busy checked relaxed", NULL, "&lc->busy", MODEL_LOAD, TWIST_RELAXED }, \
	{ "busy ends relaxed", "slab_lcore_leave_owner", "&lc->busy", MODEL_STORE, TWIST_RELAXED }
#define TWICE \
	{ "shut looked at twice", "slab_lcore_enter_owner", "&lc->shut", MODEL_LOAD, TWIST_TWICE }
#define CLAIM \
	{ "claim in two steps", "slab_lcore_claim", "&lc->shut", MODEL_CAS, TWIST_SPLIT }
#define LCORE_FENCE \
	{ "no fence in the lcore", "slab_lcore_enter_owner", NULL, MODEL_FENCE, TWIST_SKIP }

const struct model_scenario model_scenarios[] = {
	{ "lcore-2", 2, OBJECTS, false, setup_take, thread_take, after_take, NULL,
		{ MUTANTS, BUSY, TWICE } },
	{ "lcore-3", 3, OBJECTS, false, setup_take, thread_take, after_take, NULL,
		{ MUTANTS, BUSY, TWICE, CLAIM } },
	{ "lcore-open", 2, OBJECTS, false, setup_open, thread_open, after_open, NULL,
		{ MUTANTS } },
	{ "lcore-2-fences", 2, OBJECTS, true, setup_take, thread_take, after_take, NULL,
		{ MUTANTS, BUSY, TWICE, LCORE_FENCE } },
	{ "lcore-3-fences", 3, OBJECTS, true, setup_take, thread_take, after_take, NULL,
		{ MUTANTS, BUSY, TWICE, CLAIM, LCORE_FENCE } },
	{ "lcore-open-fences", 2, OBJECTS, true, setup_open, thread_open, after_open, NULL,
		{ MUTANTS, BUSY, LCORE_FENCE } },
	{ 0 },
};
