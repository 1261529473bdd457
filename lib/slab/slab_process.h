/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_PROCESS_H
#define SLAB_PROCESS_H

/* What this process has of the kernel for a pool's sake, since it was loaded. */

#include <stdbool.h>
#include <stdint.h>

#include "slab_types.h"

/* No value of slab_lcore.shut. */
#define SLAB_NO_KEY UINT64_MAX

struct slab_process {
	/* Takers in all processes can order what happens in this one: membarrier(2). */
	bool fences;
	/*
	 * By what pools know this process as one that runs restartable sequences, rseq(2); no other
	 * process has it, a child of fork() neither. SLAB_NO_KEY when it runs none.
	 */
	uint64_t key;
	/* Its number and some bits of when it began, for those who look later whether it still runs. */
	uint32_t self;
};

extern struct slab_process slab_process;

/* A thread of this process in slab_lcore.shut. */
static inline uint64_t
slab_process_claim(void)
{
	return SLAB_SHUT_TAKEN | slab_process.self;
}

/* Whether the process that a mark, a claim or a key is of has ended; and its number. */
bool
slab_process_is_gone(uint32_t self);
uint32_t
slab_process_number(uint32_t self);

/*
 * What tells this thread from all others, as good as sure those of other processes as well; never 0.
 * And whether a thread was one of that process.
 */
extern __thread uint32_t slab_thread_self __attribute__((tls_model("initial-exec")));
uint32_t
slab_thread_name(void);

bool
slab_thread_is_of(uint32_t thread, uint32_t process);

static inline uint32_t
slab_thread(void)
{
	return __builtin_expect(slab_thread_self != 0, 1) ? slab_thread_self : slab_thread_name();
}

/* A full fence in all threads of all processes that have pools, wherever they are; false: none. */
bool
slab_process_fence(void);

/* No sequence that a thread of this process has begun on the CPU before will be committed. */
void
slab_process_restart(uint32_t cpu);

/* Where the thread is at this moment: false if the kernel does not say. */
bool
slab_process_where(uint32_t *cpu, uint32_t *node);

#endif /* SLAB_PROCESS_H */
