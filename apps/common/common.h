/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the applications share: where EAL's arguments end, pool drivers, the NUMA nodes of slab's
 * pools, reading the clock, and medians.
 */

#ifndef APPS_COMMON_H
#define APPS_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_cycles.h>

/* How many of the arguments are EAL's: those before "--". */
int apps_eal_args(int argc, char **argv);

/* Whether a mempool driver of this name is loaded. */
bool apps_has_pool_driver(const char *name);

/*
 * From now on pools of slab lie over these nodes, as the driver's option nodes= has them; those of
 * other drivers stay on one. To be called after EAL has started. NULL changes nothing.
 * 0, also where slab is not loaded; or -errno where slab refuses it, after a line of its own.
 */
int apps_slab_nodes(const char *nodes);

/* A public function of the slab driver by its name; NULL where that is not loaded. */
void *apps_slab_function(const char *name);

/* The median of those that are numbers, NAN when none is; sorts what it is given. */
double apps_median(double *values, unsigned int n);

/*
 * The TSC, not before all that was to be done is done, and nothing of what follows before it:
 * otherwise a short call overlaps the reading of the clock and seems to cost nothing.
 */
static inline uint64_t
apps_clock(void)
{
	uint64_t tsc;

#ifdef RTE_ARCH_X86
	__asm__ volatile("lfence" : : : "memory");
	tsc = rte_rdtsc();
	__asm__ volatile("lfence" : : : "memory");
#else
	tsc = rte_rdtsc_precise();
#endif
	return tsc;
}

#endif /* APPS_COMMON_H */
