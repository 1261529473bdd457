/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "l2fwd.h"

static double
ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static uint64_t
sent_since_last_time(void)
{
	static uint64_t before;
	const struct l2fwd_port *p;
	uint64_t sum = 0, since;

	L2FWD_FOREACH_PORT(p)
		sum += p->tx.sent;
	since = sum - before;
	before = sum;
	return since;
}

/* From the first packet to the last: waiting for an end condition is no part of it. */
static double
seconds_moving(void)
{
	uint64_t first = UINT64_MAX, last = 0;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore) {
		const struct l2fwd_worker *w = &l2fwd_workers[lcore];

		if (w->last == 0)
			continue;
		first = RTE_MIN(first, w->first);
		last = RTE_MAX(last, w->last);
	}
	return last > first ? (double)(last - first) / rte_get_tsc_hz() : NAN;
}

/* A packet of a pipeline passes two lcores, and pays on both. */
static double
cycles_per_packet(void)
{
	uint64_t packets[2] = { 0 }, cycles[2] = { 0 };
	double per_packet;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore) {
		const struct l2fwd_worker *w = &l2fwd_workers[lcore];
		bool sender = w->receiver != NULL;

		packets[sender] += w->plain_packets;
		cycles[sender] += w->plain_cycles;
	}
	per_packet = ratio(cycles[0], packets[0]);
	return l2fwd_opt.pipeline ? per_packet + ratio(cycles[1], packets[1]) : per_packet;
}

static void
add_op(struct l2fwd_meter_op *sum, const struct l2fwd_meter_op *op)
{
	sum->calls += op->calls;
	sum->objects += op->objects;
	sum->cycles += op->cycles;
	sum->failed += op->failed;
}

static double
net_cycles(const struct l2fwd_meter_op *op)
{
	return ratio(op->cycles - op->calls * l2fwd_meter_cost(), op->objects);
}

static void
collect_meters(double *fig)
{
	struct l2fwd_meter_op get = { 0 }, put = { 0 };

	for (unsigned int i = 0; i < RTE_DIM(l2fwd_meters); i++) {
		add_op(&get, &l2fwd_meters[i].get);
		add_op(&put, &l2fwd_meters[i].put);
	}
	fig[FIG_GET] = net_cycles(&get);
	fig[FIG_PUT] = net_cycles(&put);
	fig[FIG_GET_RAW] = ratio(get.cycles, get.objects);
	fig[FIG_PUT_RAW] = ratio(put.cycles, put.objects);
	fig[FIG_GET_BULK] = ratio(get.objects, get.calls);
	fig[FIG_PUT_BULK] = ratio(put.objects, put.calls);
	fig[FIG_FAILED] = get.failed;
}

static void
collect_distinct(double *fig)
{
	unsigned int lcore;

	fig[FIG_DISTINCT] = fig[FIG_SAMPLED] = 0;
	RTE_LCORE_FOREACH(lcore) {
		fig[FIG_DISTINCT] += l2fwd_workers[lcore].distinct;
		fig[FIG_SAMPLED] += l2fwd_workers[lcore].sampled;
	}
}

void
l2fwd_result_collect(struct l2fwd_result *r, const struct l2fwd_result *first)
{
	double *fig = r->fig;

	fig[FIG_PACKETS] = sent_since_last_time();
	fig[FIG_MPPS] = fig[FIG_PACKETS] / seconds_moving() / 1e6;
	fig[FIG_CYCLES] = cycles_per_packet();
	collect_meters(fig);
	collect_distinct(fig);
	fig[FIG_CYCLES_RATIO] = ratio(fig[FIG_CYCLES], first->fig[FIG_CYCLES]);
	fig[FIG_POOL_RATIO] = ratio(fig[FIG_GET] + fig[FIG_PUT],
		first->fig[FIG_GET] + first->fig[FIG_PUT]);
}
