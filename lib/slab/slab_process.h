/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_PROCESS_H
#define SLAB_PROCESS_H

/* What this process has of the kernel for a pool's sake, since it was loaded. */

#include <stdbool.h>
#include <stdint.h>

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
};

extern struct slab_process slab_process;

/* What tells this thread from all others of the process; never 0. */
extern __thread uint32_t slab_thread_self __attribute__((tls_model("initial-exec")));
uint32_t
slab_thread_name(void);

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
