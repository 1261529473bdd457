/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"

static const uint32_t object_counts[] = { 1, 2, 31, 32, 33, 63, 64, 65, 1000, 8191, 262144 };
static const uint32_t object_sizes[] = { 1, 32, 64, 128, 1000, 2176, 9216, 70000 };

#define DIM(a) (sizeof(a) / sizeof((a)[0]))

/* All that was added can be got, once; and again after it was put. */
static void
check_obtainable(const struct slab_conf *conf, uint32_t per_page)
{
	struct slab_range all = { .base = MADE_UP, .count = conf->objects, .per_page = per_page,
		.page = 1 << 21 };
	void **objs = calloc(conf->objects, sizeof(*objs));
	struct slab_pool *pool = pool_make(conf);
	unsigned int round;

	assert_non_null(objs);
	assert_int_equal(pool_add(pool, &all), conf->objects);
	for (round = 0; round < 2; round++) {
		assert_int_equal(slab_pool_count(pool), conf->objects);
		assert_int_equal(drain(pool, round, objs, conf->objects, 32), conf->objects);
		assert_int_equal(slab_pool_count(pool), 0);
		assert_ptr_equal(objs[0], MADE_UP);
		slab_put(pool, 1 - round, objs, conf->objects);
	}
	assert_int_equal(slab_pool_faults(pool), 0);
	pool_free(pool);
	free(objs);
}

static void
all_sizes_and_counts(void **state)
{
	struct slab_conf conf = plain_conf(1);
	unsigned int c, s, cache;

	(void)state;
	for (c = 0; c < DIM(object_counts); c++)
		for (s = 0; s < DIM(object_sizes); s++)
			for (cache = 0; cache < 2; cache++) {
				conf.objects = object_counts[c];
				conf.stride = object_sizes[s];
				conf.align = conf.stride & -conf.stride & 63 ?: 64;
				conf.lcore_cache = cache;
				check_obtainable(&conf, 0);
				check_obtainable(&conf, (1 << 21) / conf.stride);
			}
}

static void
all_bulks(void **state)
{
	enum { N = 5000, MOST = 2100 };
	static void *objs[N];
	struct slab_pool *pool = plain_pool(N);
	unsigned int n, lcore;

	(void)state;
	for (lcore = 0; lcore <= 4; lcore += 4)
		for (n = 0; n <= MOST; n++) {
			assert_int_equal(slab_get(pool, lcore, objs, n), 0);
			assert_int_equal(slab_pool_count(pool), N - n);
			slab_put(pool, lcore, objs, n);
		}
	assert_int_equal(drain(pool, 0, objs, N, 1), N);
	pool_free(pool);
}

/* A get that finds too few leaves all as it was. */
static void
all_or_nothing(void **state)
{
	struct slab_pool *pool = plain_pool(1000);
	void *objs[1100];
	unsigned int n;

	(void)state;
	for (n = 1001; n <= 1100; n++) {
		assert_int_equal(slab_get(pool, n % 5, objs, n), -ENOBUFS);
		assert_int_equal(slab_pool_count(pool), 1000);
	}
	assert_int_equal(slab_get(pool, 0, objs, 990), 0);
	assert_int_equal(slab_get(pool, 1, objs + 990, 11), -ENOBUFS);
	assert_int_equal(slab_get(pool, 1, objs + 990, 10), 0);
	assert_int_equal(slab_get(pool, 2, objs + 1000, 1), -ENOBUFS);
	pool_free(pool);
}

/* The last freed is the first reused: in the cache, through the depot, and out of slabs. */
static void
check_lifo(uint32_t depot, uint32_t lcore)
{
	enum { N = 4096, BURST = 16, BURSTS = 64 };
	struct slab_conf conf = plain_conf(N);
	struct slab_range all = { .base = MADE_UP, .count = N };
	struct slab_pool *pool;
	void *objs[BURSTS][BURST], *back[BURST];
	unsigned int i;

	conf.depot = depot;
	conf.magazine = BURST * 4;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	for (i = 0; i < BURSTS; i++)
		assert_int_equal(slab_get(pool, lcore, objs[i], BURST), 0);
	for (i = 0; i < BURSTS; i++)
		slab_put(pool, lcore, objs[i], BURST);
	for (i = BURSTS; i-- > 0;) {
		assert_int_equal(slab_get(pool, lcore, back, BURST), 0);
		qsort(back, BURST, sizeof(back[0]), by_address);
		qsort(objs[i], BURST, sizeof(back[0]), by_address);
		assert_memory_equal(back, objs[i], sizeof(back));
	}
	pool_free(pool);
}

static void
last_freed_first_reused(void **state)
{
	struct slab_pool *pool = plain_pool(1000);
	void *objs[50], *one;
	unsigned int i;

	(void)state;
	for (i = 0; i < 50; i++)
		assert_int_equal(slab_get(pool, 0, &objs[i], 1), 0);
	for (i = 0; i < 50; i++)
		slab_put(pool, 0, &objs[i], 1);
	for (i = 50; i-- > 0;) {
		assert_int_equal(slab_get(pool, 0, &one, 1), 0);
		assert_ptr_equal(one, objs[i]);
	}
	pool_free(pool);
	check_lifo(SLAB_AUTO, 0);
	check_lifo(SLAB_AUTO, SLAB_NO_LCORE);
}

/* With no depot at all, what the caches do not hold goes to slabs and comes back. */
static void
without_a_depot(void **state)
{
	struct slab_conf conf = plain_conf(3000);
	struct slab_range all = { .base = MADE_UP, .count = 3000 };
	struct slab_pool *pool;
	void *objs[3000];

	(void)state;
	conf.depot = 0;
	conf.magazine = 32;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	assert_int_equal(drain(pool, 0, objs, 3000, 7), 3000);
	slab_put(pool, 0, objs, 3000);
	assert_int_equal(slab_pool_count(pool), 3000);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, 3000, 100), 3000);
	slab_put(pool, SLAB_NO_LCORE, objs, 3000);
	assert_int_equal(drain(pool, 1, objs, 3000, 3000), 3000);
	pool_free(pool);
}

/* Objects out of the reach of 32-bit codes do without magazines, and are had all the same. */
static void
far_chunks(void **state)
{
	struct slab_conf conf = plain_conf(3000);
	struct slab_range near = { .base = MADE_UP, .count = 1000 };
	struct slab_range far = { .base = (char *)UINT64_C(0x7f0000000000), .count = 1000 };
	struct slab_range below = { .base = (char *)UINT64_C(0x10000), .count = 1000 };
	struct slab_pool *pool;
	void *objs[3000];
	unsigned int round;

	(void)state;
	conf.align = 8;
	conf.stride = 72;
	pool = pool_make(&conf);
	assert_int_equal(pool_add(pool, &near) + pool_add(pool, &far) + pool_add(pool, &below),
		3000);
	for (round = 0; round < 3; round++) {
		assert_int_equal(drain(pool, round, objs, 3000, 1 + 31 * round), 3000);
		slab_put(pool, round, objs, 3000);
		assert_int_equal(slab_pool_count(pool), 3000);
	}
	assert_int_equal(slab_pool_faults(pool), 0);
	pool_free(pool);
}

/* What lies out of reach or off the alignment is seen at once and dropped. */
static void
strangers_are_dropped(void **state)
{
	struct slab_pool *pool = plain_pool(100);
	void *objs[100], *bad;

	(void)state;
	assert_int_equal(slab_get(pool, 0, objs, 100), 0);
	bad = (char *)objs[3] + 8;
	slab_put(pool, 0, &bad, 1);
	bad = (void *)UINT64_C(0x7f0000000000);
	slab_put(pool, 0, &bad, 1);
	bad = (void *)UINTPTR_MAX;
	slab_put(pool, SLAB_NO_LCORE, &bad, 1);
	assert_int_equal(faults[SLAB_FAULT_INSIDE], 1);
	assert_int_equal(faults[SLAB_FAULT_FOREIGN], 2);
	assert_int_equal(slab_pool_count(pool), 0);
	slab_put(pool, 0, objs, 100);
	assert_int_equal(drain(pool, 0, objs, 100, 1), 100);
	pool_free(pool);
}

static void
nodes_feed_each_other(void **state)
{
	static const uint8_t nodes[4] = { 0, 1, 2, 0 };
	struct slab_conf conf = plain_conf(3 * 640);
	struct slab_range chunk = { .count = 640 };
	struct slab_pool *pool;
	void *objs[3 * 640];
	unsigned int i;

	(void)state;
	conf.nodes = 3;
	conf.lcore_node = nodes;
	conf.min_partial = 2;
	conf.magazine = 64;
	pool = pool_make(&conf);
	for (chunk.node = 0; chunk.node < 3; chunk.node++) {
		chunk.base = MADE_UP + chunk.node * UINT64_C(0x10000000);
		assert_int_equal(pool_add(pool, &chunk), 640);
	}
	/* An lcore's own node comes first. */
	assert_int_equal(slab_get(pool, 1, objs, 640), 0);
	for (i = 0; i < 640; i++)
		assert_true((char *)objs[i] >= MADE_UP + 0x10000000 &&
			(char *)objs[i] < MADE_UP + 0x10000000 + 640 * 64);
	/* Then those of others: down to 2 slabs each, then those too. */
	assert_int_equal(slab_get(pool, 1, objs + 640, 2 * 512), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(slab_get(pool, 2 * i, objs + 640 + 2 * 512 + 128 * i, 128), 0);
	assert_int_equal(slab_pool_count(pool), 0);
	slab_put(pool, 0, objs, 3 * 640);
	assert_int_equal(drain(pool, 1, objs, 3 * 640, 50), 3 * 640);
	pool_free(pool);
}

/* doc/design.md: at most 8 bytes an object, 4.25 KiB or 256 bytes a possible lcore. */
static void
side_memory(void **state)
{
	struct slab_conf conf = plain_conf(262144);
	size_t with, without, more_lcores;

	(void)state;
	conf.lcores = 128;
	with = slab_pool_size(&conf);
	conf.lcores = 129;
	more_lcores = slab_pool_size(&conf);
	assert_true(more_lcores - with <= 4352);
	conf.lcore_cache = false;
	more_lcores = slab_pool_size(&conf);
	conf.lcores = 128;
	without = slab_pool_size(&conf);
	assert_true(more_lcores - without <= 256);
	conf.lcores = 0;
	assert_true(slab_pool_size(&conf) <= 8 * (size_t)conf.objects);
	print_message("%u objects: %.3f bytes an object, %zu bytes an lcore with a cache, "
		"%zu without\n", conf.objects, (double)slab_pool_size(&conf) / conf.objects,
		(with - slab_pool_size(&conf)) / 128, more_lcores - without);
}

static void
configurations_out_of_range(void **state)
{
	struct slab_conf good = plain_conf(100), bad;

	(void)state;
	assert_int_not_equal(slab_pool_size(&good), 0);
#define REFUSED(field, value) do { \
	bad = good; \
	bad.field = value; \
	assert_int_equal(slab_pool_size(&bad), 0); \
	assert_null(slab_pool_init(&bad, &bad)); \
} while (0)
	REFUSED(objects, 0);
	REFUSED(objects, SLAB_MAX_OBJECTS + 1);
	REFUSED(stride, 0);
	REFUSED(align, 0);
	REFUSED(align, 48);
	REFUSED(stride, 65);
	REFUSED(nodes, SLAB_MAX_NODES + 1);
	REFUSED(magazine, SLAB_MAX_MAGAZINE + 1);
	REFUSED(depot, 1 << 30);
#undef REFUSED
}

/* 2^31 objects: sizes add up, and the first and the last object are got and put. */
static void
largest_pool(void **state)
{
	struct slab_conf conf = plain_conf(SLAB_MAX_OBJECTS);
	struct slab_range all = { .base = MADE_UP, .count = SLAB_MAX_OBJECTS };
	size_t size = slab_pool_size(&conf);
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct slab_pool *pool;
	void *objs[64], *last = MADE_UP + 64 * (UINT64_C(1) << 31) - 64;
	uint32_t seen;

	(void)state;
	assert_ptr_not_equal(mem, MAP_FAILED);
	print_message("%zu bytes for 2^31 objects, %.3f each\n", size,
		(double)size / SLAB_MAX_OBJECTS);
	pool = slab_pool_init(mem, &conf);
	assert_int_equal(pool_add(pool, &all), SLAB_MAX_OBJECTS);
	assert_int_equal(slab_pool_count(pool), SLAB_MAX_OBJECTS);
	for (seen = 0; seen < SLAB_MAX_OBJECTS; seen += 64)
		if (slab_get(pool, 0, objs, 64) != 0 || objs[0] != MADE_UP + UINT64_C(64) * seen)
			fail_msg("at object %u", seen);
	assert_ptr_equal(objs[63], last);
	assert_int_equal(slab_get(pool, 0, objs, 1), -ENOBUFS);
	slab_put(pool, 0, &last, 1);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 1), 0);
	assert_ptr_equal(objs[0], last);
	munmap(mem, size);
}

/* Two mappings of one memory, as two processes have it: each sees its own addresses. */
static void
mapped_elsewhere(void **state)
{
	enum { N = 1000, STATE = 1 << 20, BYTES = STATE + 64 * N };
	struct slab_conf conf = plain_conf(N);
	int fd = memfd_create("pool", 0);
	char *here, *there;
	struct slab_range all = { .count = N };
	struct slab_pool *mine, *theirs;
	void *objs[N], *moved[N];
	unsigned int i;

	(void)state;
	assert_true(slab_pool_size(&conf) <= STATE);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	here = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	there = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(here, there);
	mine = slab_pool_init(here, &conf);
	theirs = (void *)there;
	assert_true(slab_pool_valid(theirs));
	all.base = here + STATE;
	pool_add(mine, &all);
	assert_int_equal(slab_get(theirs, 1, objs, N), 0);
	for (i = 0; i < N; i++) {
		assert_true((char *)objs[i] >= there + STATE && (char *)objs[i] < there + BYTES);
		moved[i] = here + ((char *)objs[i] - there);
	}
	slab_put(mine, 0, moved, N / 2);
	slab_put(theirs, 1, objs + N / 2, N / 2);
	assert_int_equal(drain(mine, SLAB_NO_LCORE, objs, N, 10), N);
	assert_ptr_equal(objs[0], here + STATE);
	assert_int_equal(slab_pool_faults(mine), 0);
	munmap(here, BYTES);
	munmap(there, BYTES);
	close(fd);
}

static void
fail_run_ends_with_a_success(void **state)
{
	struct slab_pool *pool = plain_pool(10);
	void *objs[10], *one;
	unsigned int i;

	(void)state;
	assert_int_equal(slab_get(pool, 0, objs, 10), 0);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(slab_get(pool, 0, &one, 1), -ENOBUFS);
		assert_int_equal(slab_pool_fail_run(pool, 0), i);
	}
	assert_int_equal(slab_pool_fail_run(pool, 1), 0);
	slab_put(pool, 0, objs, 1);
	assert_int_equal(slab_get(pool, 0, &one, 1), 0);
	assert_int_equal(slab_pool_fail_run(pool, 0), 0);
	pool_free(pool);
}

static void
counts_what_lcores_do(void **state)
{
	struct slab_conf conf = plain_conf(1000);
	struct slab_range all = { .base = MADE_UP, .count = 1000 };
	struct slab_stats s;
	struct slab_pool *pool;
	void *objs[1001];

	(void)state;
	conf.stats = true;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	assert_int_equal(slab_get(pool, 0, objs, 1000), 0);
	assert_int_equal(slab_get(pool, 0, objs, 1), -ENOBUFS);
	slab_put(pool, 0, objs, 999);
	slab_put(pool, 0, objs + 999, 1);
	slab_pool_stats(pool, 0, &s);
	assert_int_equal(s.get_bulks, 1);
	assert_int_equal(s.get_objs, 1000);
	assert_int_equal(s.get_fails, 1);
	assert_int_equal(s.put_bulks, 2);
	assert_int_equal(s.put_objs, 1000);
	assert_int_equal(s.slab_gets, 16);
	assert_int_equal(s.depot_puts, (1000 - 1) / slab_pool_magazine(pool));
	assert_int_equal(s.slab_puts, 0);
	assert_int_equal(slab_get(pool, 1, objs, 1000), 0);
	slab_pool_stats(pool, 1, &s);
	assert_int_not_equal(s.takes, 0);
	assert_int_not_equal(s.depot_gets, 0);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes_and_counts),
		cmocka_unit_test(all_bulks),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(last_freed_first_reused),
		cmocka_unit_test(without_a_depot),
		cmocka_unit_test(far_chunks),
		cmocka_unit_test_setup(strangers_are_dropped, faults_begin),
		cmocka_unit_test(nodes_feed_each_other),
		cmocka_unit_test(side_memory),
		cmocka_unit_test(configurations_out_of_range),
		cmocka_unit_test(largest_pool),
		cmocka_unit_test(mapped_elsewhere),
		cmocka_unit_test(fail_run_ends_with_a_success),
		cmocka_unit_test(counts_what_lcores_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
