/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a worker does in the phases of a case.
 */

#include <rte_cycles.h>

#include "bench.h"

/* Cycles of a turn that is long enough, and of one that is too long; objects of the longest. */
#define SHORT_TURN 100000
#define LONG_TURN 10000000
#define MAX_TICKET 32768
/* Where lcores take turns, a phase gets a second for so many objects, and then ends early. */
#define MANY (1 << 22)
/* Objects at once, when those to hold are got and put. */
#define CHUNK 64

static struct {
	enum bench_access how;
	uint64_t objects;
	bool share;
	uint64_t deadline;
	int64_t left __rte_cache_aligned;	/* of the objects, where lcores take turns */
} phase;

void
bench_work_rewind(struct bench_worker *w, unsigned int i)
{
	w->holding = w->oldest = 0;
	w->random = UINT64_C(0x2545f4914f6cdd1d) + i;
	w->burst = w->left = w->at = 0;
}

void
bench_work_give(struct bench_worker *w, unsigned int i, const struct bench_case *c,
	const struct bench_pool *pool, struct rte_ring *ring)
{
	const struct bench_pattern *p = c->pattern;

	w->mp = pool->mp;
	w->array = pool->array;
	w->ring = ring;
	w->loop = p->loops[i > 0];
	w->n = c->n;
	w->lines = c->lines;
	w->hold = w->loop == bench_loop_getter ? 0 : c->hold;
	w->fifo = p->fifo;
	w->row = 0;
	w->ticket = w->n;
	bench_work_rewind(w, i);
}

/* Nothing when all is given out, or no time is left. */
static uint64_t
take_ticket(uint64_t objects)
{
	int64_t left = __atomic_fetch_sub(&phase.left, (int64_t)objects, __ATOMIC_RELAXED);

	if (left <= 0 || bench_crew_failed() || rte_rdtsc() > phase.deadline)
		return 0;
	return RTE_MIN((uint64_t)left, objects);
}

/*
 * Turns get longer until taking them costs nothing to speak of. After one in which the lcore was
 * preempted, or waited for one that was, they are short again: else the phase might not end in time.
 */
static uint64_t
next_ticket(const struct bench_worker *w, uint64_t cycles)
{
	if (cycles > LONG_TURN)
		return w->n;
	return cycles < SHORT_TURN ? RTE_MIN(2 * w->ticket, (uint64_t)MAX_TICKET) : w->ticket;
}

/* Lcores that do alike take turns at one heap of work, so that none is alone at the end. */
static void
work_by_tickets(struct bench_worker *w)
{
	uint64_t ticket, start;

	while ((ticket = take_ticket(w->ticket)) != 0) {
		start = rte_rdtsc();
		w->objects += w->loop(w, phase.how, ticket);
		w->ticket = next_ticket(w, rte_rdtsc() - start);
	}
}

static void
work(struct bench_worker *w)
{
	w->get = w->put = (struct bench_meter){ 0 };
	w->objects = w->bulks = w->left_cache = 0;
	w->start = apps_clock();
	if (phase.share)
		work_by_tickets(w);
	else
		w->objects = w->loop(w, phase.how, phase.objects);
	w->end = apps_clock();
}

int
bench_work_run(const struct bench_case *c, enum bench_access how, uint64_t objects)
{
	char name[BENCH_NAME_SIZE];

	phase.share = c->pattern->share;
	phase.how = how;
	phase.objects = objects;
	phase.left = (int64_t)objects;
	phase.deadline = rte_rdtsc() + rte_get_tsc_hz() * RTE_MAX(1U, objects / MANY);
	if (bench_crew_run(work) == 0)
		return 0;
	bench_case_name(c, name);
	return bench_error("%s: the pool did not give %u objects at once, though it has enough",
		name, c->n);
}

void
bench_work_hold(struct bench_worker *w)
{
	for (unsigned int n; w->holding < w->hold; w->holding += n) {
		n = RTE_MIN((unsigned int)CHUNK, w->hold - w->holding);
		if ((w->mp != NULL ? rte_mempool_get_bulk(w->mp, w->held + w->holding, n) :
				w->array->get(w->array, w->held + w->holding, n)) < 0) {
			bench_crew_fail();
			return;
		}
	}
}

static void
put_objects(struct bench_worker *w, void *const *objs, unsigned int n)
{
	if (w->mp != NULL)
		rte_mempool_put_bulk(w->mp, objs, n);
	else
		w->array->put(w->array, objs, n);
}

/* Also what was underway when a pair failed. */
void
bench_work_return(struct bench_worker *w)
{
	unsigned int n;

	while (w->holding > 0) {
		n = RTE_MIN((unsigned int)CHUNK, w->holding);
		w->holding -= n;
		put_objects(w, w->held + w->holding, n);
	}
	while (w->loop == bench_loop_putter &&
			(n = rte_ring_sc_dequeue_burst(w->ring, w->objs, CHUNK, NULL)) > 0)
		put_objects(w, w->objs, n);
}
