/* SPDX-License-Identifier: BSD-3-Clause */

/* What the applications share: where EAL's arguments end, reading the clock, and medians. */

#ifndef APPS_COMMON_H
#define APPS_COMMON_H

#include <stdint.h>

#include <rte_cycles.h>

/* How many of the arguments are EAL's: those before "--". */
int apps_eal_args(int argc, char **argv);

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
