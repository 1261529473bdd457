/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a get costs by itself, and a put: many gets in a row, then as many puts. The clock is read
 * once for each row, so that it weighs nothing; and a row is long enough that caches run empty and
 * full as often as they do in the long run.
 */

#include "access.h"

#define ROW 4096
#define LOOPS 7
#define WARM_UP 65536

/* All of them, or none. */
static __rte_always_inline bool
get_row(struct bench_worker *w, enum bench_access how)
{
	unsigned int n = w->n, got;

	for (got = 0; got < w->row; got += n)
		if (unlikely(bench_get(w, how, w->held + got, n) < 0))
			break;
	for (unsigned int i = 0; unlikely(got < w->row) && i < got; i += n)
		bench_put(w, how, w->held + i, n);
	return likely(got == w->row);
}

static __rte_always_inline void
put_row(struct bench_worker *w, enum bench_access how)
{
	unsigned int n = w->n;

	for (unsigned int i = 0; i < w->row; i += n)
		bench_put(w, how, w->held + i, n);
}

static __rte_always_inline uint64_t
rows(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	uint64_t done, start, middle;

	for (done = 0; done < objects; done += w->row) {
		start = apps_clock();
		if (unlikely(!get_row(w, how))) {
			bench_crew_fail();
			return done;
		}
		middle = apps_clock();
		put_row(w, how);
		bench_meter_add(&w->put, w->row, apps_clock() - middle);
		bench_meter_add(&w->get, w->row, middle - start);
	}
	return done;
}

BENCH_LOOP(bench_loop_rows, rows)

/* Bursts that fill it; and all workers' together are half of the pool at most. */
static unsigned int
row_length(const struct bench_case *c, unsigned int workers)
{
	unsigned int most = RTE_MIN(c->objects / 2 / workers, (unsigned int)ROW);

	return RTE_MAX(most / c->n, 1U) * c->n;
}

/* What the loops cost by object when there is no pool. */
static void
measure_loops(struct bench_worker *w, double *get, double *put)
{
	double gets[LOOPS], puts[LOOPS];

	for (unsigned int i = 0; i < LOOPS; i++) {
		w->get = w->put = (struct bench_meter){ 0 };
		bench_loop_rows(w, BENCH_NONE, ROW);
		gets[i] = bench_metered_cycles(&w->get);
		puts[i] = bench_metered_cycles(&w->put);
	}
	*get = apps_median(gets, LOOPS);
	*put = apps_median(puts, LOOPS);
}

static void
give_rows(struct bench_worker *w, unsigned int row)
{
	w->loop = bench_loop_rows;
	w->row = row;
}

static void
add_up(struct bench_meter *sum, const struct bench_meter *m)
{
	sum->timed += m->timed;
	sum->objects += m->objects;
	sum->cycles += m->cycles;
}

int
bench_rows_measure(const struct bench_case *c, unsigned int workers, uint64_t objects,
	struct bench_result *result)
{
	struct bench_meter get = { 0 }, put = { 0 };
	double get_loop, put_loop;

	for (unsigned int i = 0; i < workers; i++)
		give_rows(&bench_workers[i], row_length(c, workers));
	measure_loops(&bench_workers[0], &get_loop, &put_loop);
	if (bench_work_run(c, BENCH_POOL, WARM_UP) < 0 ||
			bench_work_run(c, BENCH_POOL, objects) < 0)
		return -1;
	for (unsigned int i = 0; i < workers; i++) {
		add_up(&get, &bench_workers[i].get);
		add_up(&put, &bench_workers[i].put);
	}
	result->get = bench_metered_cycles(&get) - get_loop;
	result->put = bench_metered_cycles(&put) - put_loop;
	return 0;
}
