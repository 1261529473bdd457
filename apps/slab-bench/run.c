/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "bench.h"
#include "shim.h"

/* Below these, starting and stopping the lcores would be seen in the figures. */
#define MIN_OBJECTS 65536
#define MIN_OBJECTS_BY_LCORE 262144

static bool any_failed;

bool
bench_run_failed(void)
{
	return any_failed;
}

void
bench_run_fail(struct bench_state *state)
{
	any_failed = true;
	bench_state_fail(state, bench_last_error());
}

/* One iteration is one object. All that is wanted is one batch: it is measured as a whole. */
static uint64_t
batch_size(const struct bench_case *c, const struct bench_state *state)
{
	uint64_t min = c->pattern->lcores == BENCH_ONE ? MIN_OBJECTS :
		(uint64_t)MIN_OBJECTS_BY_LCORE * rte_lcore_count();
	uint64_t objects = RTE_MAX(bench_state_wanted(state), min);

	return (objects + c->n - 1) / c->n * c->n;
}

static void
report_counts(struct bench_state *state, const struct bench_case *c)
{
	const struct bench_counts *counts = &c->counts;

	/* Behind array is no driver that a call could reach. */
	if (!bench_driver_is_array(c->driver))
		bench_state_counter(state, "left_cache", counts->left_cache);
	bench_state_counter(state, "distinct", counts->distinct);
	if (counts->has_visits) {
		bench_state_counter(state, "depot_per_1000", counts->depot);
		bench_state_counter(state, "slab_per_1000", counts->slab);
	}
}

static void
report_calls(struct bench_state *state, const struct bench_result *r)
{
	bench_state_counter(state, "p50", r->p50);
	bench_state_counter(state, "p99", r->p99);
	bench_state_counter(state, "p9999", r->p9999);
	bench_state_counter(state, "max", r->max);
}

static void
report(struct bench_state *state, const struct bench_case *c, const struct bench_result *r)
{
	enum bench_lcores lcores = c->pattern->lcores;

	bench_state_counter(state, "cycles_per_obj", r->cycles);
	bench_state_counter(state, "ns_per_obj", r->cycles * 1e9 / rte_get_tsc_hz());
	bench_state_counter(state, "loop_cycles", r->loop);
	if (lcores == BENCH_PAIR)
		bench_state_counter(state, "pool_cycles", r->pool);
	if (lcores == BENCH_ALL)
		bench_state_counter(state, "worst_lcore", r->worst);
	if (lcores != BENCH_ONE)
		bench_state_counter(state, "Mobjs_per_s", r->rate / 1e6);
	if (lcores == BENCH_OVER)
		report_calls(state, r);
	if (c->pattern->threads) {
		bench_state_counter(state, "get_cycles", r->get);
		bench_state_counter(state, "put_cycles", r->put);
	}
	report_counts(state, c);
}

struct job {
	struct bench_state *state;
	struct bench_case *c;
};

static void
run(void *arg)
{
	struct bench_state *state = ((struct job *)arg)->state;
	struct bench_case *c = ((struct job *)arg)->c;
	uint64_t batch = batch_size(c, state);
	struct bench_result result;
	int ret = 0;

	if ((!c->counts.done && bench_measure_counts(c) < 0) || bench_measure_begin(c) < 0) {
		bench_run_fail(state);
		return;
	}
	while (ret == 0 && bench_state_keep_running(state, batch))
		ret = bench_measure_run(c, batch);
	if (bench_measure_end(c, &result) < 0)
		bench_run_fail(state);
	else
		report(state, c, &result);
}

/* The lcore that Google Benchmark calls must not be at work beside a thread on its CPU. */
void
bench_run(struct bench_state *state, struct bench_case *c)
{
	struct job job = { state, c };

	if (bench_crew_call(bench_case_has_threads(c), run, &job) < 0)
		bench_run_fail(state);
}
