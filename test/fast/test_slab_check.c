/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "slab_check.h"
#include "slab_chunk.h"

/* Pools that check. What is wrong at random moments is in test_random; here is what needs care. */

#define N 1000

static struct slab_pool *
make(const struct slab_conf *conf)
{
	struct slab_range all = { .base = MADE_UP, .count = conf->objects };
	struct slab_pool *pool = pool_make(conf);

	assert_int_equal(pool_add(pool, &all), conf->objects);
	return pool;
}

static struct slab_conf
checked_conf(uint32_t n)
{
	struct slab_conf conf = plain_conf(n);

	conf.check = true;
	return conf;
}

/* All come out once, and go back. */
static void
check_whole(struct slab_pool *pool, uint32_t n)
{
	void *objs[N + 1];

	assert_int_equal(slab_pool_count(pool), n);
	assert_int_equal(drain(pool, 0, objs, n + 1, 32), n);
	slab_put(pool, 0, objs, n);
}

/* A multiple of the stride, and nothing else, is an object: at each of its bytes, and around. */
static void
division(void **state)
{
	static const uint32_t strides[] = { 1, 2, 3, 8, 24, 64, 192, 1000, 2240, 2432, 4096, 65537,
		UINT32_C(1) << 31, UINT32_MAX };
	uint32_t stride, count = 100, i, s;
	int64_t off;

	(void)state;
	for (s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		struct slab_conf conf = { .objects = count, .stride = stride = strides[s], .align = 1 };
		struct slab_pool *pool = make(&conf);

		for (off = -70000; off < 70000; off++)
			assert_int_equal(slab_chunk_number(pool, MADE_UP + off),
				off >= 0 && off % stride == 0 && off / stride < count ?
				off / stride : SLAB_NO_NUMBER);
		for (i = 0; i < count; i++)
			assert_int_equal(slab_chunk_number(pool, MADE_UP + (size_t)i * stride), i);
		assert_int_equal(slab_chunk_number(pool, MADE_UP + (size_t)count * stride),
			SLAB_NO_NUMBER);
		pool_free(pool);
	}
}

/* Pages that are full to the last byte, and addresses that are far away. */
static void
pages(void **state)
{
	struct slab_range range = { .base = MADE_UP, .count = 3 * 4096, .page = 4096 };
	struct slab_conf conf = { .objects = 3 * 4096 };
	struct slab_pool *pool;
	uint64_t i;

	(void)state;
	for (conf.stride = 1; conf.stride <= 4096; conf.stride *= 4) {
		conf.align = conf.stride;
		range.per_page = 4096 / conf.stride;
		pool = pool_make(&conf);
		pool_add(pool, &range);
		for (i = 0; i < range.count; i++)
			assert_int_equal(slab_chunk_number(pool, MADE_UP + i * conf.stride), i);
		for (i = 1; i < 36; i++) {
			assert_int_equal(slab_chunk_number(pool, MADE_UP - (UINT64_C(1) << i)),
				SLAB_NO_NUMBER);
			assert_int_equal(slab_chunk_number(pool, MADE_UP +
				((uint64_t)range.count * conf.stride << i)), SLAB_NO_NUMBER);
		}
		assert_int_equal(slab_chunk_number(pool, NULL), SLAB_NO_NUMBER);
		pool_free(pool);
	}
}

/* By one lcore, by another, by a thread; in a burst with others, of any size. */
static void
double_puts(void **state)
{
	struct slab_conf conf = checked_conf(N);
	struct slab_pool *pool = make(&conf);
	uint32_t lcores[] = { 0, 1, SLAB_NO_LCORE };
	unsigned int n, l, expected = 0;
	void *objs[N];

	(void)state;
	for (n = 1; n <= 300; n += n < 70 ? 1 : 115)
		for (l = 0; l < 3; l++) {
			assert_int_equal(slab_get(pool, 0, objs, n), 0);
			objs[n] = objs[n / 2];
			slab_put(pool, lcores[l], objs, n + 1);
			slab_put(pool, lcores[l], objs + n, 1);
			expected += 2;
			assert_int_equal(faults[SLAB_FAULT_DOUBLE], expected);
			assert_int_equal(slab_pool_count(pool), N);
		}
	check_whole(pool, N);
	assert_int_equal(slab_pool_faults(pool), expected);
	pool_free(pool);
}

/*
 * An object that lies in a cache although it is in use, as after two puts at once. Here it gets there by
 * a put behind the checks.
 */
static void
put_unseen(struct slab_pool *pool, void *obj)
{
	slab_slabs_put(pool, &obj, 1);
}

static void
in_use(void **state)
{
	struct slab_conf conf = checked_conf(N);
	void *objs[N], *more[N + 1];
	struct slab_pool *pool;

	(void)state;
	conf.depot = 0;
	pool = make(&conf);
	assert_int_equal(slab_get(pool, 0, objs, 128), 0);
	put_unseen(pool, objs[3]);
	put_unseen(pool, objs[100]);
	assert_int_equal(drain(pool, 1, more, N + 1, 64), N - 128);
	assert_int_equal(faults[SLAB_FAULT_IN_USE], 2);
	slab_put(pool, 1, more, N - 128);
	slab_put(pool, 0, objs, 128);
	check_whole(pool, N);
	assert_int_equal(slab_pool_faults(pool), 2);
	pool_free(pool);
}

/* A get that wants all that there seems to be gets nothing, and nothing is lost. */
static void
in_use_and_no_other(void **state)
{
	struct slab_conf conf = checked_conf(N);
	void *objs[N], *rest[N];
	struct slab_pool *pool;
	unsigned int i;

	(void)state;
	for (i = 0; i < 500; i += 60) {
		faults_begin(state);
		conf.depot = i % 120 == 0 ? 0 : SLAB_AUTO;
		pool = make(&conf);
		assert_int_equal(slab_get(pool, 0, objs, 500), 0);
		put_unseen(pool, objs[i]);
		assert_int_equal(slab_get(pool, 1, rest, 501), -ENOBUFS);
		assert_int_equal(slab_pool_faults(pool), 1);
		assert_int_equal(slab_pool_count(pool), 500);
		assert_int_equal(slab_get(pool, 1, rest, 500), 0);
		slab_put(pool, 0, objs, 500);
		slab_put(pool, 0, rest, 500);
		check_whole(pool, N);
		assert_int_equal(slab_pool_faults(pool), 1);
		pool_free(pool);
	}
}

static void
blocks(void **state)
{
	struct slab_conf conf = checked_conf(640);
	struct slab_pool *pool = make(&conf);
	void *first[10], *objs[640], *twice[2];
	unsigned int i;

	(void)state;
	assert_int_equal(slab_get_blocks(pool, 0, first, 10), 0);
	for (i = 0; i < 640; i++)
		objs[i] = (char *)first[i / 64] + i % 64 * 64;
	twice[0] = twice[1] = objs[5];
	slab_put(pool, 0, twice, 2);
	assert_int_equal(faults[SLAB_FAULT_DOUBLE], 1);
	assert_int_equal(slab_get(pool, 0, twice, 1), 0);
	slab_put(pool, 0, objs, 640);
	/* One is in use, and its slab takes it for free. */
	assert_int_equal(slab_get(pool, 0, objs, 1), 0);
	put_unseen(pool, objs[0]);
	assert_int_equal(slab_get_blocks(pool, SLAB_NO_LCORE, first, 10), -ENOBUFS);
	assert_int_equal(faults[SLAB_FAULT_IN_USE], 1);
	assert_int_equal(slab_pool_count(pool), 639);
	assert_int_equal(slab_get_blocks(pool, SLAB_NO_LCORE, first, 9), 0);
	for (i = 0; i < 9; i++)
		assert_true((char *)objs[0] < (char *)first[i] ||
			(char *)objs[0] >= (char *)first[i] + 64 * 64);
	slab_put(pool, 0, objs, 1);
	assert_int_equal(slab_pool_faults(pool), 2);
	pool_free(pool);
}

/* Objects of many rows: pages, chunks apart, nodes. */
static void
rows(void **state)
{
	struct slab_conf conf = checked_conf(N);
	struct slab_range plan[2];
	struct slab_pool *pool;
	unsigned int n, i;
	void *objs[N + 1];
	char *bad;

	(void)state;
	conf.stride = 1000;
	conf.align = 8;
	conf.nodes = 2;
	pool = pool_make(&conf);
	for (i = 0; i < 5; i++) {
		n = slab_range_plan(plan, MADE_UP + (i * 3 % 5 << 20) + 3096, 1 << 19, 1000, 24,
			4096, N / 5);
		assert_int_equal(n, 2);
		plan[0].node = plan[1].node = i % 2;
		pool_add(pool, &plan[0]);
		pool_add(pool, &plan[1]);
	}
	assert_int_equal(drain(pool, 0, objs, N + 1, 32), N);
	slab_put(pool, 1, objs, N);
	slab_put(pool, 1, objs, N);
	assert_int_equal(faults[SLAB_FAULT_DOUBLE], N);
	for (i = 1; i < 1000; i += 111) {
		bad = (char *)objs[i] + i;
		slab_put(pool, 0, (void **)&bad, 1);
	}
	assert_int_equal(faults[SLAB_FAULT_INSIDE], 9);
	bad = (char *)plan[1].base + 4 * 1000;     /* the rest of a page */
	slab_put(pool, 0, (void **)&bad, 1);
	bad = MADE_UP + (UINT64_C(7) << 20);
	slab_put(pool, 0, (void **)&bad, 1);
	assert_int_equal(faults[SLAB_FAULT_FOREIGN], 2);
	check_whole(pool, N);
	pool_free(pool);
}

static void
does_not_fit(void **state)
{
	struct slab_conf conf = plain_conf(N);

	(void)state;
	conf.track = true;
	assert_int_equal(slab_pool_size(&conf), 0);
	conf.check = true;
	assert_int_not_equal(slab_pool_size(&conf), 0);
}

/* The handler first, then the end. */
static void
say(const struct slab_pool *pool, const void *obj, enum slab_fault fault, uint64_t nth)
{
	(void)pool, (void)obj, (void)fault;
	_exit(nth == 1 && write(STDOUT_FILENO, "said\n", 5) == 5 ? 0 : 1);
}

static int
put_twice(slab_fault_handler handler)
{
	struct slab_conf conf = checked_conf(N);
	struct slab_pool *pool;
	void *obj[2];
	int status;
	pid_t pid;

	conf.abort_on_fault = true;
	pool = make(&conf);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		slab_set_fault_handler(handler);
		slab_get(pool, 0, obj, 1);
		obj[1] = obj[0];
		slab_put(pool, 0, obj, 2);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pool_free(pool);
	return status;
}

static void
abort_on_fault(void **state)
{
	int status = put_twice(NULL);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = put_twice(say);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void
texts(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < SLAB_FAULTS; i++)
		assert_true(strlen(slab_fault_text((enum slab_fault)i)) > 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(division),
		cmocka_unit_test(pages),
		cmocka_unit_test_setup(double_puts, faults_begin),
		cmocka_unit_test_setup(in_use, faults_begin),
		cmocka_unit_test_setup(in_use_and_no_other, faults_begin),
		cmocka_unit_test_setup(blocks, faults_begin),
		cmocka_unit_test_setup(rows, faults_begin),
		cmocka_unit_test(does_not_fit),
		cmocka_unit_test(abort_on_fault),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
