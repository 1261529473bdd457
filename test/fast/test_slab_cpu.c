/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads that are no lcores, and the caches of CPUs. The test runs on one CPU, so it knows which
 * cache it has; other processes are played by their keys.
 */

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "slab_cpu.h"
#include "slab_process.h"

#define CPUS 1024
#define N 448
/* Of a process that is not this one. */
#define THEIRS UINT64_C(0x8000000000000001)

static unsigned int here;

static struct slab_pool *
make(uint32_t magazine, enum slab_thread_cache thread_cache)
{
	struct slab_range all = { .base = MADE_UP, .count = N };
	struct slab_conf conf = plain_conf(N);
	struct slab_pool *pool;

	conf.magazine = magazine;
	conf.cpus = CPUS;
	conf.thread_cache = thread_cache;
	pool = pool_make(&conf);
	assert_int_equal(pool_add(pool, &all), N);
	return pool;
}

static uint32_t
cached(const struct slab_pool *pool)
{
	return slab_load_relaxed(&slab_cpu_at(pool, here)->len);
}

/* What is put stays with the CPU and is got from there, whichever way. */
static void
reuses(struct slab_pool *pool)
{
	void *objs[32], *again[32];

	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 32), 0);
	assert_int_equal(cached(pool), 32);
	assert_int_equal(slab_put(pool, SLAB_NO_LCORE, objs, 32), 0);
	assert_int_equal(cached(pool), 64);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, again, 32), 0);
	assert_memory_equal(objs, again, sizeof(objs));
	assert_int_equal(slab_put(pool, SLAB_NO_LCORE, again, 5), 0);
	assert_int_equal(slab_put(pool, SLAB_NO_LCORE, again + 5, 27), 0);
	assert_int_equal(cached(pool), 64);
	pool_free(pool);
}

static void
by_sequences(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	void *one;

	(void)state;
	if (slab_process.key == SLAB_NO_KEY)
		skip();
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, &one, 1), 0);
	assert_int_equal(slab_pool_thread_cache(pool), SLAB_THREADS_RSEQ);
	assert_true(slab_load_relaxed(&slab_cpu_at(pool, here)->shut) == slab_process.key);
	slab_put(pool, SLAB_NO_LCORE, &one, 1);
	pool_free(pool);
	slab_set_simd_bits(128);
	reuses(make(64, SLAB_THREADS_RSEQ));
	slab_set_simd_bits(0);
	reuses(make(64, SLAB_THREADS_RSEQ));
}

/* Also where the C library runs without sequences. */
static void
by_locks(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_LOCK);
	void *one;

	(void)state;
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, &one, 1), 0);
	assert_int_equal(slab_pool_thread_cache(pool), SLAB_THREADS_LOCK);
	assert_true(slab_load_relaxed(&slab_cpu_at(pool, here)->shut) == SLAB_SHUT_ALL);
	slab_put(pool, SLAB_NO_LCORE, &one, 1);
	pool_free(pool);
	reuses(make(64, SLAB_THREADS_LOCK));
	reuses(make(64, SLAB_THREADS_RSEQ));
}

static void
off(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_OFF);
	void *objs[32];

	(void)state;
	assert_int_equal(slab_pool_thread_cache(pool), SLAB_THREADS_OFF);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 32), 0);
	assert_int_equal(slab_put(pool, SLAB_NO_LCORE, objs, 32), 0);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, (void *[N]){ 0 }, N, 7), N);
	pool_free(pool);
}

/* Full, it gives a magazine's worth away; magazines of a bulk that does not fit go past it. */
static void
overflows(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	void *objs[N];
	int i;

	(void)state;
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, N), 0);
	for (i = 0; i < 128; i++)
		slab_put(pool, SLAB_NO_LCORE, objs + i, 1);
	assert_int_equal(cached(pool), 128);
	slab_put(pool, SLAB_NO_LCORE, objs + 128, 1);
	assert_int_equal(cached(pool), 65);
	slab_put(pool, SLAB_NO_LCORE, objs + 129, 100);
	assert_int_equal(cached(pool), 65 + 36);
	slab_put(pool, SLAB_NO_LCORE, objs + 229, N - 229);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, N, 30), N);
	pool_free(pool);
}

/* All that rests in the cache of the CPU, for lcores and for blocks. */
static void
within_reach_of_all(void **state)
{
	struct slab_pool *pool = make(N / 2, SLAB_THREADS_RSEQ);
	void *objs[N], *blocks[N / SLAB_OBJECTS];

	(void)state;
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, N), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 150);
	slab_put(pool, SLAB_NO_LCORE, objs + 150, 150);
	slab_put(pool, SLAB_NO_LCORE, objs + 300, N - 300);
	assert_int_equal(cached(pool), N);
	assert_int_equal(drain(pool, 1, objs, N, 30), N);
	slab_put(pool, 1, objs, N);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, N, 30), N);
	for (int i = 0; i < N; i += 64)
		slab_put(pool, SLAB_NO_LCORE, objs + i, 64);
	assert_int_equal(cached(pool), N);
	assert_int_equal(slab_get_blocks(pool, SLAB_NO_LCORE, blocks,
		N / SLAB_OBJECTS), 0);
	pool_free(pool);
}

/* Who finds somebody in it does without, and goes on. */
static void
claimed_by_others(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	struct slab_lcore *lc = slab_cpu_at(pool, here);
	uint64_t was;
	void *objs[N];

	(void)state;
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 10), 0);
	was = slab_load_relaxed(&lc->shut);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_TAKEN);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs + 10, N - 10 - cached(pool)), 0);
	assert_int_not_equal(slab_get(pool, SLAB_NO_LCORE, objs, 1), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 10);
	assert_int_equal(cached(pool), 54);
	slab_store_relaxed(&lc->shut, was);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 64), 0);
	assert_int_not_equal(slab_get(pool, SLAB_NO_LCORE, objs, 1), 0);
	pool_free(pool);
}

/* The cache follows those who use it, but not while one of the others stands in the middle. */
static void
follows_processes(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	struct slab_lcore *lc = slab_cpu_at(pool, here);
	void *objs[10];
	uint64_t mine;

	(void)state;
	if (!slab_process.fences)
		skip();
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 10), 0);
	mine = slab_load_relaxed(&lc->shut);
	slab_store_relaxed(&lc->shut, THEIRS);
	slab_store_relaxed(&lc->busy, 77);
	slab_put(pool, SLAB_NO_LCORE, objs, 10);
	assert_int_equal(cached(pool), 54);
	assert_true(slab_load_relaxed(&lc->shut) == THEIRS);
	slab_store_relaxed(&lc->busy, 0);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 10), 0);
	assert_int_equal(cached(pool), 44);
	assert_true(slab_load_relaxed(&lc->shut) == mine);
	pool_free(pool);
}

/* A thread of this process was preempted in the middle: its sequence is broken off, so nothing waits. */
static void
preempted_in_the_middle(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	struct slab_lcore *lc = slab_cpu_at(pool, here);
	void *objs[N];

	(void)state;
	if (slab_process.key == SLAB_NO_KEY)
		skip();
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 10), 0);
	slab_store_relaxed(&lc->busy, 77);
	assert_int_equal(drain(pool, 0, objs, N, 10), N - 10);
	assert_int_equal(cached(pool), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 10);
	assert_int_equal(cached(pool), 10);
	assert_int_equal(slab_load_relaxed(&lc->busy), 0);
	pool_free(pool);
}

/* A child of fork() is another process, and its thread another thread. */
static void
child_of_fork(void **state)
{
	uint64_t key = slab_process.key;
	uint32_t self = slab_thread();
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(slab_thread() != self && (key == SLAB_NO_KEY || slab_process.key != key) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(slab_process.key == key);
}

static void
bad_pointers_are_dropped(void **state)
{
	struct slab_pool *pool = make(64, SLAB_THREADS_RSEQ);
	void *objs[8];

	(void)state;
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 7), 0);
	objs[7] = (char *)objs[6] + 1;
	slab_put(pool, SLAB_NO_LCORE, objs, 8);
	assert_int_equal(faults[SLAB_FAULT_INSIDE], 1);
	assert_int_equal(slab_pool_count(pool), N);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, (void *[N]){ 0 }, N, 9), N);
	pool_free(pool);
}

/* Objects of another node than the CPU's go home, and not into its cache. */
static void
keeps_its_own_node(void **state)
{
	struct slab_range part = { .base = MADE_UP, .count = N / 2 };
	uint8_t numbers[2];
	struct slab_conf conf = plain_conf(N);
	struct slab_pool *pool;
	void *objs[N];
	uint32_t cpu, node;

	(void)state;
	assert_true(slab_process_where(&cpu, &node));
	numbers[0] = (uint8_t)(node + 1);
	numbers[1] = (uint8_t)node;
	conf.magazine = N / 2;
	conf.cpus = CPUS;
	conf.nodes = 2;
	conf.node_number = numbers;
	pool = pool_make(&conf);
	assert_int_equal(pool_add(pool, &part), N / 2);
	part.base = MADE_UP + 64 * (N / 2);
	part.node = 1;
	assert_int_equal(pool_add(pool, &part), N / 2);
	assert_int_equal(drain(pool, SLAB_NO_LCORE, objs, N, 10), N);
	assert_int_equal(slab_cpu_at(pool, here)->node, 1);
	slab_put(pool, SLAB_NO_LCORE, objs + N / 2 - 50, 100);
	assert_int_equal(cached(pool), 50);
	assert_int_equal(slab_pool_count(pool), 100);
	pool_free(pool);
}

/* Statistics and runs of failures do not depend on the CPU. */
static void
counts(void **state)
{
	struct slab_range all = { .base = MADE_UP, .count = N };
	struct slab_conf conf = plain_conf(N);
	struct slab_stats stats;
	struct slab_pool *pool;
	void *objs[N + 1];

	(void)state;
	conf.cpus = CPUS;
	conf.stats = true;
	pool = pool_make(&conf);
	pool_add(pool, &all);
	assert_int_not_equal(slab_get(pool, SLAB_NO_LCORE, objs, N + 1), 0);
	assert_int_equal(slab_pool_fail_run(pool, SLAB_NO_LCORE), 1);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 7), 0);
	assert_int_equal(slab_pool_fail_run(pool, SLAB_NO_LCORE), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 7);
	slab_pool_stats(pool, SLAB_NO_LCORE, &stats);
	assert_int_equal(stats.get_fails, 1);
	assert_int_equal(stats.get_objs, 7);
	assert_int_equal(stats.put_bulks, 1);
	pool_free(pool);
}

/* On one CPU from now on. */
static void
settle(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	here = (unsigned int)sched_getcpu();
	CPU_SET(here, &set);
	if (here >= CPUS || sched_setaffinity(0, sizeof(set), &set) != 0) {
		print_message("skipped: the test cannot stay on CPU %u\n", here);
		exit(77);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_sequences),
		cmocka_unit_test(by_locks),
		cmocka_unit_test(off),
		cmocka_unit_test(overflows),
		cmocka_unit_test(within_reach_of_all),
		cmocka_unit_test(claimed_by_others),
		cmocka_unit_test(follows_processes),
		cmocka_unit_test(preempted_in_the_middle),
		cmocka_unit_test(child_of_fork),
		cmocka_unit_test_setup(bad_pointers_are_dropped, faults_begin),
		cmocka_unit_test(keeps_its_own_node),
		cmocka_unit_test(counts),
	};

	settle();
	if (slab_process.key == SLAB_NO_KEY)
		print_message("no restartable sequences in this process: two tests are skipped\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
