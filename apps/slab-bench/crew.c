/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lcores at work. From start to stop each of them waits for phases; the main lcore calls
 * them and takes part. Lcores may share a CPU, so whoever waits gives it away.
 */

#include <sched.h>

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "bench.h"

#define SPINS 2000

struct bench_worker bench_workers[RTE_MAX_LCORE];

static struct {
	void (*task)(struct bench_worker *w);	/* NULL: it is over */
	unsigned int others;
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

void
bench_crew_start(const unsigned int *lcores, unsigned int n)
{
	crew.phase = 0;
	crew.failed = false;
	crew.others = n - 1;
	for (unsigned int i = 1; i < n; i++)
		rte_eal_remote_launch(serve, &bench_workers[i], lcores[i]);
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
	rte_eal_mp_wait_lcore();
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
