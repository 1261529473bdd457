/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "slab_list.h"

#define NODES 3
#define PER_NODE 640
#define OBJECTS (NODES * PER_NODE)
#define MAGAZINE 16
#define DEPOT 50
#define CHANGES 10000

/* Lcore i is on node i; node i has the objects from MADE_UP + i x PER_NODE x 64 on. */
static struct slab_pool *
pool_over_nodes(uint32_t min_partial, bool lcore_cache)
{
	static const uint8_t lcore_node[4] = { 0, 1, 2, 0 };
	struct slab_conf conf = plain_conf(OBJECTS);
	struct slab_pool *pool;
	uint32_t i;

	conf.nodes = NODES;
	conf.lcore_node = lcore_node;
	conf.magazine = MAGAZINE;
	conf.depot = DEPOT;
	conf.min_partial = min_partial;
	conf.lcore_cache = lcore_cache;
	pool = pool_make(&conf);
	for (i = 0; i < NODES; i++)
		assert_int_equal(pool_add(pool, &(struct slab_range){
			.base = MADE_UP + (size_t)i * PER_NODE * 64, .count = PER_NODE,
			.node = i }), PER_NODE);
	return pool;
}

/* Full magazines of a node, by its count; the list has to agree. */
static uint32_t
full_of(const struct slab_pool *pool, uint32_t node)
{
	const struct slab_node *here = slab_node_at(pool, node);
	uint32_t id = (uint32_t)(slab_load_relaxed(&here->full) & SLAB_LIST_ID_MASK), n;
	const struct slab_magazine *m;

	for (n = 0; id != 0; n++) {
		m = slab_at(pool, id);
		assert_int_equal(slab_load_relaxed(&m->len), MAGAZINE);
		id = slab_load_relaxed(&m->link.next);
	}
	assert_int_equal(slab_load_relaxed(&here->nr_full), n);
	return n;
}

/* All objects out and back, by a thread without a cache: to the depots, as far as these may. */
static void
cycle_all(struct slab_pool *pool)
{
	void *objs[OBJECTS];

	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, OBJECTS, 32), OBJECTS);
	assert_int_equal(slab_pool_count(pool), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, OBJECTS);
	assert_int_equal(slab_pool_count(pool), OBJECTS);
}

static void
check_range(struct slab_pool *pool, enum slab_tunable which, uint32_t at_first, uint32_t most)
{
	assert_int_equal(slab_pool_tunable(pool, which), at_first);
	assert_int_equal(slab_pool_tunable_most(pool, which), most);
	assert_int_equal(slab_pool_tune(pool, which, most), 0);
	assert_int_equal(slab_pool_tunable(pool, which), most);
	assert_int_equal(slab_pool_tune(pool, which, 1), 0);
	assert_int_equal(slab_pool_tune(pool, which, most + 1), -ERANGE);
	assert_int_equal(slab_pool_tune(pool, which, UINT32_MAX), -ERANGE);
	assert_int_equal(slab_pool_tunable(pool, which), 1);
	assert_int_equal(slab_pool_tune(pool, which, 0), 0);
	assert_int_equal(slab_pool_tunable(pool, which), 0);
}

static void
values_and_refusals(void **state)
{
	struct slab_pool *pool = pool_over_nodes(7, true);

	(void)state;
	check_range(pool, SLAB_TUNABLE_MIN_PARTIAL, 7, UINT32_MAX - 1);
	assert_int_equal(slab_pool_tunable(pool, SLAB_TUNABLE_DEPOT), DEPOT);
	check_range(pool, SLAB_TUNABLE_DEPOT, DEPOT, DEPOT);
	assert_int_equal(slab_pool_tunable(pool, SLAB_TUNABLE_MIN_PARTIAL), 0);
	assert_int_equal(slab_pool_depot(pool), DEPOT);
	pool_free(pool);
}

static void
check_full(const struct slab_pool *pool, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < NODES; i++)
		assert_int_equal(full_of(pool, i), n);
	assert_int_equal(slab_pool_count(pool), OBJECTS);
	assert_int_equal(slab_pool_faults(pool), 0);
}

/* What is too much goes at once, nothing else does, and nothing comes in its place. */
static void
depot_lowered(void **state)
{
	static const uint32_t limits[] = { DEPOT, 40, 39, 20, 1, 0 };
	struct slab_pool *pool = pool_over_nodes(0, true);
	uint32_t i, n;

	(void)state;
	cycle_all(pool);
	check_full(pool, PER_NODE / MAGAZINE);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		n = limits[i] < PER_NODE / MAGAZINE ? limits[i] : PER_NODE / MAGAZINE;
		assert_int_equal(slab_pool_tune(pool, SLAB_TUNABLE_DEPOT, limits[i]), 0);
		check_full(pool, n);
		cycle_all(pool);
		check_full(pool, n);
	}
	pool_free(pool);
}

/* The magazines that were emptied are there to be filled again. */
static void
depot_raised_again(void **state)
{
	struct slab_pool *pool = pool_over_nodes(0, true);
	uint32_t limit;

	(void)state;
	cycle_all(pool);
	for (limit = 0; limit <= 40; limit += 10) {
		assert_int_equal(slab_pool_tune(pool, SLAB_TUNABLE_DEPOT, limit), 0);
		check_full(pool, limit == 0 ? 0 : limit - 10);
		cycle_all(pool);
		check_full(pool, limit);
	}
	pool_free(pool);
}

/* A partial magazine that a lower limit left there gives its objects and takes no more. */
static void
partial_magazine_stays_partial(void **state)
{
	struct slab_pool *pool = pool_over_nodes(0, false);
	struct slab_node *node = slab_node_at(pool, 0);
	void *objs[MAGAZINE - 1];

	(void)state;
	cycle_all(pool);
	assert_int_equal(slab_get(pool, 0, objs, MAGAZINE - 1), 0);
	assert_int_equal(slab_pool_tune(pool, SLAB_TUNABLE_DEPOT, 0), 0);
	slab_put(pool, 0, objs, MAGAZINE - 1);
	check_full(pool, 0);
	assert_int_not_equal(slab_load_relaxed(&node->partial) & SLAB_LIST_ID_MASK, 0);
	cycle_all(pool);
	check_full(pool, 0);
	assert_int_equal(slab_load_relaxed(&node->partial) & SLAB_LIST_ID_MASK, 0);
	pool_free(pool);
}

/* Where lcore 0 gets an object: its own node has none, node 1 a slab's worth, node 2 more. */
static uint32_t
node_of_one_more(struct slab_pool *pool)
{
	void *obj;

	assert_int_equal(slab_get(pool, 0, &obj, 1), 0);
	return (uint32_t)(((char *)obj - MADE_UP) / (PER_NODE * 64));
}

static void
min_partial_has_effect(void **state)
{
	struct slab_pool *pool = pool_over_nodes(1, false);
	void *objs[PER_NODE];

	(void)state;
	assert_int_equal(slab_get(pool, 0, objs, PER_NODE), 0);
	assert_int_equal(slab_get(pool, 1, objs, PER_NODE - SLAB_OBJECTS), 0);
	assert_int_equal(node_of_one_more(pool), 2);
	assert_int_equal(slab_pool_tune(pool, SLAB_TUNABLE_MIN_PARTIAL, 0), 0);
	assert_int_equal(node_of_one_more(pool), 1);
	assert_int_equal(slab_pool_tune(pool, SLAB_TUNABLE_MIN_PARTIAL, 1), 0);
	assert_int_equal(node_of_one_more(pool), 2);
	pool_free(pool);
}

struct crew {
	struct slab_pool *pool;
	atomic_bool done;
};

struct worker {
	struct crew *crew;
	pthread_t thread;
	uint32_t lcore, held;
	unsigned int seed;
	uint64_t got;
	void *objs[OBJECTS / 4];
};

static void *
get_and_put(void *arg)
{
	struct worker *w = arg;
	struct slab_pool *pool = w->crew->pool;
	uint32_t i, n;

	for (i = 0; i < CHANGES || !atomic_load(&w->crew->done); i++) {
		n = 1 + (uint32_t)rand_r(&w->seed) % 64;
		if (rand_r(&w->seed) % 2 != 0 && w->held + n <= OBJECTS / 4 &&
				slab_get(pool, w->lcore, w->objs + w->held, n) == 0) {
			w->held += n;
			w->got += n;
			continue;
		}
		n = n < w->held ? n : w->held;
		w->held -= n;
		slab_put(pool, w->lcore, w->objs + w->held, n);
	}
	slab_put(pool, w->lcore, w->objs, w->held);
	return NULL;
}

static void *
tune(void *arg)
{
	struct crew *crew = arg;
	unsigned int seed = 1, i;
	uint32_t value;

	for (i = 0; i < CHANGES; i++) {
		value = (uint32_t)rand_r(&seed) % DEPOT;
		if (slab_pool_tune(crew->pool, (enum slab_tunable)(i % 2), value) != 0 ||
				slab_pool_tunable(crew->pool, (enum slab_tunable)(i % 2)) != value)
			abort();
	}
	atomic_store(&crew->done, true);
	return NULL;
}

static void
tuned_while_others_work(void **state)
{
	struct crew crew = { .pool = pool_over_nodes(0, true) };
	struct worker workers[2];
	pthread_t tuner;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		workers[i] = (struct worker){ .crew = &crew, .lcore = i, .seed = i };
		pthread_create(&workers[i].thread, NULL, get_and_put, &workers[i]);
	}
	pthread_create(&tuner, NULL, tune, &crew);
	pthread_join(tuner, NULL);
	for (i = 0; i < 2; i++) {
		pthread_join(workers[i].thread, NULL);
		print_message("lcore %u got %llu objects\n", i, (unsigned long long)workers[i].got);
		assert_true(workers[i].got > 0);
	}
	assert_int_equal(slab_pool_count(crew.pool), OBJECTS);
	/* Neither an object nor a magazine has been lost. */
	assert_int_equal(slab_pool_tune(crew.pool, SLAB_TUNABLE_DEPOT, DEPOT), 0);
	cycle_all(crew.pool);
	check_full(crew.pool, PER_NODE / MAGAZINE);
	pool_free(crew.pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_refusals),
		cmocka_unit_test(depot_lowered),
		cmocka_unit_test(depot_raised_again),
		cmocka_unit_test(partial_magazine_stays_partial),
		cmocka_unit_test(min_partial_has_effect),
		cmocka_unit_test(tuned_while_others_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
