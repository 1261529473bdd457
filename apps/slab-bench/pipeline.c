/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One lcore gets objects and writes them, another reads them and puts them. Between them is a
 * ring with one producer and one consumer. Objects may all be underway for a moment, so a get
 * that fails is tried again, for so long.
 */

#include <rte_cycles.h>
#include <rte_pause.h>

#include "access.h"

#define PATIENCE_S 5

/* Whether to try again what did not work since so many cycles. */
static bool __rte_noinline
be_patient(uint64_t *since)
{
	uint64_t now = rte_rdtsc();

	if (*since == 0)
		*since = now;
	if (now - *since > PATIENCE_S * rte_get_tsc_hz())
		bench_crew_fail();
	rte_pause();
	return !bench_crew_failed();
}

static __rte_always_inline uint64_t
getter(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	unsigned int n = w->n, lines = how == BENCH_NONE ? 0 : w->lines;
	uint64_t done, since;

	for (done = 0; done < objects; done += n) {
		for (since = 0; unlikely(bench_get(w, how, w->objs, n) < 0);)
			if (!be_patient(&since))
				return done;
		if (lines != 0)
			for (unsigned int i = 0; i < n; i++)
				bench_write(w->objs[i], lines, done);
		for (since = 0; rte_ring_sp_enqueue_bulk(w->ring, w->objs, n, NULL) == 0;) {
			if (!be_patient(&since)) {
				bench_put(w, how, w->objs, n);
				return done;
			}
		}
	}
	return done;
}

BENCH_LOOP(bench_loop_getter, getter)

static __rte_always_inline uint64_t
putter(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	unsigned int n = w->n, lines = how == BENCH_NONE ? 0 : w->lines;
	uint64_t done, since;

	for (done = 0; done < objects; done += n) {
		for (since = 0; rte_ring_sc_dequeue_bulk(w->ring, w->objs, n, NULL) == 0;)
			if (!be_patient(&since))
				return done;
		if (lines != 0)
			for (unsigned int i = 0; i < n; i++)
				bench_read(w->objs[i], lines);
		if (w->hold != 0)
			bench_exchange(w, w->objs, n);
		bench_put(w, how, w->objs, n);
	}
	return done;
}

BENCH_LOOP(bench_loop_putter, putter)
