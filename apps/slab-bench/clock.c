/* SPDX-License-Identifier: BSD-3-Clause */


#include <rte_cycles.h>

#include "access.h"

#define SAMPLES 101
#define READINGS 100

/* One call in so many is timed: a prime, so as not to fall in step with caches that fill. */
#define TIMED 7

/* 100 us, as a part of a second. */
#define INTERRUPTED 10000

static double cost;

/* Means, because some TSCs move in steps; their median, because some readings get interrupted. */
void
bench_clock_init(void)
{
	double means[SAMPLES];
	uint64_t sum, start;

	for (unsigned int i = 0; i < SAMPLES; i++) {
		sum = 0;
		for (unsigned int j = 0; j < READINGS; j++) {
			start = apps_clock();
			sum += apps_clock() - start;
		}
		means[i] = (double)sum / READINGS;
	}
	cost = apps_median(means, SAMPLES);
}

double
bench_clock_cost(void)
{
	return cost;
}

void
bench_meter_add(struct bench_meter *m, unsigned int n, uint64_t cycles)
{
	m->timed++;
	m->objects += n;
	m->cycles += cycles;
}

/* A call that took so long was interrupted: what others did meanwhile is not the pool's. */
static void
add_call(struct bench_meter *m, unsigned int n, uint64_t cycles)
{
	if (cycles <= rte_get_tsc_hz() / INTERRUPTED)
		bench_meter_add(m, n, cycles);
}

int
bench_metered_get(struct bench_worker *w, void **objs, unsigned int n)
{
	uint64_t start;
	int ret;

	if (++w->get.calls % TIMED != 0)
		return rte_mempool_get_bulk(w->mp, objs, n);
	start = apps_clock();
	ret = rte_mempool_get_bulk(w->mp, objs, n);
	if (ret == 0)
		add_call(&w->get, n, apps_clock() - start);
	return ret;
}

void
bench_metered_put(struct bench_worker *w, void *const *objs, unsigned int n)
{
	uint64_t start;

	if (++w->put.calls % TIMED != 0) {
		rte_mempool_put_bulk(w->mp, objs, n);
		return;
	}
	start = apps_clock();
	rte_mempool_put_bulk(w->mp, objs, n);
	add_call(&w->put, n, apps_clock() - start);
}

double
bench_metered_cycles(const struct bench_meter *m)
{
	return m->objects == 0 ? 0 : ((double)m->cycles - cost * m->timed) / m->objects;
}
