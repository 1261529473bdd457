/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table in which Linux showed the fast path of SLUB without locks: cycles by size before and
 * after, for many objects got and then put, and for each put at once. Here it is about threads that
 * are no lcores: before, all they had was the depot.
 */

#include <math.h>

#include <rte_cycles.h>

#include "bench.h"

#define ROUNDS 15
#define ROUND_OBJECTS 65536

/*
 * Published in October 2007 with the patches that brought cmpxchg_local, as measured by the
 * author of SLUB: before, after.
 */
static const struct {
	unsigned int size;
	double kernel[3][2];
} sizes[] = {
	{ 8, { { 79, 55 }, { 92, 90 }, { 124, 81 } } },
	{ 64, { { 124, 100 }, { 132, 141 }, { 124, 81 } } },
	{ 16384, { { 646, 630 }, { 471, 546 }, { 539, 536 } } },
};

static const char *const columns[] = { "get", "put", "both" };
static const unsigned int bursts[] = { 1, 8, 32 };

/* Before, after and after; and what cannot be reached. */
static const char *const ways[] = { "depot", "lock", "rseq", "lcore" };

struct figures {
	double cycles[RTE_DIM(columns)][ROUNDS];
};

static struct figures figures[RTE_DIM(sizes)][RTE_DIM(bursts)][RTE_DIM(ways)];

static const struct bench_driver *
driver_of(unsigned int way)
{
	char name[32];

	snprintf(name, sizeof(name), "slab-%s", ways[way]);
	return bench_driver_find(name);
}

static int
measure(unsigned int size, unsigned int burst, unsigned int way, unsigned int round)
{
	struct figures *f = &figures[size][burst][way];
	struct bench_result result = { .get = NAN, .put = NAN, .cycles = NAN };
	struct bench_case c = {
		.pattern = bench_pattern_find("thread"), .driver = driver_of(way),
		.n = bursts[burst], .objects = BENCH_OBJECTS, .size = sizes[size].size,
	};

	if (bench_driver_missing(c.driver) == NULL &&
			bench_measure(&c, ROUND_OBJECTS, &result) < 0)
		return -1;
	f->cycles[0][round] = result.get;
	f->cycles[1][round] = result.put;
	f->cycles[2][round] = result.cycles;
	return 0;
}

static int
measure_round(unsigned int round)
{
	for (unsigned int size = 0; size < RTE_DIM(sizes); size++)
		for (unsigned int burst = 0; burst < RTE_DIM(bursts); burst++)
			for (unsigned int way = 0; way < RTE_DIM(ways); way++)
				if (measure(size, burst, way, round) < 0)
					return -1;
	return 0;
}

static double
cycles_of(unsigned int size, unsigned int burst, unsigned int way, unsigned int column)
{
	return apps_median(figures[size][burst][way].cycles[column], ROUNDS);
}

static void
print_row(unsigned int size, unsigned int burst)
{
	printf("%5u %3u", sizes[size].size, bursts[burst]);
	for (unsigned int column = 0; column < RTE_DIM(columns); column++) {
		printf("  ");
		for (unsigned int way = 0; way < RTE_DIM(ways); way++)
			printf(" %6.2f", cycles_of(size, burst, way, column));
	}
	printf("\n");
}

static void
print_cycles(void)
{
	for (unsigned int column = 0; column < RTE_DIM(columns); column++)
		printf("%*s", column == 0 ? 27 : 30, columns[column]);
	printf("\n%5s %3s", "size", "n");
	for (unsigned int column = 0; column < RTE_DIM(columns); column++) {
		printf("  ");
		for (unsigned int way = 0; way < RTE_DIM(ways); way++)
			printf(" %6s", ways[way]);
	}
	printf("\n");
	for (unsigned int size = 0; size < RTE_DIM(sizes); size++)
		for (unsigned int burst = 0; burst < RTE_DIM(bursts); burst++)
			print_row(size, burst);
}

/* Of the depot's, one by one, as the kernel has no bulks there. */
static void
print_saved_by(unsigned int size, unsigned int way)
{
	printf("  ");
	for (unsigned int column = 0; column < RTE_DIM(columns); column++)
		printf(" %6.1f%%", bench_table_saved(cycles_of(size, 0, 0, column),
			cycles_of(size, 0, way, column)));
}

static void
print_saved_by_kernel(unsigned int size)
{
	const double (*kernel)[2] = sizes[size].kernel;

	printf("  ");
	for (unsigned int column = 0; column < RTE_DIM(columns); column++)
		printf("  %3.0f %5.1f%%", kernel[column][0],
			bench_table_saved(kernel[column][0], kernel[column][1]));
}

static void
print_saved(void)
{
	printf("\n%22s %25s %36s\n%5s   %7s %7s %7s   %7s %7s %7s   %10s %10s %10s\n", "lock saves",
		"rseq saves", "kernel*: of cycles, saved", "size", "get", "put", "both", "get",
		"put", "both", "get", "put", "both");
	for (unsigned int size = 0; size < RTE_DIM(sizes); size++) {
		printf("%5u", sizes[size].size);
		print_saved_by(size, 1);
		print_saved_by(size, 2);
		print_saved_by_kernel(size);
		printf("\n");
	}
}

static void
print(void)
{
	printf("TSC cycles for an object, by a thread that is no lcore; %d objects, cache 0;\n"
		"get and put: many in a row, both: get n, put n; medians of %d rounds; TSC %.0f\n"
		"MHz; the loops' own cycles and the clock's (%.0f a reading) are taken off.\n"
		"depot: before; lock, rseq: after; lcore: what an lcore takes.\n\n",
		BENCH_OBJECTS, ROUNDS, rte_get_tsc_hz() / 1e6, bench_clock_cost());
	print_cycles();
	print_saved();
	printf("\n* Linux' SLUB allocator as published in October 2007 with cmpxchg_local:\n"
		"another machine, a kernel's work. Compare what is saved, not cycles.\n");
}

int
bench_table_threads(void)
{
	if (bench_table_check() < 0)
		return -1;
	for (unsigned int way = 0; way < RTE_DIM(ways); way++)
		if (bench_driver_missing(driver_of(way)) != NULL)
			bench_error("no figures of %s: %s", ways[way],
				bench_driver_missing(driver_of(way)));
	for (unsigned int round = 0; round < ROUNDS; round++)
		if (measure_round(round) < 0)
			return -1;
	print();
	return 0;
}
