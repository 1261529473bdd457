/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The meter stands between rte_mempool and a pool driver: for the time of a run it takes the
 * place of the driver's enqueue and dequeue in the ops table. It reads the TSC around the
 * driver's function only while the lcore has it switched on, so that most iterations run as
 * they would without it.
 */

#include <rte_lcore.h>

#include "l2fwd.h"

#define CALIBRATION_BATCHES 101
#define CALIBRATION_CALLS 1000

struct l2fwd_meter l2fwd_meters[RTE_MAX_LCORE + 1];

static struct {
	rte_mempool_enqueue_t put;
	rte_mempool_dequeue_t get;
	const struct rte_mempool *pool;	/* others of the same driver are not metered */
	double cost;
} meter;

static inline struct l2fwd_meter *
meter_self(void)
{
	return &l2fwd_meters[RTE_MIN(rte_lcore_id(), (unsigned int)RTE_MAX_LCORE)];
}

static inline void
count(struct l2fwd_meter_op *op, unsigned int objects, uint64_t cycles)
{
	op->calls++;
	op->objects += objects;
	op->cycles += cycles;
}

static int
metered_get(struct rte_mempool *mp, void **objs, unsigned int n)
{
	struct l2fwd_meter *m = meter_self();
	uint64_t start;
	int ret;

	if (!m->on || mp != meter.pool) {
		ret = meter.get(mp, objs, n);
		m->get.failed += ret < 0;
		return ret;
	}
	start = apps_clock();
	ret = meter.get(mp, objs, n);
	if (ret < 0)
		m->get.failed++;
	else
		count(&m->get, n, apps_clock() - start);
	return ret;
}

static int
metered_put(struct rte_mempool *mp, void * const *objs, unsigned int n)
{
	struct l2fwd_meter *m = meter_self();
	uint64_t start;
	int ret;

	if (!m->on || mp != meter.pool)
		return meter.put(mp, objs, n);
	start = apps_clock();
	ret = meter.put(mp, objs, n);
	count(&m->put, n, apps_clock() - start);
	return ret;
}

static int
get_nothing(struct rte_mempool *mp __rte_unused, void **objs __rte_unused,
	unsigned int n __rte_unused)
{
	return 0;
}

/* What is left when the driver does nothing is the meter's own. A mean over many calls, because
 * some TSCs move in steps; the median of such means, because some calls get interrupted.
 */
void
l2fwd_meter_calibrate(void)
{
	struct l2fwd_meter *m = meter_self();
	double means[CALIBRATION_BATCHES];

	meter.get = get_nothing;
	for (unsigned int i = 0; i < CALIBRATION_BATCHES; i++) {
		*m = (struct l2fwd_meter){ .on = true };
		for (unsigned int j = 0; j < CALIBRATION_CALLS; j++)
			metered_get(NULL, NULL, 0);
		means[i] = (double)m->get.cycles / CALIBRATION_CALLS;
	}
	m->on = false;
	meter.cost = apps_median(means, CALIBRATION_BATCHES);
}

double
l2fwd_meter_cost(void)
{
	return meter.cost;
}

void
l2fwd_meter_attach(struct rte_mempool *mp)
{
	struct rte_mempool_ops *ops = &rte_mempool_ops_table.ops[mp->ops_index];

	for (unsigned int i = 0; i < RTE_DIM(l2fwd_meters); i++)
		l2fwd_meters[i] = (struct l2fwd_meter){ 0 };
	meter.pool = mp;
	meter.put = ops->enqueue;
	meter.get = ops->dequeue;
	ops->enqueue = metered_put;
	ops->dequeue = metered_get;
}

void
l2fwd_meter_detach(void)
{
	struct rte_mempool_ops *ops = &rte_mempool_ops_table.ops[meter.pool->ops_index];

	ops->enqueue = meter.put;
	ops->dequeue = meter.get;
}
