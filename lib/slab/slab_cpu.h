/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_CPU_H
#define SLAB_CPU_H

/*
 * Caches of CPUs, for threads that are no lcores: each is a slab_lcore of its own, and whichever
 * thread runs on the CPU uses it. Its "shut" says how:
 *
 *     SLAB_SHUT_NEW    nobody has come yet
 *     the key of a     threads of that process do, by restartable sequences (slab_rseq.h); all
 *     process          others claim it first
 *     SLAB_SHUT_ALL    who wants to use it claims it first: a lock that is only ever tried
 *     SLAB_SHUT_TAKEN  somebody has claimed it, of the process in the low half
 *
 * Who has used a claim leaves the key of his own process, if that runs sequences: so a cache follows
 * those who use it, and processes that take turns on a CPU pay for it as often as they do. Who
 * cannot have it now does without, and never waits.
 */

#include "slab_lcore.h"

/*
 * As whom a thread that is no lcore gets and puts: the CPU where it is, which may change at any
 * moment; or where that has no cache (yet), all such threads of the node.
 */
struct slab_lcore *
slab_cpu_here(const struct slab_pool *pool);

/* Take up to max objects from the cache of this CPU; returns how many. Thread-safe. */
unsigned int
slab_cpu_pop(struct slab_pool *pool, void **objs, unsigned int max);

/*
 * Put n objects into the cache of this CPU: all, or none if there is no room, or no code for one of
 * them, or the cache cannot be had. Thread-safe.
 */
bool
slab_cpu_push(struct slab_pool *pool, void *const *objs, unsigned int n);

#endif /* SLAB_CPU_H */
