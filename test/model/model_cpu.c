/* SPDX-License-Identifier: BSD-3-Clause */

#include "scenario.h"

/*
 * slab_cpu.c where the kernel runs no restartable sequences: threads that are no lcores come to the
 * cache of one CPU, and an lcore takes from it. Each tries to claim it, does without if it cannot, and
 * sees it as the last one left it.
 */

#define OBJECTS 4

static void
share_cpu(void)
{
	struct slab_lcore *lc = slab_cpu_at(pool, 0);
	struct slab_cache *cache = slab_at(pool, pool->caches_id);
	uint32_t i;

	model_share(&lc->cache, MODEL_ATOMIC);
	model_share(&lc->len, MODEL_ATOMIC);
	model_share(&lc->aliens, MODEL_COUNT);
	model_share(&lc->busy, MODEL_COUNT);
	model_share(&lc->shut, MODEL_ATOMIC);
	model_share(&lc->node, MODEL_PLAIN);
	model_share(&slab_no_lcore_at(pool, 0)->fail_run, MODEL_COUNT);
	model_share(&pool->cpus_open, MODEL_ATOMIC);
	for (i = 0; i < pool->cache; i++)
		model_share(&cache->offsets[i], MODEL_PLAIN);
	share_slabs_list();
	share_slab(0);
}

/* Without a depot, and with room for all: what is not in the cache is in its slab. */
static void
make(void)
{
	struct slab_conf conf = { .objects = OBJECTS, .stride = OBJECT, .align = OBJECT,
		.magazine = 2, .cpus = 1 };

	pool_make(&conf);
	share_cpu();
}

static void
put_all(void)
{
	void *obj;
	unsigned int i;

	for (i = 0; i < OBJECTS; i++) {
		obj = object_at(i);
		slab_put(pool, SLAB_NO_LCORE, &obj, 1);
	}
}

static void
setup_used(void)
{
	make();
	put_all();
	model_assert(slab_load_relaxed(&slab_cpu_at(pool, 0)->len) == OBJECTS);
}

/* Nobody has come to the cache yet. */
static void
setup_new(void)
{
	struct slab_lcore *lc;

	make();
	lc = slab_cpu_at(pool, 0);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_TAKEN);
	put_all();
	slab_store_relaxed(&lc->shut, SLAB_SHUT_NEW);
	model_assert(slab_load_relaxed(&pool->cpus_open) == 0);
}

/* Of three threads the last is the lcore that takes. */
static void
thread(unsigned int i)
{
	if (i == 2) {
		pool_take_and_put(slab_cpu_at(pool, 0));
		return;
	}
	pool_get_and_put(SLAB_NO_LCORE, 1 + model_rand(2));
	pool_get_and_put(SLAB_NO_LCORE, 1);
}

/* All objects are there, each once. */
static void
after(void)
{
	void *objs[OBJECTS + 1];
	unsigned int found = 0, i;

	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, OBJECTS) == 0);
	for (i = 0; i < OBJECTS; i++)
		found |= 1U << object_number(objs[i]);
	model_assert(found == (1U << OBJECTS) - 1);
	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, 1) != 0);
}

#define MUTANTS \
	{ "claim in two steps", "slab_lcore_claim", "&lc->shut", MODEL_CAS, TWIST_SPLIT }, \
	{ "claim relaxed", "slab_lcore_claim", "&lc->shut", MODEL_CAS, TWIST_RELAXED }, \
	{ "left relaxed", "leave", "&lc->shut", MODEL_STORE, TWIST_RELAXED }

const struct model_scenario model_scenarios[] = {
	{ "cpu-2", 2, OBJECTS, false, setup_used, thread, after, NULL, { MUTANTS } },
	{ "cpu-3", 3, OBJECTS, false, setup_used, thread, after, NULL,
		{ MUTANTS, { "taker leaves relaxed", "slab_lcore_take", "&lc->shut", MODEL_STORE,
			TWIST_RELAXED } } },
	{ "cpu-new", 2, OBJECTS, false, setup_new, thread, after, NULL,
		{ { "opened in two steps", "open", "&lc->shut", MODEL_CAS, TWIST_SPLIT },
		{ "cache told of relaxed", "slab_lcore_give_cache", "&lc->cache", MODEL_STORE,
			TWIST_RELAXED } } },
	{ 0 },
};
