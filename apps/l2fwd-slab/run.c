/* SPDX-License-Identifier: BSD-3-Clause */

#include "l2fwd.h"

double
l2fwd_outcome_median(const struct l2fwd_outcome *out, unsigned int pool, enum l2fwd_figure f)
{
	double values[L2FWD_MAX_ROUNDS];

	for (unsigned int i = 0; i < out->nb_results[pool]; i++)
		values[i] = out->results[pool][i].fig[f];
	return apps_median(values, out->nb_results[pool]);
}

static void
forward(struct l2fwd_outcome *out, unsigned int pool, struct rte_mempool *mp)
{
	unsigned int round = out->nb_results[pool]++;
	char title[128];

	snprintf(title, sizeof(title), "%s, round %u of %ju", l2fwd_opt.pools[pool], round + 1,
		(uintmax_t)l2fwd_opt.rounds);
	l2fwd_meter_attach(mp);
	l2fwd_control_begin(title);
	l2fwd_workers_run();
	l2fwd_meter_detach();
	l2fwd_result_collect(&out->results[pool][round], &out->results[0][round]);
}

/* Everything between a fresh pool and its end, so that no driver profits from another's run. */
static int
run_once(struct l2fwd_outcome *out, unsigned int pool)
{
	struct rte_mempool *mp = l2fwd_pool_create(l2fwd_opt.pools[pool]);
	unsigned int size, missing;
	int ret;

	if (mp == NULL)
		return -1;
	size = mp->size;
	ret = l2fwd_ports_start(mp);
	if (ret == 0)
		forward(out, pool, mp);
	l2fwd_ports_stop();
	missing = l2fwd_pool_free(mp);
	out->missing += missing;
	if (missing > 0)
		l2fwd_error("%s: %u of %u buffers did not come back", l2fwd_opt.pools[pool],
			missing, size);
	return ret;
}

void
l2fwd_rounds(struct l2fwd_outcome *out)
{
	for (uint64_t round = 0; round < l2fwd_opt.rounds; round++) {
		for (unsigned int i = 0; i < l2fwd_opt.nb_pools; i++) {
			if (l2fwd_interrupted())
				return;
			out->failed = run_once(out, i) < 0;
			if (out->failed)
				return;
		}
	}
}
