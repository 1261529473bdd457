/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Secondaries that attach to a pool and leave, and that are killed while they use it: nothing leaks,
 * nobody else is in the way of it, and what their caches held is reclaimed.
 *
 *     test_attach EAL_OPTIONS -- SLAB_PLUGIN
 *
 * ATTACH_TIMES is how often one attaches, ATTACH_KILLS how often one is killed.
 */

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include "mempool_slab.h"

#define OBJECTS 16383
#define MOST 64
#define THREADS 2 /* of a secondary, besides its lcore */
#define PREFIX "--file-prefix=slab_attach"
/* What one kill may cost: for each of three, a burst, the rest of a slab, and a full cache. */
#define LOST ((1 + THREADS) * (MOST + 63 + 512))
#define CHECK(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s: line %d: %s does not hold\n", \
			rte_eal_process_type() == RTE_PROC_PRIMARY ? "primary" : "secondary", \
			__LINE__, #what); \
		exit(1); \
	} \
} while (0)

struct shared {
	_Atomic(uint32_t) started;
	_Atomic(uint64_t) bursts[2];          /* of the primary, of secondaries */
	_Atomic(uint8_t) holder[OBJECTS + 1]; /* 1: the primary; 2 and more: the secondary's */
};

/* What grows when something is left behind. */
struct things {
	size_t heap;
	unsigned int files, zones, pools;
};

static struct shared *shared;

static void
number(struct rte_mempool *mp, void *opaque, void *obj, unsigned int i)
{
	(void)mp;
	(void)opaque;
	*(uint32_t *)obj = i;
}

/* A burst that one holds for a moment. */
static void
burst(struct rte_mempool *mp, uint8_t me, unsigned int n)
{
	void *objs[MOST];
	unsigned int i;

	if (rte_mempool_get_bulk(mp, objs, n) != 0)
		return;
	for (i = 0; i < n; i++)
		CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[i]], me) == 0);
	for (i = 0; i < n; i++)
		CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[i]], 0) == me);
	rte_mempool_put_bulk(mp, objs, n);
	shared->bursts[me != 1]++;
}

static _Noreturn void
work_on(struct rte_mempool *mp, uint8_t me)
{
	uint64_t seed = me;

	for (;;) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		burst(mp, me, 1 + (unsigned int)(seed >> 33) % MOST);
	}
}

static void *
thread(void *arg)
{
	struct rte_mempool *mp = rte_mempool_lookup("attached");

	CHECK(mp != NULL);
	work_on(mp, *(uint8_t *)arg);
}

/* Until it is killed. */
static _Noreturn void
load(struct rte_mempool *mp)
{
	static uint8_t me[] = { 3, 4 };
	pthread_t threads[THREADS];
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, thread, &me[i]) == 0);
	shared->started++;
	work_on(mp, 2);
}

static pid_t
start(char *const argv[], const char *part)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(argv[0], argv[0], "-l", "1", "--no-pci", "--no-telemetry", PREFIX,
			"--proc-type=secondary", "-d", argv[1], "--", part, NULL);
		perror(argv[0]);
		_exit(1);
	}
	CHECK(pid > 0);
	return pid;
}

/* Open ones, but for hugepages, of which EAL takes more as its heap grows. */
static unsigned int
open_files(void)
{
	char link[256], name[300];
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;
	struct dirent *d;
	ssize_t len;

	CHECK(dir != NULL);
	while ((d = readdir(dir)) != NULL) {
		snprintf(name, sizeof(name), "/proc/self/fd/%s", d->d_name);
		len = readlink(name, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		n += strstr(link, "map_") == NULL;
	}
	closedir(dir);
	return n;
}

static void
count_zone(const struct rte_memzone *mz, void *arg)
{
	(void)mz;
	(*(unsigned int *)arg)++;
}

static void
count_pool(struct rte_mempool *mp, void *arg)
{
	(void)mp;
	(*(unsigned int *)arg)++;
}

static struct things
things(void)
{
	struct things t = { 0 };
	struct rte_malloc_socket_stats stats;
	unsigned int i;

	for (i = 0; i < rte_socket_count(); i++) {
		CHECK(rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0);
		t.heap += stats.heap_allocsz_bytes;
	}
	t.files = open_files();
	rte_memzone_walk(count_zone, &t.zones);
	rte_mempool_walk(count_pool, &t.pools);
	return t;
}

static void
check_same(struct things before)
{
	struct things now = things();

	CHECK(now.heap == before.heap && now.files == before.files);
	CHECK(now.zones == before.zones && now.pools == before.pools);
}

/* All that can be had, each once. */
static unsigned int
look_for_all(struct rte_mempool *mp)
{
	static void *objs[OBJECTS + 1];
	unsigned int n = 0, i;

	while (rte_mempool_get(mp, &objs[n]) == 0)
		CHECK(++n <= OBJECTS);
	for (i = 0; i < n; i++)
		CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[i]], 1) == 0);
	for (i = 0; i < n; i++)
		CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[i]], 0) == 1);
	for (i = 0; i < n; i += MOST)
		rte_mempool_put_bulk(mp, objs + i, RTE_MIN((unsigned int)MOST, n - i));
	return n;
}

static void
attach_often(struct rte_mempool *mp, char *const argv[], unsigned int times)
{
	struct things before = things();
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < times; i++) {
		pid = start(argv, "use");
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		if (i % 10 == 0)
			CHECK(look_for_all(mp) == OBJECTS);
	}
	check_same(before);
	CHECK(look_for_all(mp) == OBJECTS);
	printf("a secondary attached and left %u times: nothing is left of it\n", times);
}

static void
put_back(struct rte_mempool *mp, void *opaque, void *obj, unsigned int i)
{
	(void)opaque;
	(void)i;
	if (shared->holder[*(uint32_t *)obj] < 2)
		return;
	shared->holder[*(uint32_t *)obj] = 0;
	rte_mempool_put(mp, obj);
}

/* Somewhere in its work; the primary works on meanwhile. */
static void
kill_one(struct rte_mempool *mp, pid_t pid, unsigned int before)
{
	uint64_t own = shared->bursts[0], its = shared->bursts[1];
	struct timespec moment = { .tv_nsec = 200000 + before * 7919 % 3000000 };
	int status;

	while (shared->started == before || shared->bursts[1] < its + 1000)
		burst(mp, 1, 32);
	nanosleep(&moment, NULL);
	CHECK(kill(pid, SIGKILL) == 0);
	while (shared->bursts[0] < own + 20000)
		burst(mp, 1, 32);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

/* What EAL itself leaves in the heap when a secondary is killed that has not touched the pool. */
static size_t
cost_of_kill(char *const argv[])
{
	struct things before = things();
	uint32_t started = shared->started;
	pid_t pid = start(argv, "idle");

	while (shared->started == started)
		usleep(1000);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	return things().heap - before.heap;
}

static void
kill_often(struct rte_mempool *mp, char *const argv[], unsigned int times)
{
	unsigned int left = look_for_all(mp), now, most = 0, all = 0, i;
	size_t cost = cost_of_kill(argv);
	struct things before = things();
	struct mempool_slab_audit audit;
	uint32_t before_it;
	pid_t pid;
	int got;

	for (i = 0; i < times; i++) {
		before_it = shared->started;
		pid = start(argv, "load");
		kill_one(mp, pid, before_it);
		rte_mempool_obj_iter(mp, put_back, NULL);
		got = mempool_slab_reclaim(mp, i % 2 == 0 ? (uint32_t)pid : 0);
		CHECK(got >= 0 && mempool_slab_reclaim(mp, 0) == 0);
		now = look_for_all(mp);
		CHECK(now <= left && left - now <= LOST);
		most = RTE_MAX(most, left - now);
		all += left - now;
		left = now;
		CHECK(mempool_slab_audit(mp, &audit, NULL) == 0);
		/* Some were got and not yet marked. */
		CHECK(audit.out + audit.lost == OBJECTS - left && audit.twice == 0);
	}
	before.heap += times * cost;
	check_same(before);
	printf("a secondary was killed %u times: %u objects lost in all, %u of them at once, "
		"at most %u; the audit finds no others\n", times, all, most, LOST);
}

static unsigned int
setting(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value != NULL ? (unsigned int)strtoul(value, NULL, 10) : usual;
}

static struct rte_mempool *
make_pool(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("attached", OBJECTS, 64, 0, 0,
		SOCKET_ID_ANY, 0);
	char options[] = "check=on,magazine=64";

	CHECK(mp != NULL && rte_mempool_set_ops_byname(mp, "slab", options) == 0);
	CHECK(rte_mempool_populate_default(mp) == OBJECTS);
	rte_mempool_obj_iter(mp, number, NULL);
	return mp;
}

static void
primary(char *const argv[])
{
	struct rte_mempool *mp = make_pool();

	attach_often(mp, argv, setting("ATTACH_TIMES", 100));
	kill_often(mp, argv, setting("ATTACH_KILLS", 20));
	rte_mempool_free(mp);
}

static void
secondary(const char *part)
{
	struct rte_mempool *mp = rte_mempool_lookup("attached");
	unsigned int i;

	CHECK(mp != NULL);
	if (strcmp(part, "idle") == 0) {
		shared->started++;
		pause();
	}
	if (strcmp(part, "load") == 0)
		load(mp);
	for (i = 0; i < 1000; i++)
		burst(mp, 2, 1 + i % MOST);
}

int
main(int argc, char **argv)
{
	int eal_args = rte_eal_init(argc, argv);
	bool is_primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	const struct rte_memzone *mz;

	if (eal_args < 0)
		return 1;
	mz = is_primary ? rte_memzone_reserve("slab_attach", sizeof(*shared), SOCKET_ID_ANY, 0) :
		rte_memzone_lookup("slab_attach");
	CHECK(mz != NULL);
	shared = mz->addr;
	if (is_primary) {
		memset(mz->addr, 0, sizeof(*shared));
		primary((char *const[]){ argv[0], argv[eal_args + 1] });
	} else {
		secondary(argv[eal_args + 1]);
	}
	rte_eal_cleanup();
	return 0;
}
