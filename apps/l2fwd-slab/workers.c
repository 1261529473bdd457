/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "l2fwd.h"

struct l2fwd_worker l2fwd_workers[RTE_MAX_LCORE];

static unsigned int nb_receiving;

static int
too_few_lcores(void)
{
	unsigned int ports = l2fwd_ports_count(), per_lcore = l2fwd_opt.ports_per_lcore;
	unsigned int receivers = (ports + per_lcore - 1) / per_lcore;

	return l2fwd_error("not enough lcores: %u port%s with -q %u in mode %s need %u, "
		"there %s %u: give more with -l, or more ports to each with -q",
		ports, ports == 1 ? "" : "s", per_lcore, l2fwd_opt.pipeline ? "pipeline" : "rtc",
		receivers * (l2fwd_opt.pipeline ? 2 : 1), rte_lcore_count() == 1 ? "is" : "are",
		rte_lcore_count());
}

static int
give_lcore_work(unsigned int lcore, unsigned int sender)
{
	struct l2fwd_worker *w = &l2fwd_workers[lcore];

	nb_receiving++;
	if (l2fwd_opt.pipeline)
		return l2fwd_pipeline_connect(w, &l2fwd_workers[sender], lcore);
	w->loop = l2fwd_rtc_loop;
	return 0;
}

/* In order of ports and of lcores; in a pipeline every second lcore sends. */
int
l2fwd_workers_assign(void)
{
	unsigned int lcore = -1, sender = -1;
	struct l2fwd_worker *w = NULL;
	const struct l2fwd_port *p;

	L2FWD_FOREACH_PORT(p) {
		if (w == NULL || w->nb_ports == l2fwd_opt.ports_per_lcore) {
			lcore = rte_get_next_lcore(l2fwd_opt.pipeline ? sender : lcore, 0, 0);
			if (l2fwd_opt.pipeline && lcore < RTE_MAX_LCORE)
				sender = rte_get_next_lcore(lcore, 0, 0);
			if (lcore >= RTE_MAX_LCORE ||
					(l2fwd_opt.pipeline && sender >= RTE_MAX_LCORE))
				return too_few_lcores();
			if (give_lcore_work(lcore, sender) < 0)
				return -1;
			w = &l2fwd_workers[lcore];
		}
		w->ports[w->nb_ports++] = p->id;
	}
	l2fwd_workers[rte_get_main_lcore()].main = true;
	return 0;
}

static void
idle_loop(struct l2fwd_worker *w)
{
	while (w->main && !l2fwd_stopped()) {
		l2fwd_control(rte_rdtsc());
		rte_delay_us_sleep(100);
	}
}

static int
run_worker(void *arg __rte_unused)
{
	struct l2fwd_worker *w = &l2fwd_workers[rte_lcore_id()];

	(w->loop != NULL ? w->loop : idle_loop)(w);
	w->meter->on = false;
	return 0;
}

static void
reset_counters(struct l2fwd_worker *w, struct l2fwd_meter *meter)
{
	w->meter = meter;
	w->packets = w->first = w->last = w->iterations = 0;
	w->plain_packets = w->plain_cycles = 0;
	w->sampled = w->distinct = 0;
	w->sample_max = L2FWD_SAMPLE / nb_receiving;
	w->done = false;
}

void
l2fwd_workers_run(void)
{
	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
		reset_counters(&l2fwd_workers[i], &l2fwd_meters[i]);
	rte_eal_mp_remote_launch(run_worker, NULL, CALL_MAIN);
	rte_eal_mp_wait_lcore();
}
