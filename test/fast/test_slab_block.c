/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>

#include "fixture.h"
#include "slab_chunk.h"

#define N 4096
#define BLOCKS (N / SLAB_OBJECTS)

/* Objects of blocks, each counted: they lie in rows, and none is in two. */
static void
check_rows(void *const *first, unsigned int n)
{
	static bool seen[2 * N];
	unsigned int i, k, at;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < n; i++)
		for (k = 0; k < SLAB_OBJECTS; k++) {
			at = (unsigned int)(((char *)first[i] - MADE_UP) / 64) + k;
			assert_true(at < 2 * N && !seen[at]);
			seen[at] = true;
		}
}

/* One by one, each block from its last object on. */
static void
put_blocks(struct slab_pool *pool, uint32_t lcore, void *const *first, unsigned int n)
{
	unsigned int i, k;
	void *obj;

	for (k = SLAB_OBJECTS; k-- > 0;)
		for (i = 0; i < n; i++) {
			obj = (char *)first[i] + 64 * k;
			slab_put(pool, lcore, &obj, 1);
		}
}

static void
all_of_a_new_pool(void **state)
{
	struct slab_pool *pool = plain_pool(N + 63);
	void *first[BLOCKS + 1];

	(void)state;
	assert_true(slab_pool_has_blocks(pool));
	assert_int_equal(slab_get_blocks(pool, 0, first, BLOCKS + 1), -ENOBUFS);
	assert_int_equal(slab_pool_count(pool), N + 63);
	assert_int_equal(slab_get_blocks(pool, 0, first, BLOCKS), 0);
	check_rows(first, BLOCKS);
	assert_int_equal(slab_pool_count(pool), 63);
	put_blocks(pool, 1, first, BLOCKS);
	assert_int_equal(slab_pool_count(pool), N + 63);
	assert_int_equal(slab_pool_faults(pool), 0);
	pool_free(pool);
}

/* Random gets and puts as several lcores and threads, then everything is put. */
static void
churn(struct slab_pool *pool)
{
	static void *held[N];
	unsigned int n = 0, k, i, swap;
	void *obj;

	for (i = 0; i < 20000; i++) {
		k = 1 + (unsigned int)rand() % 200;
		if (rand() % 2 == 0 && n + k <= N && slab_get(pool, (uint32_t)rand() % 5, held + n,
				k) == 0)
			n += k;
		for (k = 0; k < n && rand() % 4 != 0; k++) {
			swap = (unsigned int)rand() % n;
			obj = held[swap];
			held[swap] = held[--n];
			slab_put(pool, (uint32_t)rand() % 5, &obj, 1);
		}
	}
	slab_put(pool, 2, held, n);
}

static void
all_after_a_churn(void **state)
{
	struct slab_pool *pool = plain_pool(N);
	void *first[BLOCKS];
	unsigned int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		churn(pool);
		assert_int_equal(slab_get_blocks(pool, i % 2 != 0 ? SLAB_NO_LCORE : 1, first,
			BLOCKS), 0);
		check_rows(first, BLOCKS);
		assert_int_equal(slab_pool_count(pool), 0);
		put_blocks(pool, i % 4, first, BLOCKS);
	}
	pool_free(pool);
}

/* A block crosses no page: of 100 objects in each, one slab in three does. */
static void
none_across_a_page(void **state)
{
	struct slab_conf conf = plain_conf(N);
	struct slab_range paged = { .base = MADE_UP, .count = N, .per_page = 100, .page = 8192 };
	struct slab_pool *pool = pool_make(&conf);
	unsigned int i, n = 0, blocks = 0;
	void *first[BLOCKS];

	(void)state;
	pool_add(pool, &paged);
	for (i = 0; i < BLOCKS; i++)
		blocks += i * 64 / 100 == (i * 64 + 63) / 100;
	while (n < BLOCKS && slab_get_blocks(pool, 0, first + n, 1) == 0)
		n++;
	assert_int_equal(n, blocks);
	check_rows(first, n);
	for (i = 0; i < n; i++)
		assert_int_equal(((char *)first[i] - MADE_UP) / 8192,
			((char *)first[i] + 63 * 64 - MADE_UP) / 8192);
	put_blocks(pool, 0, first, n);
	assert_int_equal(slab_pool_count(pool), N);
	pool_free(pool);
}

static void
pages_too_small(void **state)
{
	struct slab_conf conf = plain_conf(N);
	struct slab_range paged = { .base = MADE_UP, .count = N, .per_page = 63, .page = 4096 };
	struct slab_pool *pool = pool_make(&conf);
	void *first;

	(void)state;
	assert_false(slab_pool_has_blocks(pool));
	pool_add(pool, &paged);
	assert_false(slab_pool_has_blocks(pool));
	assert_int_equal(slab_get_blocks(pool, 0, &first, 1), -ENOBUFS);
	assert_int_equal(slab_pool_count(pool), N);
	pool_free(pool);
}

/* Single objects come from slabs that are free in part, so that blocks last. */
static void
partial_ones_first(void **state)
{
	struct slab_conf conf = plain_conf(N);
	struct slab_pool *pool;
	void *objs[64 * 10], *first[BLOCKS];
	unsigned int i;

	(void)state;
	conf.lcore_cache = false;
	conf.depot = 0;
	pool = pool_make(&conf);
	pool_add(pool, &(struct slab_range){ .base = MADE_UP, .count = N });
	assert_int_equal(slab_get(pool, 0, objs, 64 * 10), 0);
	for (i = 0; i < 10; i++)
		slab_put(pool, 0, objs + 64 * i, 32);
	for (i = 0; i < 10; i++)
		assert_int_equal(slab_get(pool, 0, objs + 64 * i, 32), 0);
	assert_int_equal(slab_get_blocks(pool, 0, first, BLOCKS - 10), 0);
	assert_int_equal(slab_get_blocks(pool, 0, first, 1), -ENOBUFS);
	pool_free(pool);
}

/* An object of each slab is out: no block, and nothing is lost over it. */
static void
all_or_nothing(void **state)
{
	struct slab_pool *pool = plain_pool(N);
	static void *objs[N];
	void *first[BLOCKS];
	unsigned int i;

	(void)state;
	assert_int_equal(slab_get(pool, 0, objs, N), 0);
	for (i = 0; i < N; i++)
		if (((char *)objs[i] - MADE_UP) / 64 % 64 != 7)
			slab_put(pool, i % 4, objs + i, 1);
	assert_int_equal(slab_get_blocks(pool, 0, first, 1), -ENOBUFS);
	assert_int_equal(slab_pool_count(pool), N - BLOCKS);
	for (i = 0; i < N; i++)
		if (((char *)objs[i] - MADE_UP) / 64 % 64 == 7)
			slab_put(pool, 0, objs + i, 1);
	assert_int_equal(slab_get_blocks(pool, 0, first, BLOCKS), 0);
	pool_free(pool);
}

/* Blocks and single objects at once, by two lcores and two threads that are none. */
struct player {
	pthread_t thread;
	struct slab_pool *pool;
	uint32_t lcore;
	unsigned int blocks;
};

static void *
play(void *arg)
{
	struct player *p = arg;
	void *first[2], *objs[100];
	unsigned int i;

	for (i = 0; i < 5000; i++) {
		if (i % 16 == p->lcore % 16 && slab_get_blocks(p->pool, p->lcore, first, 2) == 0) {
			p->blocks += 2;
			put_blocks(p->pool, p->lcore, first, 2);
		}
		if (slab_get(p->pool, p->lcore, objs, 1 + i % 100) == 0)
			slab_put(p->pool, p->lcore, objs, 1 + i % 100);
	}
	return NULL;
}

static void
at_once(void **state)
{
	struct player players[4] = { { .lcore = 0 }, { .lcore = 1 }, { .lcore = SLAB_NO_LCORE },
		{ .lcore = SLAB_NO_LCORE } };
	struct slab_pool *pool = plain_pool(N);
	void *first[BLOCKS];
	unsigned int i, blocks = 0;

	(void)state;
	for (i = 0; i < 4; i++) {
		players[i].pool = pool;
		assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(players[i].thread, NULL);
		blocks += players[i].blocks;
	}
	print_message("%u blocks\n", blocks);
	assert_true(blocks > 0);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(slab_pool_faults(pool), 0);
	assert_int_equal(slab_get_blocks(pool, 3, first, BLOCKS), 0);
	check_rows(first, BLOCKS);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_new_pool),
		cmocka_unit_test(all_after_a_churn),
		cmocka_unit_test(none_across_a_page),
		cmocka_unit_test(pages_too_small),
		cmocka_unit_test(partial_ones_first),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
