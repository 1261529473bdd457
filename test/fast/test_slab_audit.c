/* SPDX-License-Identifier: BSD-3-Clause */

#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "slab_depot.h"
#include "slab_slab.h"

/* Where each object is, in pools of which that is known. */

#define N 1024
#define MAGAZINE 64

struct seen {
	uint32_t n[SLAB_PLACES][8];
	uint32_t nr_out;
	void *out[N];
	struct slab_getter last[N];
};

static struct seen seen;

static void
see_place(void *arg, enum slab_place place, uint32_t which, uint32_t n)
{
	struct seen *s = arg;

	assert_true(which < 8);
	assert_int_equal(s->n[place][which], 0);
	assert_int_not_equal(n, 0);
	s->n[place][which] = n;
}

static void
see_out(void *arg, void *obj, const struct slab_getter *last)
{
	struct seen *s = arg;

	s->out[s->nr_out] = obj;
	s->last[s->nr_out++] = *last;
}

static struct slab_audit
audit(const struct slab_pool *pool)
{
	struct slab_audit sum;
	uint32_t free = 0, i, k, of_place;

	seen = (struct seen){ 0 };
	assert_int_equal(slab_pool_audit(pool, &sum, see_place, see_out, &seen), 0);
	for (i = 0; i < SLAB_PLACES; i++) {
		for (k = of_place = 0; k < 8; k++)
			of_place += seen.n[i][k];
		assert_int_equal(of_place, sum.free[i]);
		free += of_place;
	}
	assert_int_equal(seen.nr_out, sum.out);
	assert_int_equal(sum.objects, slab_pool_added(pool));
	assert_int_equal(free + sum.out + sum.lost, sum.objects);
	return sum;
}

static struct slab_pool *
make(bool check, bool track)
{
	static const uint8_t lcore_node[] = { 0, 0, 1, 1 };
	struct slab_range half = { .base = MADE_UP, .count = N / 2 };
	struct slab_conf conf = plain_conf(N);
	struct slab_pool *pool;

	conf.magazine = MAGAZINE;
	conf.nodes = 2;
	conf.lcore_node = lcore_node;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.thread_cache = SLAB_THREADS_LOCK;
	conf.check = check;
	conf.track = track;
	pool = pool_make(&conf);
	pool_add(pool, &half);
	half.base = MADE_UP + N * 64;
	half.node = 1;
	pool_add(pool, &half);
	return pool;
}

static void
each_place(void **state)
{
	struct slab_pool *pool;
	struct slab_audit sum;
	void *objs[N], *few[4];
	bool check;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		check = i == 1;
		pool = make(check, false);
		sum = audit(pool);
		assert_int_equal(sum.free[SLAB_PLACE_SLABS], N);
		assert_int_equal(seen.n[SLAB_PLACE_SLABS][1], N / 2);
		assert_int_equal(slab_get(pool, 0, objs, 300), 0);
		sum = audit(pool);
		assert_true(sum.out >= 300);
		assert_int_equal(sum.out, check ? 300 : N - slab_pool_count(pool));
		assert_null(seen.last[0].caller);
		assert_int_equal(seen.last[0].lcore, SLAB_NO_LCORE);
		qsort(objs, 300, sizeof(*objs), by_address);
		qsort(seen.out, seen.nr_out, sizeof(*objs), by_address);
		assert_memory_equal(objs, seen.out, 300 * sizeof(*objs));
		slab_put(pool, 0, objs, 128);                    /* past the cache */
		slab_put(pool, 0, objs + 128, 40);
		assert_int_equal(slab_get(pool, 2, few, 4), 0);
		slab_put(pool, 0, few, 4);                       /* aliens */
		slab_put(pool, SLAB_NO_LCORE, objs + 168, 30);
		sum = audit(pool);
		assert_int_equal(seen.n[SLAB_PLACE_DEPOT][0], 128);
		if (slab_lcore_cache_possible())
			assert_true(seen.n[SLAB_PLACE_LCORE][0] >= 44);
		assert_true(sum.free[SLAB_PLACE_CPU] >= 30);
		assert_int_equal(sum.out, 102);
		slab_put(pool, 0, objs + 198, 102);
		sum = audit(pool);
		assert_int_equal(sum.out + sum.twice + sum.lost, 0);
		assert_int_equal(slab_pool_audit(pool, &sum, NULL, NULL, NULL), 0);
		pool_free(pool);
	}
}

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Who got it; and with a block. */
static void
getters(void **state)
{
	uint64_t before = now() - 20 * 1000000, i;
	struct slab_pool *pool = make(true, true);
	void *obj[3], *block;

	(void)state;
	assert_int_equal(slab_get(pool, 1, &obj[0], 1), 0);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, &obj[1], 1), 0);
	assert_int_equal(slab_get_blocks(pool, 3, &block, 1), 0);
	audit(pool);
	assert_int_equal(seen.nr_out, 2 + 64);
	for (i = 0; i < seen.nr_out; i++) {
		assert_int_equal(seen.last[i].process, getpid());
		assert_true(seen.last[i].when >= before && seen.last[i].when <= now());
		assert_true(seen.last[i].caller > (uintptr_t)getters &&
			seen.last[i].caller < (uintptr_t)getters + 4000);
		assert_int_equal(seen.last[i].lcore, seen.out[i] == obj[0] ? 1 :
			seen.out[i] == obj[1] ? SLAB_NO_LCORE : 3);
	}
	pool_free(pool);
}

/* As after a kill: an object that is free by its state, and nowhere. */
static void
lost(void **state)
{
	struct slab_pool *pool = make(true, false);
	void *objs[SLAB_OBJECTS];
	struct slab_audit sum;

	(void)state;
	assert_int_equal(slab_slabs_get(pool, 0, objs), 64);
	sum = audit(pool);
	assert_int_equal(sum.lost, 64);
	assert_int_equal(sum.out, 0);
	pool_free(pool);
}

static void
twice(void **state)
{
	struct slab_pool *pool = make(false, false);
	struct slab_audit sum;
	void *objs[128];

	(void)state;
	assert_int_equal(slab_get(pool, 0, objs, 128), 0);
	slab_put(pool, 0, objs, 64);
	slab_slabs_put(pool, objs, 10);
	sum = audit(pool);
	assert_int_equal(sum.twice, 10);
	assert_int_equal(sum.out, 64);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_place),
		cmocka_unit_test(getters),
		cmocka_unit_test(lost),
		cmocka_unit_test(twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
