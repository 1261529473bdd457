/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_depot.h"
#include "slab_lcore.h"

static bool
pool_has_caches(const struct slab_conf *conf)
{
	struct slab_pool *pool = pool_make(conf);
	bool caches = pool->lcore_caches;

	pool_free(pool);
	return caches;
}

/* Lcore 1 rests with everything in its cache; other threads are played by this one. */
static struct slab_pool *
all_in_cache_of_1(void **objs, uint32_t n)
{
	struct slab_conf conf = plain_conf(n);
	struct slab_range all = { .base = MADE_UP, .count = n };
	struct slab_pool *pool;

	conf.magazine = n;
	conf.depot = 0;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	assert_int_equal(slab_get(pool, 1, objs, n), 0);
	slab_put(pool, 1, objs, n);
	assert_int_equal(slab_slab_at(pool, 0)->word, 0);
	return pool;
}

static void
what_rests_elsewhere_is_taken(void **state)
{
	void *objs[100];
	struct slab_pool *pool = all_in_cache_of_1(objs, 100);

	(void)state;
	assert_int_equal(drain(pool, 0, objs, 100, 30), 100);
	slab_put(pool, 0, objs, 100);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, 100, 7), 100);
	pool_free(pool);
}

/* One take moves a slab's worth at most. */
static void
a_take_is_bounded(void **state)
{
	void *objs[200], *one;
	struct slab_pool *pool = all_in_cache_of_1(objs, 200);

	(void)state;
	assert_int_equal(slab_get(pool, 0, &one, 1), 0);
	assert_int_equal(slab_load_relaxed(&slab_lcore_at(pool, 1)->len), 200 - SLAB_OBJECTS);
	assert_int_equal(slab_pool_count(pool), 199);
	pool_free(pool);
}

/* An lcore that stands inside an operation is passed over, and the claim is given back. */
static void
busy_is_passed_over(void **state)
{
	void *objs[10], *one;
	struct slab_pool *pool = all_in_cache_of_1(objs, 10);
	struct slab_lcore *lc = slab_lcore_at(pool, 1);

	(void)state;
	assert_int_equal(slab_lcore_enter_owner(lc), SLAB_SHUT_NOT);
	assert_int_not_equal(slab_get(pool, 0, &one, 1), 0);
	slab_lcore_leave_owner(lc);
	assert_int_equal(slab_load_relaxed(&lc->shut), SLAB_SHUT_NOT);
	assert_int_equal(slab_get(pool, 0, &one, 1), 0);
	pool_free(pool);
}

/* While its cache is claimed an lcore gets and puts all the same, beside it. */
static void
shut_out_but_working(void **state)
{
	void *objs[20], *some[5];
	struct slab_conf conf = plain_conf(20);
	struct slab_range all = { .base = MADE_UP, .count = 20 };
	struct slab_pool *pool;
	struct slab_lcore *lc;

	(void)state;
	conf.magazine = 8;
	pool = pool_make(&conf);
	lc = slab_lcore_at(pool, 1);
	pool_add(pool, &all);
	assert_int_equal(slab_get(pool, 1, objs, 20), 0);
	slab_put(pool, 0, objs, 10);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_TAKEN);
	assert_int_equal(slab_get(pool, 1, some, 5), 0);
	slab_put(pool, 1, some, 5);
	slab_put(pool, 1, objs + 10, 10);
	assert_int_equal(slab_load_relaxed(&lc->len), 0);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_NOT);
	assert_int_equal(drain(pool, 1, objs, 20, 3), 20);
	pool_free(pool);
}

/* Slabs that an lcore took from its node at once are not lost to others. */
static void
own_slabs_are_taken(void **state)
{
	struct slab_conf conf = plain_conf(64 * 8);
	struct slab_range all = { .base = MADE_UP, .count = 64 * 8 };
	const struct slab_slab *first, *second;
	struct slab_cache *own;
	struct slab_pool *pool;
	void *objs[64 * 8];
	unsigned int i;

	(void)state;
	conf.magazine = 4;
	conf.depot = 0;
	conf.lcore_partial = 3;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 64 * 8), 0);
	for (i = 0; i < 64 * 8; i += 2)
		slab_put(pool, SLAB_NO_LCORE, objs + i, 1);
	assert_int_equal(slab_get(pool, 1, objs, 1), 0);
	own = slab_lcore_cache(pool, slab_lcore_at(pool, 1));
	first = slab_at(pool, slab_load_relaxed(&own->slabs));
	second = slab_at(pool, slab_load_relaxed(&first->link.next));
	assert_ptr_not_equal(first, pool);
	assert_ptr_not_equal(second, pool);
	assert_int_equal(slab_load_relaxed(&second->link.next), 0);
	assert_int_equal(slab_load_relaxed(&slab_node_at(pool, 0)->nr_partial), 8 - 3 + 1);
	assert_int_equal(slab_pool_count(pool), 32 * 8 - 1);
	assert_int_equal(drain(pool, 0, objs, 64 * 8, 16), 32 * 8 - 1);
	assert_int_equal(slab_load_relaxed(&own->slabs), 0);
	pool_free(pool);
}

/* Small pools have no caches, unless one asks for magazines. */
static void
small_pools_do_without(void **state)
{
	struct slab_conf conf = plain_conf(127);

	(void)state;
	assert_int_equal(conf.active_lcores, 2);
	assert_false(pool_has_caches(&conf));
	conf.magazine = 4;
	assert_true(pool_has_caches(&conf));
	conf.magazine = 0;
	conf.objects = 128;
	assert_true(pool_has_caches(&conf));
}

/* Lcores that never called have no cache. */
static void
opens_at_the_first_call(void **state)
{
	struct slab_pool *pool = plain_pool(1000);
	void *one;

	(void)state;
	assert_int_equal(slab_load_relaxed(&pool->lcores_open), 0);
	assert_int_equal(slab_get(pool, 2, &one, 1), 0);
	assert_int_equal(slab_load_relaxed(&pool->lcores_open), 3);
	assert_false(slab_lcore_has_cache(slab_lcore_at(pool, 0)));
	assert_true(slab_lcore_has_cache(slab_lcore_at(pool, 2)));
	slab_put(pool, 2, &one, 1);
	assert_int_equal(slab_pool_count(pool), 1000);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_rests_elsewhere_is_taken),
		cmocka_unit_test(a_take_is_bounded),
		cmocka_unit_test(busy_is_passed_over),
		cmocka_unit_test(shut_out_but_working),
		cmocka_unit_test(own_slabs_are_taken),
		cmocka_unit_test(small_pools_do_without),
		cmocka_unit_test(opens_at_the_first_call),
	};

	if (!slab_lcore_cache_possible()) {
		print_message("skipped: this kernel lacks membarrier(2), so lcores have no caches\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
