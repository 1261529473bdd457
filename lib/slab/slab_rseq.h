/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_RSEQ_H
#define SLAB_RSEQ_H

/*
 * Get and put in the cache of a CPU by restartable sequences, rseq(2): what cmpxchg_local is to
 * SLUB. Only one thread runs on a CPU, and one that is preempted, moved or interrupted by a signal
 * before the last store of its sequence is sent to the place where it gives up. So the last store
 * commits all or nothing, without a locked instruction: it sets len and clears busy at once.
 *
 *     busy = thread             so that a taker of another process sees that somebody is inside
 *     if shut is not this process's key: give up                    (acquire)
 *     copy objects out of the row, or into it behind the last
 *     len = new, busy = 0                                           (release)
 *
 * Takers claim shut first, see slab_lcore.h. Those of this process then have the kernel restart
 * what runs on the CPU; busy may be left behind by a sequence that was, so who gives up clears it,
 * unless another thread has come since.
 */

#include "slab_process.h"
#include "slab_types.h"

#if defined(__has_include) && !defined(SLAB_ATOMIC_MODEL)
#if __has_include(<sys/rseq.h>) && (defined(__x86_64__) || defined(__aarch64__))
#include <sys/rseq.h>
#define SLAB_RSEQ 1
#endif
#endif

#ifdef SLAB_RSEQ

_Static_assert(offsetof(struct slab_lcore, len) % 8 == 0 &&
	offsetof(struct slab_lcore, busy) == offsetof(struct slab_lcore, len) + 4,
	"one store of 64 bits is len, and 0 to busy");

/* The C library registers its threads with the kernel. */
static inline bool
slab_rseq_possible(void)
{
	return __rseq_size != 0;
}

static inline struct rseq *
slab_rseq_area(void)
{
	char *thread;

#ifdef __x86_64__
	__asm__("movq %%fs:0, %0" : "=r"(thread));
#else
	thread = __builtin_thread_pointer();
#endif
	return (struct rseq *)(thread + __rseq_offset);
}

/* The CPU of this thread; a number that is none's if the thread is not registered. */
static inline uint32_t
slab_rseq_cpu(void)
{
	return *(const volatile uint32_t *)&slab_rseq_area()->cpu_id;
}

/* Places in what the sequences touch. */
#define SLAB_RSEQ_PLACES \
	[at_cpu] "i"(offsetof(struct rseq, cpu_id)), \
	[at_sequence] "i"(offsetof(struct rseq, rseq_cs)), \
	[at_len] "i"(offsetof(struct slab_lcore, len)), \
	[at_busy] "i"(offsetof(struct slab_lcore, busy)), \
	[at_shut] "i"(offsetof(struct slab_lcore, shut))

/* What the kernel wants to know of a sequence from 1 to 2 that gives up at 4. */
#define SLAB_RSEQ_DESCRIPTOR \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n" \
	"3:\n\t" \
	".long 0, 0\n\t" \
	".quad 1f, 2f - 1f, 4f\n\t" \
	".popsection\n\t"

#ifdef __x86_64__
#include "slab_rseq_x86.h"
#else
#include "slab_rseq_arm.h"
#endif

#else /* SLAB_RSEQ */

static inline bool
slab_rseq_possible(void)
{
	return false;
}

static inline uint32_t
slab_rseq_cpu(void)
{
	return UINT32_MAX;
}

/* Never called: no process has a key. */
static inline int64_t
slab_rseq_pop(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	const uint64_t *row, void **objs, uint32_t max)
{
	(void)pool, (void)lc, (void)cpu, (void)row, (void)objs, (void)max;
	return -1;
}

static inline int64_t
slab_rseq_push(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu, uint64_t *row,
	void *const *objs, uint32_t n)
{
	(void)pool, (void)lc, (void)cpu, (void)row, (void)objs, (void)n;
	return -1;
}

#endif /* SLAB_RSEQ */
#endif /* SLAB_RSEQ_H */
