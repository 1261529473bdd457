/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The table in which Linux showed its bulk calls: cycles by object, one by one against in bulk.
 */

#include <rte_cycles.h>

#include "bench.h"

#define ROUNDS 15
#define ROUND_OBJECTS 262144
#define SIZE 256

/* Published with the RFC of SLAB's bulk calls, December 2015; one by one all took 95 cycles. */
#define KERNEL_SINGLE 95

static const struct {
	unsigned int n, kernel;
} rows[] = {
	{ 1, 42 }, { 2, 27 }, { 3, 22 }, { 4, 21 }, { 8, 18 }, { 16, 17 }, { 30, 16 },
	{ 32, 16 }, { 34, 18 }, { 48, 17 }, { 64, 17 }, { 128, 19 }, { 158, 18 }, { 250, 20 },
};

static const char *const how[] = { "fallback", "reuse" };
static double cycles[RTE_DIM(rows)][RTE_DIM(how)][ROUNDS];

static int
measure(unsigned int row, unsigned int single_or_bulk, unsigned int round)
{
	struct bench_result result;
	struct bench_case c = {
		.pattern = bench_pattern_find(how[single_or_bulk]),
		.driver = bench_driver_find("slab"),
		.n = rows[row].n, .objects = BENCH_OBJECTS, .size = SIZE,
	};

	if (bench_measure(&c, ROUND_OBJECTS, &result) < 0)
		return -1;
	cycles[row][single_or_bulk][round] = result.cycles;
	return 0;
}

double
bench_table_saved(double before, double after)
{
	return 100 * (1 - after / before);
}

int
bench_table_check(void)
{
	return bench_driver_missing(bench_driver_find("slab")) == NULL ? 0 :
		bench_error("--table is about slab, which is not loaded: "
			"-d librte_mempool_slab.so");
}

static void
print_row(unsigned int row)
{
	double single = apps_median(cycles[row][0], ROUNDS);
	double bulk = apps_median(cycles[row][1], ROUNDS);
	double kernel = rows[row].kernel;

	printf("%4u   %10.2f %10.2f %10.1f%%   %10d %10.0f %10.1f%%\n", rows[row].n, single, bulk,
		bench_table_saved(single, bulk), KERNEL_SINGLE, kernel,
		bench_table_saved(KERNEL_SINGLE, kernel));
}

static void
print(void)
{
	printf("TSC cycles for an object of %d bytes, get and put; %d objects, cache 0, one lcore;\n"
		"medians of %d rounds; TSC %.0f MHz; the loop's own cycles and the clock's (%.0f a\n"
		"reading) are taken off.\n\n", SIZE, BENCH_OBJECTS, ROUNDS,
		rte_get_tsc_hz() / 1e6, bench_clock_cost());
	printf("%4s   %10s %10s %11s   %10s %10s %11s\n", "", "slab", "", "", "kernel*", "", "");
	printf("%4s   %10s %10s %11s   %10s %10s %11s\n", "bulk", "one by one", "bulk", "improved",
		"fast path", "bulk", "improved");
	for (unsigned int row = 0; row < RTE_DIM(rows); row++)
		print_row(row);
	printf("\n* Linux' SLAB allocator as published in December 2015 with its bulk calls: another\n"
		"machine, a kernel's work. Compare what bulks save, not cycles.\n");
}

int
bench_table_bulk(void)
{
	if (bench_table_check() < 0)
		return -1;
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int row = 0; row < RTE_DIM(rows); row++)
			for (unsigned int i = 0; i < RTE_DIM(how); i++)
				if (measure(row, i, round) < 0)
					return -1;
	print();
	return 0;
}
