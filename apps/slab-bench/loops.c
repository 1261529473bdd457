/* SPDX-License-Identifier: BSD-3-Clause */

#include "access.h"

static uint64_t __rte_cold
give_up(uint64_t done)
{
	bench_crew_fail();
	return done;
}

/* Get n, write them, exchange them for others, put n. */
static __rte_always_inline uint64_t
bulk(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	unsigned int n = w->n, lines = how == BENCH_NONE ? 0 : w->lines;
	uint64_t done;

	for (done = 0; done < objects; done += n) {
		if (unlikely(bench_get(w, how, w->objs, n) < 0))
			return give_up(done);
		if (lines != 0)
			for (unsigned int i = 0; i < n; i++)
				bench_write(w->objs[i], lines, done);
		if (w->hold != 0)
			bench_exchange(w, w->objs, n);
		bench_put(w, how, w->objs, n);
	}
	return done;
}

BENCH_LOOP(bench_loop_bulk, bulk)

/* n times get one, then n times put one: what an application does that has no bulks. */
static __rte_always_inline uint64_t
single(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	unsigned int n = w->n, got, i;
	uint64_t done;

	for (done = 0; done < objects; done += n) {
		for (got = 0; got < n; got++)
			if (unlikely(bench_get(w, how, &w->objs[got], 1) < 0))
				break;
		for (i = 0; i < got; i++)
			bench_put(w, how, &w->objs[i], 1);
		if (unlikely(got < n))
			return give_up(done);
	}
	return done;
}

BENCH_LOOP(bench_loop_single, single)
