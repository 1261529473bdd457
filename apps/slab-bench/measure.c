/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One case, from start to figures:
 *
 *     begin   the pool into its known state; what the loop costs without a pool; objects to
 *             hold; a round through the pool, so that what comes is like what follows it
 *     run     the clock is read by each lcore before and after its part, nowhere else
 *     end     some more, with the clock read otherwise, where a pattern has more figures; all
 *             objects back
 */

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "bench.h"

#define LOOPS 7
#define LOOP_OBJECTS 32768
#define PAIR_LOOP_OBJECTS 262144
#define WARM_UP 65536
#define COUNTED (1 << 20)

static struct {
	const struct bench_case *c;
	unsigned int lcores[RTE_MAX_LCORE], n;
	uint64_t objects;	/* of the last run */
	double loop;
	struct bench_result result;
} now;

static void
span(uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (unsigned int i = 0; i < now.n; i++) {
		*first = RTE_MIN(*first, bench_workers[i].start);
		*last = RTE_MAX(*last, bench_workers[i].end);
	}
}

static double
wall_cycles(void)
{
	uint64_t first, last;

	span(&first, &last);
	return (double)(last - first) - bench_clock_cost();
}

static double
cycles_of(const struct bench_worker *w)
{
	return (double)(w->end - w->start) - bench_clock_cost();
}

/*
 * By object, gross. Where each lcore gets and puts, what passes on it; in a pair, what passes on
 * the clock; where lcores share CPUs, what passes on the CPUs.
 */
static double
cycles_by_object(uint64_t objects)
{
	double sum = 0;

	if (now.c->pattern->lcores == BENCH_PAIR)
		return wall_cycles() / objects;
	if (now.c->pattern->lcores == BENCH_OVER)
		return wall_cycles() * bench_lcores_cpus() / objects;
	for (unsigned int i = 0; i < now.n; i++)
		sum += cycles_of(&bench_workers[i]);
	return sum / objects;
}

/* Both lcores of a pair count the same objects. */
static uint64_t
objects_done(void)
{
	uint64_t sum = 0;

	if (now.c->pattern->lcores == BENCH_PAIR)
		return bench_workers[0].objects;
	for (unsigned int i = 0; i < now.n; i++)
		sum += bench_workers[i].objects;
	return sum;
}

static double
slowest(void)
{
	double worst = 0;

	for (unsigned int i = 0; i < now.n; i++)
		if (bench_workers[i].objects > 0)
			worst = RTE_MAX(worst, cycles_of(&bench_workers[i]) /
				bench_workers[i].objects);
	return worst;
}

/* On one lcore, where lcores do alike: the loop waits for nobody then. */
static double
loop_alone(void)
{
	struct bench_worker *w = &bench_workers[0];

	w->start = apps_clock();
	w->objects = w->loop(w, BENCH_NONE, LOOP_OBJECTS);
	w->end = apps_clock();
	return cycles_of(w) / w->objects;
}

/* What is underway between a pair is no object here, and must not stay in the ring. */
static double
loop_of_pair(void)
{
	if (bench_work_run(now.c, BENCH_NONE, PAIR_LOOP_OBJECTS) == 0)
		return wall_cycles() / objects_done();
	rte_ring_reset(bench_workers[0].ring);
	return 0;
}

static double
measure_loop(void)
{
	double values[LOOPS];

	for (unsigned int i = 0; i < LOOPS && !bench_crew_failed(); i++)
		values[i] = now.c->pattern->lcores == BENCH_PAIR ? loop_of_pair() : loop_alone();
	return bench_crew_failed() ? 0 : apps_median(values, LOOPS);
}

static struct rte_ring *
ring_for(const struct bench_case *c)
{
	unsigned int slots = RTE_MAX(1024U, rte_align32pow2(4 * c->n));
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;

	snprintf(name, sizeof(name), "bench_ring_%u", slots);
	ring = rte_ring_lookup(name);
	if (ring == NULL)
		ring = rte_ring_create(name, slots, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (ring == NULL)
		bench_error("no ring of %u slots: %s", slots, rte_strerror(rte_errno));
	return ring;
}

static int
start(struct bench_case *c, struct bench_pool *pool)
{
	struct rte_ring *ring = NULL;

	if (pool == NULL || bench_pool_reset(pool, c->pattern->shuffled) < 0)
		return -1;
	if (c->pattern->lcores == BENCH_PAIR && (ring = ring_for(c)) == NULL)
		return -1;
	now.c = c;
	now.n = bench_case_lcores(c, now.lcores);
	for (unsigned int i = 0; i < now.n; i++)
		bench_work_give(&bench_workers[i], i, c, pool, ring);
	return bench_crew_start(now.lcores, now.n, bench_case_has_threads(c));
}

static void
stop(void)
{
	bench_crew_run(bench_work_return);
	bench_crew_stop();
}

/* The state from which everything is measured and counted; the loop moved on in the trace. */
static int
settle(void)
{
	for (unsigned int i = 0; i < now.n; i++)
		bench_work_rewind(&bench_workers[i], i);
	return bench_crew_run(bench_work_hold) < 0 ?
		bench_error("the pool did not give the %u objects to hold", now.c->hold) : 0;
}

static enum bench_access
plain_access(void)
{
	return bench_workers[0].mp != NULL ? BENCH_POOL : BENCH_ARRAY;
}

int
bench_measure_begin(struct bench_case *c)
{
	if (start(c, bench_pool_get(c, false)) < 0)
		return -1;
	now.loop = measure_loop();
	if (settle() == 0 && bench_work_run(now.c, plain_access(), RTE_MAX(c->objects, WARM_UP)) == 0)
		return 0;
	stop();
	return -1;
}

int
bench_measure_run(struct bench_case *c, uint64_t objects)
{
	double gross, wall;
	uint64_t done;

	now.objects = objects;
	if (bench_work_run(now.c, plain_access(), objects) < 0)
		return -1;
	done = objects_done();
	gross = cycles_by_object(done);
	wall = wall_cycles();
	now.result = (struct bench_result){
		.cycles = gross - (c->pattern->lcores == BENCH_PAIR ? 0 : now.loop),
		.loop = now.loop,
		.worst = slowest() - now.loop,
		.rate = (double)done * rte_get_tsc_hz() / wall,
	};
	return 0;
}

static int
measure_pool_of_pair(void)
{
	int ret = bench_work_run(now.c, BENCH_METERED, RTE_MAX(now.objects / 8, (uint64_t)WARM_UP));

	now.result.pool = bench_metered_cycles(&bench_workers[0].get) +
		bench_metered_cycles(&bench_workers[1].put);
	return ret;
}

static int
measure_more(void)
{
	if (now.c->pattern->lcores == BENCH_PAIR)
		return measure_pool_of_pair();
	if (now.c->pattern->lcores == BENCH_OVER)
		return bench_calls_measure(now.c, now.n, now.objects / 8, &now.result);
	if (now.c->pattern->threads)
		return bench_rows_measure(now.c, now.n, now.objects, &now.result);
	return 0;
}

int
bench_measure_end(struct bench_case *c __rte_unused, struct bench_result *result)
{
	int ret = bench_crew_failed() ? -1 : measure_more();

	*result = now.result;
	stop();
	return ret;
}

struct job {
	struct bench_case *c;
	uint64_t objects;
	struct bench_result *result;
	int ret;
};

static void
measure(void *arg)
{
	struct job *job = arg;

	job->ret = bench_measure_begin(job->c);
	if (job->ret < 0)
		return;
	job->ret = bench_measure_run(job->c, job->objects);
	if (bench_measure_end(job->c, job->result) < 0)
		job->ret = -1;
}

int
bench_measure(struct bench_case *c, uint64_t objects, struct bench_result *result)
{
	struct job job = { c, objects, result, -1 };

	return bench_crew_call(bench_case_has_threads(c), measure, &job) < 0 ? -1 : job.ret;
}

static void
fill_in_counts(struct bench_counts *counts)
{
	uint64_t bulks = 0, left = 0;

	for (unsigned int i = 0; i < now.n; i++) {
		bulks += bench_workers[i].bulks;
		left += bench_workers[i].left_cache;
	}
	counts->left_cache = bulks == 0 ? 0 : (double)left / bulks;
	counts->done = true;
}

static int
count_all(struct bench_case *c, const struct bench_pool *pool)
{
	struct bench_visits before, after;
	bool counting = pool->stats && bench_visits_read(pool->mp, &before) == 0;
	int ret;

	if (bench_count_begin(pool) < 0)
		return -1;
	ret = bench_work_run(now.c, BENCH_COUNTED, COUNTED);
	c->counts.distinct = bench_count_end(pool);
	fill_in_counts(&c->counts);
	c->counts.has_visits = counting && bench_visits_read(pool->mp, &after) == 0;
	if (c->counts.has_visits) {
		c->counts.depot = 1000.0 * (after.depot - before.depot) / objects_done();
		c->counts.slab = 1000.0 * (after.slab - before.slab) / objects_done();
	}
	return ret;
}

int
bench_measure_counts(struct bench_case *c)
{
	struct bench_pool *pool = bench_pool_get(c, bench_driver_is(c->driver, "slab"));
	int ret;

	if (start(c, pool) < 0)
		return -1;
	ret = settle();
	if (ret == 0)
		ret = count_all(c, pool);
	stop();
	return ret;
}
