/* SPDX-License-Identifier: BSD-3-Clause */

#include "scenario.h"

/*
 * slab_reclaim.c: an lcore's process was killed inside of an operation, or a taker with its claim, and
 * another process has the lcore now. It works, while one or two others get back what was left behind:
 * nobody is in the cache with another, and no object is lost or doubled.
 */

#define OBJECTS 4
/* Of no process: numbers end below. */
#define GONE UINT32_C(0x7fffff)

static void
make(void)
{
	struct slab_conf conf = { .objects = OBJECTS, .stride = OBJECT, .align = OBJECT,
		.lcores = 1, .lcore_cache = true, .magazine = 2, .depot = 0 };
	struct slab_cache *cache;
	void *obj;
	uint32_t i;

	pool_make(&conf);
	for (i = 0; i < OBJECTS; i++) {
		obj = object_at(i);
		slab_put(pool, 0, &obj, 1);
	}
	share_lcore(0);
	model_share(&slab_no_lcore_at(pool, 0)->busy, MODEL_COUNT);
	model_share(&slab_no_lcore_at(pool, 0)->fail_run, MODEL_COUNT);
	cache = slab_lcore_cache(pool, slab_lcore_at(pool, 0));
	for (i = 0; i < pool->cache; i++)
		model_share(&cache->offsets[i], MODEL_PLAIN);
	share_slabs_list();
	share_slab(0);
}

static void
setup_busy(void)
{
	make();
	slab_store_relaxed(&slab_lcore_at(pool, 0)->busy, GONE);
}

static void
setup_claimed(void)
{
	make();
	slab_store_relaxed(&slab_lcore_at(pool, 0)->shut, SLAB_SHUT_TAKEN | GONE);
}

/* A taker that is killed as soon as it has claimed the cache; the lcore may be inside. */
static void
claim_and_die(void)
{
	uint64_t shut = SLAB_SHUT_NOT;

	slab_claim_acquire(&slab_lcore_at(pool, 0)->shut, &shut, SLAB_SHUT_TAKEN | GONE);
}

static void
thread(unsigned int i)
{
	if (i != 0) {
		slab_pool_reclaim(pool, 0);
		return;
	}
	pool_get_and_put(0, 1 + model_rand(2));
	pool_get_and_put(0, 1 + model_rand(2));
}

static void
thread_dies(unsigned int i)
{
	if (i == 2)
		claim_and_die();
	else
		thread(i);
}

/* At last the cache is nobody's, and each object is there once. */
static void
after(void)
{
	void *objs[OBJECTS + 1];
	unsigned int found = 0, i;

	slab_pool_reclaim(pool, 0);
	model_assert(slab_load_relaxed(&slab_lcore_at(pool, 0)->shut) == SLAB_SHUT_NOT);
	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, OBJECTS) == 0);
	for (i = 0; i < OBJECTS; i++)
		found |= 1U << object_number(objs[i]);
	model_assert(found == (1U << OBJECTS) - 1);
	model_assert(slab_get(pool, SLAB_NO_LCORE, objs, 1) != 0);
}

#define ENDS \
	{ "shut ends relaxed", "reclaim", "&lc->shut", MODEL_STORE, TWIST_RELAXED }
#define MUTANTS \
	{ "busy not checked", "slab_lcore_is_left", "&lc->busy", MODEL_LOAD, TWIST_ZERO }, \
	{ "busy checked relaxed", "slab_lcore_is_left", "&lc->busy", MODEL_LOAD, TWIST_RELAXED }, \
	ENDS, \
	{ "no fence", "membarrier", NULL, MODEL_FENCE, TWIST_SKIP }
#define TWO \
	{ "claim in two steps", "reclaim", "&lc->shut", MODEL_CAS, TWIST_SPLIT }

const struct model_scenario model_scenarios[] = {
	{ "reclaim-busy", 2, OBJECTS, false, setup_busy, thread, after, NULL, { MUTANTS } },
	{ "reclaim-busy-3", 3, OBJECTS, false, setup_busy, thread, after, NULL,
		{ MUTANTS, TWO } },
	{ "reclaim-claimed", 2, OBJECTS, false, setup_claimed, thread, after, NULL, { ENDS } },
	{ "reclaim-claimed-3", 3, OBJECTS, false, setup_claimed, thread, after, NULL,
		{ ENDS, TWO } },
	{ "reclaim-dies-3", 3, OBJECTS, false, make, thread_dies, after, NULL, { MUTANTS } },
	{ 0 },
};
