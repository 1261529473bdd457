/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <sched.h>

#include "fixture.h"
#include "slab_lcore.h"
#include "slab_node.h"

/*
 * Pools over made-up nodes. Node i has its objects at MADE_UP + i GiB, or in pieces that lie between
 * those of others; lcore i is on node i, modulo the number of nodes.
 */

#define LCORES 16
#define PER_NODE 4096
#define GIB (UINT64_C(1) << 30)

static const unsigned int topologies[] = { 1, 2, 4, 8 };

static unsigned int
node_of(const void *obj)
{
	return (unsigned int)(((const char *)obj - MADE_UP) / GIB);
}

static struct slab_pool *
pool_over(unsigned int nodes, struct slab_conf conf)
{
	uint8_t lcore_node[LCORES];
	struct slab_pool *pool;
	unsigned int i;

	for (i = 0; i < LCORES; i++)
		lcore_node[i] = (uint8_t)(i % nodes);
	conf.objects = nodes * PER_NODE;
	conf.lcores = conf.active_lcores = LCORES;
	conf.nodes = nodes;
	conf.lcore_node = lcore_node;
	pool = pool_make(&conf);
	for (i = 0; i < nodes; i++)
		assert_int_equal(pool_add(pool, &(struct slab_range){
			.base = MADE_UP + i * GIB, .count = PER_NODE, .node = i }), PER_NODE);
	return pool;
}

static struct slab_conf
with_stats(uint32_t magazine)
{
	struct slab_conf conf = plain_conf(0);

	conf.magazine = magazine;
	conf.stats = true;
	return conf;
}

static uint64_t
node_gets(const struct slab_pool *pool)
{
	struct slab_stats s;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i <= LCORES; i++) {
		slab_pool_stats(pool, i, &s);
		sum += s.node_gets;
	}
	return sum;
}

/* Run to completion: each lcore gets what its node has, as long as that lasts. */
static void
gets_from_its_own_node(void **state)
{
	unsigned int t, i, k, lcore, n;
	struct slab_pool *pool;
	void *objs[64];

	(void)state;
	for (t = 0; t < 4; t++) {
		pool = pool_over(topologies[t], with_stats(32));
		for (i = 0; i < 20000; i++) {
			lcore = (unsigned int)rand() % LCORES;
			n = 1 + (unsigned int)rand() % 64;
			assert_int_equal(slab_get(pool, lcore, objs, n), 0);
			for (k = 0; k < n; k++)
				assert_int_equal(node_of(objs[k]), lcore % topologies[t]);
			slab_put(pool, lcore, objs, n);
		}
		assert_int_equal(node_gets(pool), 0);
		assert_int_equal(slab_pool_count(pool), topologies[t] * PER_NODE);
		pool_free(pool);
	}
}

/* A pipeline across nodes: what lcore 1 frees is back on node 0 but for one magazine's worth. */
static void
aliens_go_home(void **state)
{
	struct slab_pool *pool = pool_over(2, with_stats(64));
	struct slab_lcore *putter = slab_lcore_at(pool, 1);
	struct slab_stats s;
	void *objs[32];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 10000; i++) {
		assert_int_equal(slab_get(pool, 0, objs, 32), 0);
		for (k = 0; k < 32; k++)
			assert_int_equal(node_of(objs[k]), 0);
		slab_put(pool, 1, objs, 32);
		assert_true(slab_load_relaxed(&putter->aliens) <= 64);
		assert_int_equal(slab_load_relaxed(&putter->len), 0);
	}
	slab_pool_stats(pool, 1, &s);
	assert_true(s.node_puts >= 10000 / 2 - 1 && s.node_puts <= 10000 / 2 + 1);
	assert_int_equal(node_gets(pool), 0);
	assert_int_equal(slab_pool_count(pool), 2 * PER_NODE);
	pool_free(pool);
}

static unsigned int
free_on(const struct slab_pool *pool, unsigned int node)
{
	const struct slab_node *n = slab_node_at(pool, node);

	return slab_load_relaxed(&n->nr_partial) * SLAB_OBJECTS +
		slab_load_relaxed(&n->nr_full) * pool->magazine;
}

/* Where the objects rest that others want: in slabs at first, in magazines once they were used. */
static void
others_feed(struct slab_pool *pool)
{
	static void *objs[3 * PER_NODE];
	unsigned int reserve = slab_load_relaxed(&pool->min_partial) * SLAB_OBJECTS, n;

	for (n = 0; n < 3 * PER_NODE; n += 16) {
		if (n > PER_NODE)
			assert_true(free_on(pool, 0) == 0);
		if (n <= PER_NODE)
			assert_true(free_on(pool, 1) + free_on(pool, 2) == 2 * PER_NODE);
		if (n < 3 * PER_NODE - 2 * reserve - 2 * SLAB_OBJECTS)
			assert_true(free_on(pool, 1) + 64 >= reserve &&
				free_on(pool, 2) + 64 >= reserve);
		assert_int_equal(slab_get(pool, 0, objs + n, 16), 0);
	}
	assert_int_equal(slab_get(pool, 0, objs, 1), -ENOBUFS);
	slab_put(pool, 0, objs, 3 * PER_NODE);
	assert_int_equal(slab_pool_count(pool), 3 * PER_NODE);
}

static void
others_feed_down_to_min_partial(void **state)
{
	struct slab_conf conf = with_stats(64);
	struct slab_pool *pool;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		conf.min_partial = 7 * i;
		conf.lcore_cache = false;
		pool = pool_over(3, conf);
		others_feed(pool);
		assert_true(free_on(pool, 1) >= PER_NODE - 64 && free_on(pool, 2) >= PER_NODE - 64);
		others_feed(pool);
		pool_free(pool);
	}
}

/* Chunks of three nodes in turns, one of a node that the pool does not know. */
static void
chunks_between_one_another(void **state)
{
	enum { N = 3 * 512 };
	struct slab_conf conf = with_stats(16);
	uint8_t lcore_node[4] = { 0, 1, 2, 77 };
	struct slab_pool *pool;
	void *objs[N];
	uint32_t i, node;

	(void)state;
	conf.objects = N;
	conf.nodes = 3;
	conf.lcore_node = lcore_node;
	pool = pool_make(&conf);
	for (i = 0; i < N / 64; i++)
		pool_add(pool, &(struct slab_range){ .base = MADE_UP + i * 8192, .count = 64,
			.node = i % 3 == 0 ? 99 : i % 3 });
	assert_int_equal(pool->mixed, 1);
	for (node = 0; node < 3; node++) {
		assert_int_equal(slab_get(pool, node, objs, 256), 0);
		for (i = 0; i < 256; i++)
			assert_int_equal((unsigned int)((char *)objs[i] - MADE_UP) / 8192 % 3, node);
		slab_put(pool, node, objs, 256);
	}
	assert_int_equal(slab_lcore_at(pool, 3)->node, 0);
	assert_int_equal(drain(pool, 3, objs, N, 32), N);
	slab_put(pool, 3, objs, N);
	for (node = 0; node < 3; node++)
		assert_int_equal(slab_node_of(pool, MADE_UP + node * 8192 + 64, 2 - node), node);
	pool_free(pool);
}

/* A thread that is no lcore is of the node where it runs, by the operating system's number. */
static void
threads_by_their_cpu(void **state)
{
	struct slab_conf conf = with_stats(32);
	uint8_t numbers[2];
	struct slab_pool *pool;
	unsigned int here, i;
	void *objs[64];

	(void)state;
	assert_int_equal(getcpu(NULL, &here), 0);
	for (i = 0; i < 2; i++) {
		numbers[i] = (uint8_t)here;
		numbers[1 - i] = (uint8_t)(here + 1);
		conf.node_number = numbers;
		pool = pool_over(2, conf);
		assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 64), 0);
		assert_int_equal(node_of(objs[63]), i);
		slab_put(pool, SLAB_NO_LCORE, objs, 64);
		assert_int_equal(free_on(pool, i), PER_NODE);
		/* So is an lcore whose node was not known. */
		slab_lcore_at(pool, 1 - i)->node = SLAB_NODE_HERE;
		assert_int_equal(slab_get(pool, 1 - i, objs, 1), 0);
		assert_int_equal(node_of(objs[0]), i);
		slab_put(pool, 1 - i, objs, 1);
		pool_free(pool);
	}
}

/* Whatever came before, one lcore or thread gets all, and all is counted. */
static void
random_histories(void **state)
{
	static void *held[LCORES + 1][256], *all[8 * PER_NODE];
	unsigned int out[LCORES + 1] = { 0 }, t, i, who, to, n;
	struct slab_pool *pool;

	(void)state;
	for (t = 0; t < 4; t++) {
		pool = pool_over(topologies[t], with_stats(t % 2 != 0 ? 0 : 48));
		for (i = 0; i < 50000; i++) {
			who = (unsigned int)rand() % (LCORES + 1);
			to = (unsigned int)rand() % (LCORES + 1);
			n = 1 + (unsigned int)rand() % 100;
			if (out[to] + n <= 256 && slab_get(pool, who, held[to] + out[to], n) == 0)
				out[to] += n;
			n = n < out[who] ? n : out[who];
			out[who] -= n;
			slab_put(pool, who, held[who] + out[who], n);
		}
		for (who = 0; who <= LCORES; out[who++] = 0)
			slab_put(pool, who, held[who], out[who]);
		assert_int_equal(slab_pool_count(pool), topologies[t] * PER_NODE);
		assert_int_equal(drain(pool, t, all, 8 * PER_NODE, 32), topologies[t] * PER_NODE);
		assert_int_equal(slab_pool_count(pool), 0);
		pool_free(pool);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gets_from_its_own_node),
		cmocka_unit_test(aliens_go_home),
		cmocka_unit_test(others_feed_down_to_min_partial),
		cmocka_unit_test(chunks_between_one_another),
		cmocka_unit_test(threads_by_their_cpu),
		cmocka_unit_test(random_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
