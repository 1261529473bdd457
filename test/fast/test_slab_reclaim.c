/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "slab_cpu.h"
#include "slab_process.h"
#include "slab_slab.h"

/*
 * What a process that was killed has left in caches, put there as it would have: marks, claims and keys
 * of a process that was there.
 */

#define N 1024
#define MAGAZINE 64

static uint32_t gone; /* of that process */

/* A process that has ended, and nobody has waited for. */
static int
end_one(void **state)
{
	uint32_t *self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	siginfo_t info;
	pid_t pid;

	assert_true(self != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		*self = slab_process.self;
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	gone = *self;
	assert_int_equal(slab_process_number(gone), pid);
	munmap(self, sizeof(*self));
	return faults_begin(state);
}

static int
bury(void **state)
{
	(void)state;
	return waitpid((pid_t)slab_process_number(gone), NULL, 0) > 0 ? 0 : -1;
}

static struct slab_pool *
make(enum slab_thread_cache thread_cache, uint32_t nodes, uint32_t lcore_partial)
{
	static const uint8_t lcore_node[] = { 0, 0, 1, 1 };
	struct slab_range half = { .base = MADE_UP, .count = N / 2 };
	struct slab_conf conf = plain_conf(N);
	struct slab_pool *pool;

	conf.magazine = MAGAZINE;
	conf.depot = 0;
	conf.nodes = nodes;
	conf.lcore_node = lcore_node;
	conf.lcore_partial = lcore_partial;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.thread_cache = thread_cache;
	pool = pool_make(&conf);
	pool_add(pool, &half);
	half.base = MADE_UP + N / 2 * 64;
	half.node = nodes - 1;
	pool_add(pool, &half);
	return pool;
}

/* So many can be had by others; they go to slabs again. */
static uint32_t
others_have(struct slab_pool *pool)
{
	void *objs[N + 1];
	uint32_t n = drain(pool, 3, objs, N + 1, 1);

	slab_put(pool, 3, objs, n);
	return n;
}

static void
check_whole(struct slab_pool *pool)
{
	assert_int_equal(others_have(pool), N);
	assert_int_equal(slab_pool_faults(pool), 0);
	pool_free(pool);
}

static bool
lcores_have_caches(void)
{
	if (!slab_lcore_cache_possible())
		print_message("skipped: lcores have no caches, for lack of membarrier\n");
	return slab_lcore_cache_possible();
}

/* All slabs are taken for partial ones, of which lcores have some of their own. */
static void
make_partial(struct slab_pool *pool)
{
	void *objs[N];
	uint32_t i;

	assert_int_equal(slab_get(pool, 3, objs, N), 0);
	qsort(objs, N, sizeof(*objs), by_address);
	for (i = 0; i < N; i += SLAB_OBJECTS)
		slab_slabs_put(pool, objs + i, SLAB_OBJECTS - 1);
	for (i = SLAB_OBJECTS - 1; i < N; i += SLAB_OBJECTS)
		slab_slabs_put(pool, objs + i, 1);
}

/* With objects in its row, slabs of its own, and aliens. */
static struct slab_lcore *
fill_lcore(struct slab_pool *pool, uint32_t nodes)
{
	struct slab_lcore *lc = slab_lcore_at(pool, 0);
	void *objs[MAGAZINE];

	assert_int_equal(slab_get(pool, 0, objs, 40), 0);
	slab_put(pool, 0, objs, 40);
	if (nodes > 1) {
		assert_int_equal(slab_get(pool, 2, objs, 30), 0);
		slab_put(pool, 0, objs, 30);
		assert_int_equal(slab_load_relaxed(&lc->aliens), 30);
	}
	return lc;
}

static void
busy_lcore(void **state)
{
	struct slab_pool *pool;
	struct slab_lcore *lc;
	uint32_t nodes, missing;

	(void)state;
	for (nodes = 1; nodes <= 2 && lcores_have_caches(); nodes++) {
		pool = make(SLAB_THREADS_RSEQ, nodes, 3);
		make_partial(pool);
		lc = fill_lcore(pool, nodes);
		slab_store_relaxed(&lc->busy, gone);
		missing = N - others_have(pool);
		assert_true(missing >= 3 * 64);
		assert_int_equal(slab_pool_reclaim(pool, slab_process_number(gone) + 1), 0);
		assert_int_equal(slab_pool_reclaim(pool, (uint32_t)getpid()), 0);
		assert_int_equal(slab_pool_reclaim(pool, slab_process_number(gone)), missing);
		assert_true(slab_load_relaxed(&lc->shut) == SLAB_SHUT_NOT);
		assert_int_equal(slab_load_relaxed(&lc->busy), 0);
		assert_int_equal(slab_pool_reclaim(pool, 0), 0);
		check_whole(pool);
	}
}

/* The lcore itself is another process's by now. */
static void
claimed_lcore(void **state)
{
	struct slab_pool *pool = make(SLAB_THREADS_RSEQ, 1, 0);
	struct slab_lcore *lc;
	uint32_t missing;

	(void)state;
	if (!lcores_have_caches())
		return pool_free(pool);
	lc = fill_lcore(pool, 1);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_TAKEN | gone);
	missing = N - others_have(pool);
	assert_int_equal(missing, 64);
	slab_store_relaxed(&lc->busy, slab_process.self);
	assert_int_equal(slab_pool_reclaim(pool, 0), 0);   /* somebody is inside */
	slab_store_relaxed(&lc->busy, 0);
	assert_int_equal(slab_pool_reclaim(pool, 0), missing);
	fill_lcore(pool, 1);
	assert_int_equal(slab_load_relaxed(&lc->len), 64); /* and it is used again */
	check_whole(pool);
}

/* What is not left behind stays as it is. */
static void
alive(void **state)
{
	struct slab_pool *pool = make(SLAB_THREADS_RSEQ, 1, 0);
	struct slab_lcore *lc;

	(void)state;
	assert_int_equal(slab_pool_reclaim(pool, 0), 0);
	if (!lcores_have_caches())
		return pool_free(pool);
	lc = fill_lcore(pool, 1);
	slab_store_relaxed(&lc->busy, slab_process.self);
	assert_int_equal(slab_pool_reclaim(pool, 0), 0);
	assert_int_equal(slab_load_relaxed(&lc->busy), slab_process.self);
	slab_store_relaxed(&lc->shut, slab_process_claim());
	assert_int_equal(slab_pool_reclaim(pool, 0), 0);
	assert_true(slab_load_relaxed(&lc->shut) == slab_process_claim());
	slab_store_relaxed(&lc->busy, 0);
	slab_store_relaxed(&lc->shut, SLAB_SHUT_NOT);
	check_whole(pool);
}

static void
stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* The cache of this CPU, with 64 objects; "shut" and "busy" as they were left. */
static void
check_cpu(enum slab_thread_cache thread_cache, uint64_t shut, uint32_t busy)
{
	struct slab_pool *pool = make(thread_cache, 1, 0);
	struct slab_lcore *lc;
	void *objs[8];

	lc = slab_cpu_at(pool, (uint32_t)sched_getcpu());
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 8), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 8);
	assert_int_equal(slab_load_relaxed(&lc->len), 64);
	slab_store_relaxed(&lc->shut, shut);
	slab_store_relaxed(&lc->busy, busy);
	assert_int_equal(slab_pool_reclaim(pool, 0), 64);
	assert_int_equal(slab_load_relaxed(&lc->busy), 0);
	assert_int_equal(slab_get(pool, SLAB_NO_LCORE, objs, 8), 0);
	slab_put(pool, SLAB_NO_LCORE, objs, 8);
	assert_int_equal(slab_load_relaxed(&lc->len), 64);
	check_whole(pool);
}

/* Of a thread that was killed inside of a sequence, as far as anybody can tell. */
static uint32_t
its_mark(void)
{
	uint32_t mark;

	for (mark = 1; mark == 0 || !slab_thread_is_of(mark, gone); mark += UINT32_C(1) << 22)
		assert_true(mark < UINT32_MAX - (UINT32_C(1) << 22));
	return mark;
}

static void
caches_of_cpus(void **state)
{
	(void)state;
	stay();
	check_cpu(SLAB_THREADS_LOCK, SLAB_SHUT_TAKEN | gone, 0);
	if (slab_process.key == SLAB_NO_KEY) {
		print_message("skipped in part: this process has no restartable sequences\n");
		return;
	}
	check_cpu(SLAB_THREADS_RSEQ, SLAB_SHUT_TAKEN | gone, 0);
	check_cpu(SLAB_THREADS_RSEQ, UINT64_C(0x8123456700000000) | gone, 0);
	check_cpu(SLAB_THREADS_RSEQ, UINT64_C(0x8123456700000000) | gone, its_mark());
}

/* A first thread that has ended leaves its process running. */
static void *
end_first(void *arg)
{
	char byte;

	_exit(read(*(int *)arg, &byte, 1) == 1 ? 0 : 1);
}

static void
first_thread_ended(void **state)
{
	pthread_t thread;
	int fds[2], status;
	uint32_t *self = mmap(NULL, sizeof(*self), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	siginfo_t info;
	pid_t pid;

	(void)state;
	assert_true(self != MAP_FAILED);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		*self = slab_process.self;
		if (pthread_create(&thread, NULL, end_first, fds) == 0)
			pthread_exit(NULL);
		_exit(2);
	}
	usleep(20000);
	assert_false(slab_process_is_gone(*self));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(slab_process_is_gone(*self));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(slab_process_is_gone(*self));
	munmap(self, sizeof(*self));
}

/* The same number, but another time. */
static void
number_used_again(void **state)
{
	(void)state;
	assert_false(slab_process_is_gone(slab_process.self));
	assert_true(slab_process_is_gone(slab_process.self ^ UINT32_C(1) << 31));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(busy_lcore, end_one, bury),
		cmocka_unit_test_setup_teardown(claimed_lcore, end_one, bury),
		cmocka_unit_test_setup_teardown(alive, end_one, bury),
		cmocka_unit_test_setup_teardown(caches_of_cpus, end_one, bury),
		cmocka_unit_test(first_thread_ended),
		cmocka_unit_test(number_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
