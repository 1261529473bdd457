/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long single calls take. Each of them is timed, and counted in a histogram in which slots are
 * as wide as a sixteenth of what they count: so any number of calls takes the same memory, and what
 * is read from it is a thirty-second wrong at most.
 */

#include <string.h>

#include "access.h"

/* Below this each number has a slot of its own; from here on, 16 for each power of two. */
#define PART 16
#define PART_BITS 4

/* So that one call in 10,000 is seen, where calls are so slow that few objects were measured. */
#define MIN_OBJECTS (1 << 20)

static unsigned int
slot_of(uint64_t cycles)
{
	unsigned int shift;

	if (cycles < PART)
		return (unsigned int)cycles;
	shift = 63 - PART_BITS - (unsigned int)__builtin_clzll(cycles);
	return PART * shift + (unsigned int)(cycles >> shift);
}

/* In the middle of what the slot counts. */
static double
cycles_of(unsigned int slot)
{
	unsigned int shift;

	if (slot < 2 * PART)
		return slot;
	shift = slot / PART - 1;
	return (PART + slot % PART + 0.5) * (double)(UINT64_C(1) << shift);
}

static void
add(struct bench_histogram *h, uint64_t cycles)
{
	h->slots[slot_of(cycles)]++;
	h->n++;
	h->max = RTE_MAX(h->max, cycles);
}

static void
add_all(struct bench_histogram *to, const struct bench_histogram *from)
{
	for (unsigned int i = 0; i < BENCH_SLOTS; i++)
		to->slots[i] += from->slots[i];
	to->n += from->n;
	to->max = RTE_MAX(to->max, from->max);
}

/* All but so many of a million calls took no longer. */
static double
quantile(const struct bench_histogram *h, unsigned int but)
{
	uint64_t longer = h->n * but / 1000000, seen = 0;
	unsigned int slot = BENCH_SLOTS;

	while (slot > 0 && seen <= longer)
		seen += h->slots[--slot];
	return RTE_MIN(cycles_of(slot), (double)h->max);
}

int
bench_timed_get(struct bench_worker *w, void **objs, unsigned int n)
{
	uint64_t start = apps_clock();
	int ret = rte_mempool_get_bulk(w->mp, objs, n);

	add(&w->calls, apps_clock() - start);
	return ret;
}

void
bench_timed_put(struct bench_worker *w, void *const *objs, unsigned int n)
{
	uint64_t start = apps_clock();

	rte_mempool_put_bulk(w->mp, objs, n);
	add(&w->calls, apps_clock() - start);
}

/* The clock's own taken off. */
static double
net(double cycles)
{
	return RTE_MAX(cycles - bench_clock_cost(), 0.0);
}

int
bench_calls_measure(const struct bench_case *c, unsigned int workers, uint64_t objects,
	struct bench_result *result)
{
	static struct bench_histogram all;

	memset(&all, 0, sizeof(all));
	for (unsigned int i = 0; i < workers; i++)
		memset(&bench_workers[i].calls, 0, sizeof(all));
	if (bench_work_run(c, BENCH_TIMED, RTE_MAX(objects, (uint64_t)MIN_OBJECTS)) < 0)
		return -1;
	for (unsigned int i = 0; i < workers; i++)
		add_all(&all, &bench_workers[i].calls);
	result->p50 = net(quantile(&all, 500000));
	result->p99 = net(quantile(&all, 10000));
	result->p9999 = net(quantile(&all, 100));
	result->max = net((double)all.max);
	return 0;
}
