/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_chunk.h"
#include "slab_slab.h"

/* Every object has a number of its own, and the number leads back to it. */
static void
check_numbers(const struct slab_pool *pool, const struct slab_range *range, uint32_t stride,
	uint32_t first)
{
	void *obj, *back;
	uint32_t i, number;

	for (i = 0; i < range->count; i++) {
		obj = slab_range_object(range, stride, i);
		number = slab_chunk_number(pool, obj);
		assert_int_equal(number, first + i);
		assert_int_equal(slab_chunk_expand(pool, number / SLAB_OBJECTS,
			UINT64_C(1) << number % SLAB_OBJECTS, &back), 1);
		assert_ptr_equal(back, obj);
	}
}

static void
whole_and_paged(void **state)
{
	struct slab_conf conf = plain_conf(10000);
	struct slab_range plan[2];
	struct slab_pool *pool;
	unsigned int n;

	(void)state;
	conf.stride = 1000;
	conf.align = 8;
	pool = pool_make(&conf);
	n = slab_range_plan(plan, MADE_UP + 3096, 4096 * 700 + 1, 1000, 24, 4096, 10000);
	assert_int_equal(n, 2);
	assert_int_equal(plan[0].count, 1);
	assert_int_equal(plan[1].count, 4 * 699 + 3);
	assert_int_equal(pool_add(pool, &plan[0]), 1);
	assert_int_equal(pool_add(pool, &plan[1]), plan[1].count);
	check_numbers(pool, &plan[0], 1000, 0);
	check_numbers(pool, &plan[1], 1000, 1);
	pool_free(pool);
}

static void
objects_stay_within_pages(void **state)
{
	static const uint32_t strides[] = { 8, 64, 72, 1000, 2240, 4096 };
	struct slab_range plan[2];
	unsigned int s, n, k;
	uint32_t i;
	char *first;

	(void)state;
	for (s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		n = slab_range_plan(plan, MADE_UP + 128, 1 << 20, strides[s], 0, 4096, 1 << 20);
		for (k = 0; k < n; k++)
			for (i = 0; i < plan[k].count; i++) {
				first = slab_range_object(&plan[k], strides[s], i);
				assert_int_equal((uintptr_t)first / 4096,
					((uintptr_t)first + strides[s] - 1) / 4096);
				assert_true(first >= MADE_UP + 128);
				assert_true(first + strides[s] <= MADE_UP + 128 + (1 << 20));
			}
	}
}

static void
plans_that_fit_nothing(void **state)
{
	struct slab_range plan[2];

	(void)state;
	assert_int_equal(slab_range_plan(plan, MADE_UP, 63, 64, 0, 0, 10), 0);
	assert_int_equal(slab_range_plan(plan, MADE_UP, 0, 64, 0, 4096, 10), 0);
	assert_int_equal(slab_range_plan(plan, MADE_UP + 4000, 4191, 4096, 0, 4096, 10), 0);
	assert_int_equal(slab_range_plan(plan, MADE_UP, 4096, 64, 0, 4096, 0), 0);
	/* An object larger than a page may cross pages. */
	assert_int_equal(slab_range_plan(plan, MADE_UP + 64, 10000, 9280, 0, 4096, 10), 1);
	assert_int_equal(plan[0].count, 1);
	assert_int_equal(plan[0].per_page, 0);
}

/* What lies beside, between and inside objects is none. */
static void
strangers(void **state)
{
	struct slab_conf conf = plain_conf(100);
	struct slab_range paged = { .base = MADE_UP + 64, .count = 100, .per_page = 4,
		.page = 4096 };
	struct slab_pool *pool;

	(void)state;
	conf.stride = 960;
	pool = pool_make(&conf);
	assert_int_equal(slab_chunk_number(pool, MADE_UP), SLAB_NO_NUMBER);
	pool_add(pool, &paged);
	assert_int_equal(slab_chunk_number(pool, MADE_UP + 64), 0);
	assert_int_equal(slab_chunk_number(pool, MADE_UP), SLAB_NO_NUMBER);
	assert_int_equal(slab_chunk_number(pool, MADE_UP + 64 + 1), SLAB_NO_NUMBER);
	assert_int_equal(slab_chunk_number(pool, MADE_UP + 64 + 4 * 960), SLAB_NO_NUMBER);
	assert_int_equal(slab_chunk_number(pool, MADE_UP + 25 * 4096 + 64), SLAB_NO_NUMBER);
	assert_int_equal(slab_chunk_number(pool, MADE_UP + 24 * 4096 + 64 + 3 * 960), 99);
	assert_int_equal(slab_chunk_number(pool, NULL), SLAB_NO_NUMBER);
	assert_int_equal(slab_chunk_number(pool, (void *)UINTPTR_MAX), SLAB_NO_NUMBER);
	pool_free(pool);
}

/* Chunks that continue one another share a record: 500 pages one by one need one. */
static void
neighbours_merge(void **state)
{
	struct slab_conf conf = plain_conf(2000);
	struct slab_range page = { .count = 4, .per_page = 4, .page = 4096 };
	struct slab_pool *pool;
	uint32_t i;

	(void)state;
	conf.stride = 960;
	pool = pool_make(&conf);
	for (i = 0; i < 500; i++) {
		page.base = MADE_UP + 64 + 4096 * i;
		assert_int_equal(pool_add(pool, &page), 4);
	}
	assert_int_equal(slab_load_relaxed(&pool->nr_chunks), 1);
	page.base = MADE_UP + 64;
	page.count = 2000;
	check_numbers(pool, &page, 960, 0);
	pool_free(pool);
}

/* Thousands of chunks in no order: each is found again, and rooms are asked for and used. */
static void
many_chunks(void **state)
{
	enum { CHUNKS = 5000, EACH = 3 };
	struct slab_conf conf = plain_conf(CHUNKS * EACH);
	struct slab_pool *pool = pool_make(&conf);
	struct slab_range range = { .count = EACH };
	uint32_t i;

	(void)state;
	for (i = 0; i < CHUNKS; i++) {
		range.base = MADE_UP + UINT64_C(4096) * (i * UINT64_C(2654435761) % 1000003);
		assert_int_equal(pool_add(pool, &range), EACH);
		check_numbers(pool, &range, 64, EACH * i);
	}
	for (i = 0; i < CHUNKS; i++) {
		range.base = MADE_UP + UINT64_C(4096) * (i * UINT64_C(2654435761) % 1000003);
		check_numbers(pool, &range, 64, EACH * i);
		assert_int_equal(slab_chunk_number(pool, (char *)range.base + 64 * EACH),
			SLAB_NO_NUMBER);
	}
	assert_non_null(slab_pool_room(pool, 0));
	pool_free(pool);
}

/* Slabs do not mix the nodes of chunks, as long as there are slabs to spare. */
static void
slabs_keep_to_their_node(void **state)
{
	struct slab_conf conf = plain_conf(200);
	struct slab_range a = { .base = MADE_UP, .count = 70 };
	struct slab_range b = { .base = MADE_UP + (1 << 20), .count = 130, .node = 1 };
	struct slab_pool *pool;

	(void)state;
	conf.nodes = 2;
	pool = pool_make(&conf);
	pool_add(pool, &a);
	pool_add(pool, &b);
	assert_int_equal(slab_chunk_number(pool, b.base), 128);
	assert_int_equal(slab_load_relaxed(&slab_node_at(pool, 0)->nr_partial), 2);
	assert_int_equal(slab_load_relaxed(&slab_node_at(pool, 1)->nr_partial), 3);
	assert_int_equal(slab_pool_count(pool), 200);
	pool_free(pool);
}

static void
no_more_than_asked_for(void **state)
{
	struct slab_pool *pool = plain_pool(100);
	struct slab_range more = { .base = MADE_UP + 100 * 64, .count = 1 };
	struct slab_conf conf = plain_conf(100);

	(void)state;
	assert_int_equal(pool_add(pool, &more), 0);
	pool_free(pool);
	pool = pool_make(&conf);
	more.count = 101;
	assert_int_equal(pool_add(pool, &more), 100);
	assert_int_equal(slab_pool_added(pool), 100);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_and_paged),
		cmocka_unit_test(objects_stay_within_pages),
		cmocka_unit_test(plans_that_fit_nothing),
		cmocka_unit_test(strangers),
		cmocka_unit_test(neighbours_merge),
		cmocka_unit_test(many_chunks),
		cmocka_unit_test(slabs_keep_to_their_node),
		cmocka_unit_test(no_more_than_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
