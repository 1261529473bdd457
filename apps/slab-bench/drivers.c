/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The drivers whose pools are measured. What options make of slab is a driver of its own: with checks,
 * and for threads that are no lcores each of the ways among which thread_cache chooses.
 */

#include <string.h>

#include "bench.h"

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAS_SEQUENCES (__rseq_size != 0)
#else
#define HAS_SEQUENCES false
#endif

#define SEQUENCES "thread_cache=rseq"

const struct bench_driver bench_drivers[] = {
	{ "slab", "slab", .limits = BENCH_LCORES_ONLY },
	{ "slab-check", "slab", .options = "check=on", .limits = BENCH_LCORES_ONLY },
	{ "slab-lcore", "slab", .limits = BENCH_THREADS_ONLY | BENCH_ON_LCORES },
	{ "slab-rseq", "slab", .options = SEQUENCES, .limits = BENCH_THREADS_ONLY },
	{ "slab-lock", "slab", .options = "thread_cache=lock", .limits = BENCH_THREADS_ONLY },
	{ "slab-depot", "slab", .options = "thread_cache=off", .limits = BENCH_THREADS_ONLY },
	{ "ring_mp_mc", "ring_mp_mc" },
	{ "ring_sp_sc", "ring_sp_sc", .limits = BENCH_ONE_LCORE },
	{ "ring_mt_rts", "ring_mt_rts" },
	{ "ring_mt_hts", "ring_mt_hts" },
	{ "stack", "stack" },
	{ "lf_stack", "lf_stack" },
	{ "bucket", "bucket", .limits = BENCH_WHOLE_BUCKETS | BENCH_NO_THREADS },
	{ "array", "array", .limits = BENCH_ONE_LCORE | BENCH_NO_CACHE },
};

const unsigned int bench_nb_drivers = RTE_DIM(bench_drivers);

const struct bench_driver *
bench_driver_find(const char *name)
{
	for (unsigned int i = 0; i < bench_nb_drivers; i++)
		if (strcmp(bench_drivers[i].name, name) == 0)
			return &bench_drivers[i];
	return NULL;
}

bool
bench_driver_is(const struct bench_driver *d, const char *ops)
{
	return strcmp(d->ops, ops) == 0;
}

bool
bench_driver_is_array(const struct bench_driver *d)
{
	return bench_driver_is(d, "array");
}

bool
bench_driver_takes_part(const struct bench_driver *d, bool threads)
{
	return !(d->limits & (threads ? BENCH_LCORES_ONLY : BENCH_THREADS_ONLY));
}

/* Where there are no sequences, slab takes locks instead: figures would be those of slab-lock. */
const char *
bench_driver_missing(const struct bench_driver *d)
{
	if (d->options != NULL && strcmp(d->options, SEQUENCES) == 0 && !HAS_SEQUENCES)
		return "the C library or the kernel has no restartable sequences";
	if (bench_driver_is_array(d) || apps_has_pool_driver(d->ops))
		return NULL;
	return bench_driver_is(d, "slab") ? "the driver is not loaded: -d librte_mempool_slab.so" :
		"no such mempool driver is loaded";
}
