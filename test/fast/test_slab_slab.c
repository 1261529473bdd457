/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_chunk.h"
#include "slab_slab.h"

/* I1: the word of a slab is not 0 if and only if the slab is on its node's list. */
static void
check_words_and_list(struct slab_pool *pool)
{
	uint32_t listed[64], n = 0, partial = 0, i;
	struct slab_node *node = slab_node_at(pool, 0);
	slab_atomic64 *lists[64], *all[] = { &node->slabs[0], &node->slabs[1], &node->whole };

	for (i = 0; i < 3; i++)
		while (n < 64 && (listed[n] = slab_list_pop(pool, all[i])) != 0)
			lists[n++] = all[i];
	for (i = 0; i < n; i++)
		assert_int_not_equal(((struct slab_slab *)slab_at(pool, listed[i]))->word, 0);
	for (i = 0; i < pool->nr_slabs; i++)
		partial += slab_slab_at(pool, i)->word != 0;
	assert_int_equal(n, partial);
	assert_int_equal(n, slab_load_relaxed(&node->nr_partial));
	while (n-- > 0)
		slab_list_push(pool, lists[n], listed[n]);
}

/* The last slab has 8 objects only: it is free in part from the start, and so comes first. */
static void
slabs_come_in_order(void **state)
{
	static const unsigned int order[] = { 3, 0, 1, 2 };
	struct slab_pool *pool = plain_pool(200);
	void *objs[SLAB_OBJECTS];
	unsigned int i, k, n;

	(void)state;
	check_words_and_list(pool);
	for (k = 0; k < 4; k++) {
		n = order[k] < 3 ? 64 : 8;
		assert_int_equal(slab_slabs_get(pool, 0, objs), n);
		for (i = 0; i < n; i++)
			assert_ptr_equal(objs[i], MADE_UP + 64 * (64 * order[k] + i));
		check_words_and_list(pool);
	}
	assert_int_equal(slab_slabs_get(pool, 0, objs), 0);
	pool_free(pool);
}

/* A slab that gets its first free object comes first. */
static void
last_freed_slab_first(void **state)
{
	struct slab_pool *pool = plain_pool(64 * 8);
	void *objs[64 * 8], *one;
	unsigned int i;

	(void)state;
	for (i = 0; i < 8; i++)
		slab_slabs_get(pool, 0, objs + 64 * i);
	one = MADE_UP + 64 * 100;
	slab_slabs_put(pool, &one, 1);
	one = MADE_UP + 64 * 300;
	slab_slabs_put(pool, &one, 1);
	check_words_and_list(pool);
	assert_int_equal(slab_slabs_get(pool, 0, objs), 1);
	assert_ptr_equal(objs[0], MADE_UP + 64 * 300);
	assert_int_equal(slab_slabs_get(pool, 0, objs), 1);
	assert_ptr_equal(objs[0], MADE_UP + 64 * 100);
	pool_free(pool);
}

/* Frees that jump between more slabs than a burst remembers. */
static void
scattered_put(void **state)
{
	enum { N = 64 * 40 };
	struct slab_pool *pool = plain_pool(N);
	void *objs[N], *shuffled[N];
	unsigned int i;

	(void)state;
	for (i = 0; i < N; i += 64)
		assert_int_equal(slab_slabs_get(pool, 0, objs + i), 64);
	for (i = 0; i < N; i++)
		shuffled[i] = objs[i * 1597 % N];
	slab_slabs_put(pool, shuffled, N);
	check_words_and_list(pool);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(slab_pool_faults(pool), 0);
	pool_free(pool);
}

/* Faults are told and dropped; what is right in the same burst is put. */
static void
double_and_foreign(void **state)
{
	struct slab_pool *pool = plain_pool(192);
	void *objs[64], *burst[5];

	(void)state;
	slab_slabs_get(pool, 0, objs);
	burst[0] = objs[0];
	burst[1] = objs[0];                /* twice in one burst */
	burst[2] = MADE_UP + 64 * 70;      /* never got */
	burst[3] = (char *)objs[1] + 8;    /* inside an object */
	burst[4] = objs[2];
	slab_slabs_put(pool, burst, 5);
	assert_int_equal(faults[SLAB_FAULT_DOUBLE], 2);
	assert_int_equal(faults[SLAB_FAULT_INSIDE], 1);
	assert_int_equal(slab_pool_faults(pool), 3);
	assert_int_equal(slab_pool_count(pool), 128 + 2);
	slab_slabs_put(pool, burst, 1);    /* twice in two bursts */
	assert_int_equal(faults[SLAB_FAULT_DOUBLE], 3);
	check_words_and_list(pool);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slabs_come_in_order),
		cmocka_unit_test(last_freed_slab_first),
		cmocka_unit_test(scattered_put),
		cmocka_unit_test_setup(double_and_foreign, faults_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
