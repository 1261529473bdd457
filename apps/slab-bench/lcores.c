/* SPDX-License-Identifier: BSD-3-Clause */

#include <limits.h>

#include <rte_lcore.h>

#include "bench.h"

#define ONE_PER_CPU "give EAL one lcore for each CPU, as -l 0,1"
#define MORE_PER_CPU "give EAL as many for each CPU, as --lcores '0@0,1@1,2@0,3@1'"

static bool
share_cpu(unsigned int a, unsigned int b)
{
	rte_cpuset_t of_a = rte_lcore_cpuset(a), of_b = rte_lcore_cpuset(b), both;

	CPU_AND(&both, &of_a, &of_b);
	return CPU_COUNT(&both) != 0;
}

static unsigned int
count_sharing(unsigned int lcore)
{
	unsigned int other, n = 0;

	RTE_LCORE_FOREACH(other)
		n += other != lcore && share_cpu(lcore, other);
	return n;
}

/* Every lcore shares its CPU with so many others. */
static bool
all_share(unsigned int others)
{
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore)
		if (count_sharing(lcore) != others)
			return false;
	return true;
}

static bool
all_have_one_cpu(void)
{
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore) {
		rte_cpuset_t set = rte_lcore_cpuset(lcore);

		if (CPU_COUNT(&set) != 1)
			return false;
	}
	return true;
}

unsigned int
bench_lcores_by_cpu(void)
{
	unsigned int others = count_sharing(rte_get_main_lcore());

	return all_have_one_cpu() && all_share(others) ? others + 1 : 0;
}

unsigned int
bench_lcores_cpus(void)
{
	unsigned int ids[RTE_MAX_LCORE];

	return bench_lcores_list(BENCH_ALL, 1, ids);
}

/* The first lcore beside the main one that has another CPU. */
static unsigned int
second_of_pair(void)
{
	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
		if (!share_cpu(rte_get_main_lcore(), lcore))
			return lcore;
	return RTE_MAX_LCORE;
}

const char *
bench_lcores_misfit(enum bench_lcores kind)
{
	switch (kind) {
	case BENCH_PAIR:
		return second_of_pair() < RTE_MAX_LCORE ? NULL :
			"needs two lcores on different CPUs: " ONE_PER_CPU;
	case BENCH_ALL:
		return rte_lcore_count() > 1 && all_share(0) ? NULL :
			"needs at least two lcores, no two of them on one CPU: " ONE_PER_CPU;
	case BENCH_OVER:
		return bench_lcores_by_cpu() >= 2 ? NULL :
			"needs two lcores on each CPU, or more: " MORE_PER_CPU;
	default:
		return NULL;
	}
}

static unsigned int
count_on_cpu_of(unsigned int lcore, const unsigned int *ids, unsigned int n)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < n; i++)
		count += share_cpu(lcore, ids[i]);
	return count;
}

unsigned int
bench_lcores_list(enum bench_lcores kind, unsigned int by_cpu, unsigned int ids[RTE_MAX_LCORE])
{
	unsigned int n = 0, lcore;

	ids[n++] = rte_get_main_lcore();
	if (kind == BENCH_ONE)
		return n;
	if (kind == BENCH_PAIR) {
		ids[n++] = second_of_pair();
		return n;
	}
	RTE_LCORE_FOREACH_WORKER(lcore)
		if (by_cpu == UINT_MAX || count_on_cpu_of(lcore, ids, n) < by_cpu)
			ids[n++] = lcore;
	return n;
}
