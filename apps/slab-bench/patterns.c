/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "bench.h"

/*
 * What is done with objects. Held objects are those that are out of the pool all the time: of
 * each burst, every object is exchanged for one of them before the burst is put.
 */
const struct bench_pattern bench_patterns[] = {
	{ "reuse", BENCH_ONE, { bench_loop_bulk },
		.touch = true, .large = true, .small = true },
	{ "fallback", BENCH_ONE, { bench_loop_single }, .small = true },
	{ "scatter", BENCH_ONE, { bench_loop_bulk },
		.shuffled = true, .touch = true, .large = true, .holds = { 4000 } },
	{ "keep", BENCH_ONE, { bench_loop_bulk },
		.fifo = true, .touch = true, .large = true,
		.hold_name = "keep", .holds = { 1024, 8192 } },
	{ "shared", BENCH_ALL, { bench_loop_bulk, bench_loop_bulk },
		.share = true, .touch = true, .large = true },
	{ "pipeline", BENCH_PAIR, { bench_loop_getter, bench_loop_putter },
		.touch = true, .large = true, .hold_name = "hold", .holds = { 0, 4000 } },
	{ "pipeline_scatter", BENCH_PAIR, { bench_loop_getter, bench_loop_putter },
		.shuffled = true, .touch = true, .large = true,
		.hold_name = "hold", .holds = { 0, 4000 } },
	{ "oversubscribed", BENCH_OVER, { bench_loop_bulk, bench_loop_bulk },
		.share = true, .touch = true },
	{ "thread", BENCH_ONE, { bench_loop_bulk }, .threads = true },
	{ "threads", BENCH_ALL, { bench_loop_bulk, bench_loop_bulk },
		.share = true, .threads = true },
	{ "trace", BENCH_ONE, { bench_loop_trace }, .large = true },
};

const unsigned int bench_nb_patterns = RTE_DIM(bench_patterns);

const struct bench_pattern *
bench_pattern_find(const char *name)
{
	for (unsigned int i = 0; i < bench_nb_patterns; i++)
		if (strcmp(bench_patterns[i].name, name) == 0)
			return &bench_patterns[i];
	return NULL;
}
