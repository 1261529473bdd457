/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lcores at work. From start to stop each of them waits for phases; the main lcore calls
 * them and takes part. Lcores may share a CPU, so whoever waits gives it away.
 *
 * Threads that are no lcores take the places of all lcores, the main one included: that one sleeps,
 * and a thread on its CPU does what is left to do from start to stop.
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "bench.h"

#define SPINS 2000

struct bench_worker bench_workers[RTE_MAX_LCORE];

static struct {
	void (*task)(struct bench_worker *w);	/* NULL: it is over */
	unsigned int others;
	bool threads;
	pthread_t ids[RTE_MAX_LCORE];
	unsigned int phase __rte_cache_aligned;	/* counts phases; release of task and workers */
	unsigned int done __rte_cache_aligned;	/* others that finished this phase */
	bool failed __rte_cache_aligned;
} crew;

static void
wait_while(const unsigned int *what, unsigned int value)
{
	unsigned int spins = 0;

	while (__atomic_load_n(what, __ATOMIC_ACQUIRE) == value) {
		rte_pause();
		if (++spins % SPINS == 0)
			sched_yield();
	}
}

/* On an lcore or on a thread. */
static int
serve(void *arg)
{
	struct bench_worker *w = arg;
	unsigned int phase = 0;

	for (;;) {
		wait_while(&crew.phase, phase++);
		if (crew.task == NULL)
			return 0;
		crew.task(w);
		__atomic_fetch_add(&crew.done, 1, __ATOMIC_RELEASE);
	}
}

static void *
serve_as_thread(void *arg)
{
	serve(arg);
	return NULL;
}

/* Where the lcore runs. */
static int
start_thread(pthread_t *id, unsigned int lcore, void *(*call)(void *arg), void *arg)
{
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	ret = pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	if (ret == 0)
		ret = pthread_create(id, &attr, call, arg);
	pthread_attr_destroy(&attr);
	return ret == 0 ? 0 :
		bench_error("no thread on the CPU of lcore %u: %s", lcore, strerror(ret));
}

static int
start_one(unsigned int i, unsigned int lcore)
{
	if (crew.threads)
		return start_thread(&crew.ids[i], lcore, serve_as_thread, &bench_workers[i]);
	return rte_eal_remote_launch(serve, &bench_workers[i], lcore) == 0 ? 0 :
		bench_error("lcore %u is at work already", lcore);
}

/* A task: no lcore's way may be taken for that of a thread, nor the other way around. */
static void
check_kind(struct bench_worker *w __rte_unused)
{
	if ((rte_lcore_id() == LCORE_ID_ANY) != crew.threads)
		bench_crew_fail();
}

int
bench_crew_start(const unsigned int *lcores, unsigned int n, bool threads)
{
	int ret = 0;

	crew.phase = 0;
	crew.failed = false;
	crew.threads = threads;
	for (crew.others = 0; ret == 0 && crew.others < n - 1; crew.others += ret == 0)
		ret = start_one(crew.others + 1, lcores[crew.others + 1]);
	if (ret == 0 && bench_crew_run(check_kind) < 0)
		ret = bench_error("a thread %s an lcore", threads ? "is" : "is not");
	if (ret < 0)
		bench_crew_stop();
	return ret;
}

static void
call_phase(void (*task)(struct bench_worker *w))
{
	crew.task = task;
	crew.done = 0;
	__atomic_store_n(&crew.phase, crew.phase + 1, __ATOMIC_RELEASE);
}

int
bench_crew_run(void (*task)(struct bench_worker *w))
{
	call_phase(task);
	task(&bench_workers[0]);
	for (unsigned int i = 0; i < crew.others; i++)
		wait_while(&crew.done, i);
	return bench_crew_failed() ? -1 : 0;
}

void
bench_crew_stop(void)
{
	call_phase(NULL);
	if (!crew.threads)
		rte_eal_mp_wait_lcore();
	for (unsigned int i = 1; crew.threads && i <= crew.others; i++)
		pthread_join(crew.ids[i], NULL);
}

void
bench_crew_fail(void)
{
	__atomic_store_n(&crew.failed, true, __ATOMIC_RELAXED);
}

bool
bench_crew_failed(void)
{
	return __atomic_load_n(&crew.failed, __ATOMIC_RELAXED);
}

struct call {
	void (*call)(void *arg);
	void *arg;
};

static void *
do_call(void *arg)
{
	struct call *c = arg;

	c->call(c->arg);
	return NULL;
}

int
bench_crew_call(bool thread, void (*call)(void *arg), void *arg)
{
	struct call c = { call, arg };
	pthread_t id;

	if (!thread) {
		call(arg);
		return 0;
	}
	if (start_thread(&id, rte_get_main_lcore(), do_call, &c) < 0)
		return -1;
	pthread_join(id, NULL);
	return 0;
}
