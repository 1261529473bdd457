/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_depot.h"

static struct slab_pool *
depot_of(uint32_t magazines)
{
	struct slab_conf conf = plain_conf(1000);
	struct slab_range all = { .base = MADE_UP, .count = 1000 };
	struct slab_pool *pool;

	conf.magazine = 16;
	conf.depot = magazines;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	return pool;
}

static void
load(struct slab_pool *pool, uint32_t id, unsigned int n)
{
	void *objs[16];
	unsigned int i;

	for (i = 0; i < n; i++)
		objs[i] = MADE_UP + 64 * i;
	assert_int_equal(slab_magazine_push_owner(pool, id, objs, n, slab_base(pool)), n);
}

static void
holds_as_many_as_configured(void **state)
{
	struct slab_pool *pool = depot_of(5);
	uint32_t ids[5], i;

	(void)state;
	for (i = 0; i < 5; i++) {
		ids[i] = slab_depot_get_room(pool, 0);
		assert_int_not_equal(ids[i], 0);
	}
	assert_int_equal(slab_depot_get_room(pool, 0), 0);
	assert_int_equal(slab_depot_get_room(pool, 0), 0);
	for (i = 0; i < 5; i++)
		slab_depot_park(pool, 0, ids[i]);
	assert_int_equal(slab_depot_get_objects(pool, 0), 0);
	assert_int_equal(slab_depot_get_room(pool, 0), ids[4]);
	pool_free(pool);
}

/* Full magazines give objects, empty ones room, partial ones both and before the others (I3). */
static void
each_on_its_list(void **state)
{
	struct slab_pool *pool = depot_of(3);
	uint32_t full = slab_depot_get_room(pool, 0), partial = slab_depot_get_room(pool, 0);
	uint32_t empty = slab_depot_get_room(pool, 0);

	(void)state;
	load(pool, full, 16);
	load(pool, partial, 15);
	slab_depot_park(pool, 0, full);
	slab_depot_park(pool, 0, empty);
	assert_int_equal(slab_depot_get_objects(pool, 0), full);
	assert_int_equal(slab_depot_get_objects(pool, 0), 0);
	assert_int_equal(slab_depot_get_room(pool, 0), empty);
	assert_int_equal(slab_depot_get_room(pool, 0), 0);
	slab_depot_park(pool, 0, full);
	slab_depot_park(pool, 0, empty);
	slab_depot_park(pool, 0, partial);
	assert_int_equal(slab_depot_get_objects(pool, 0), partial);
	slab_depot_park(pool, 0, partial);
	assert_int_equal(slab_depot_get_room(pool, 0), partial);
	pool_free(pool);
}

static void
last_parked_first(void **state)
{
	struct slab_pool *pool = depot_of(4);
	uint32_t ids[4], i;

	(void)state;
	for (i = 0; i < 4; i++)
		ids[i] = slab_depot_get_room(pool, 0);
	for (i = 0; i < 4; i++) {
		load(pool, ids[i], 16);
		slab_depot_park(pool, 0, ids[i]);
	}
	for (i = 4; i-- > 0;)
		assert_int_equal(slab_depot_get_objects(pool, 0), ids[i]);
	pool_free(pool);
}

/* A magazine is as it was when one of the objects cannot be put. */
static void
no_code_no_change(void **state)
{
	struct slab_pool *pool = depot_of(1);
	uint32_t id = slab_depot_get_room(pool, 0);
	struct slab_magazine *m = slab_at(pool, id);
	void *bad[2] = { MADE_UP, MADE_UP + 1 };

	(void)state;
	load(pool, id, 3);
	assert_int_equal(slab_magazine_push_owner(pool, id, bad, 2, slab_base(pool)), -1);
	assert_int_equal(slab_load_relaxed(&m->len), 3);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_as_many_as_configured),
		cmocka_unit_test(each_on_its_list),
		cmocka_unit_test(last_parked_first),
		cmocka_unit_test(no_code_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
