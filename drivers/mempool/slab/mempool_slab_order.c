/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_spinlock.h>

#include "mempool_slab_private.h"

/*
 * A pool names its driver by a place in DPDK's table of drivers, which each process fills by itself, in
 * the order in which it loads plugins. Where orders differ, pools would meet other drivers
 * than their own. So those of slab name the last place of the table, which is as good as never given
 * out: drivers get the next one each. There slab stands in every process that has loaded it, besides
 * the place that it was given, and a process that has not has nothing there: its first
 * get ends it at address 0, before it can do any harm.
 *
 * Pools of others can still meet slab, at the place that it was given: they are refused.
 */
#define PLACE (RTE_MEMPOOL_MAX_OPS_IDX - 1)

static bool
stands_at(unsigned int place, const char *name)
{
	return strcmp(rte_mempool_ops_table.ops[place].name, name) == 0;
}

static bool
registered(const char *name)
{
	unsigned int i;

	for (i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (stands_at(i, name))
			return true;
	return false;
}

void
mempool_slab_register(const struct rte_mempool_ops *ops)
{
	int ret;

	if (registered(ops->name)) {
		SLAB_LOG(WARNING, "the driver is loaded already, from another file; "
			"this one stays idle: load it once, by -d or from DPDK's own directory");
		return;
	}
	ret = rte_mempool_register_ops(ops);
	if (ret < 0) {
		SLAB_LOG(ERR, "DPDK refused the driver: %s; there will be no pools of slab. "
			"At most %d drivers fit: load fewer plugins, by -d one by one",
			rte_strerror(-ret), RTE_MEMPOOL_MAX_OPS_IDX);
		return;
	}
	rte_spinlock_lock(&rte_mempool_ops_table.sl);
	if (stands_at(PLACE, ""))
		rte_mempool_ops_table.ops[PLACE] = *ops;
	rte_spinlock_unlock(&rte_mempool_ops_table.sl);
}

void
mempool_slab_order(char *text)
{
	size_t len = 0;
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < rte_mempool_ops_table.num_ops && len < MEMPOOL_SLAB_ORDER; i++)
		len += (size_t)snprintf(text + len, MEMPOOL_SLAB_ORDER - len, "%s%u %s",
			i == 0 ? "" : ", ", i, rte_mempool_ops_table.ops[i].name);
}

void
mempool_slab_take_place(struct rte_mempool *mp)
{
	if (stands_at(PLACE, "slab"))
		mp->ops_index = PLACE;
	else
		SLAB_LOG(WARNING, "pool %s: %d drivers fill DPDK's table; all processes have to load "
			"them in the same order (-d), or load fewer", mp->name,
			RTE_MEMPOOL_MAX_OPS_IDX);
}

/* The order of the process that made a pool of slab. */
static void
find_order(struct rte_mempool *mp, void *arg)
{
	const char **order = arg;

	if (*order == NULL && mempool_slab_is(mp))
		*order = mempool_slab_user(mp)->order;
}

/* Once in a process is enough: the line tells what to do, and each burst would bring another. */
int __rte_cold
mempool_slab_refuse(const struct rte_mempool *mp)
{
	const char *theirs = NULL;
	char ours[MEMPOOL_SLAB_ORDER];
	static atomic_bool told;

	if (atomic_exchange_explicit(&told, true, memory_order_relaxed))
		return -EINVAL;
	mempool_slab_order(ours);
	rte_mempool_walk(find_order, &theirs);
	SLAB_LOG(ERR, "pool %s is refused: it was made by another driver, number %" PRId32
		" in the process that made it, which is slab here. The order there: %s; here: %s. "
		"Load the same plugins in the same order (-d) in both processes", mp->name,
		mp->ops_index, theirs != NULL ? theirs : "not known, as it made no pool of slab",
		ours);
	return -EINVAL;
}
