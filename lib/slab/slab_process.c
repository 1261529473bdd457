/* SPDX-License-Identifier: BSD-3-Clause */

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slab.h"
#include "slab_process.h"
#include "slab_rseq.h"

/* By these bits keys differ from all else. */
#define KEY_BITS UINT64_C(0xc000000000000000)
#define KEY_MARK UINT64_C(0x8000000000000000)

struct slab_process slab_process = { .key = SLAB_NO_KEY };
__thread uint32_t slab_thread_self;

static uint32_t thread_salt;

static long
membarrier(int command, unsigned int flags, uint32_t cpu)
{
	return syscall(SYS_membarrier, command, flags, cpu);
}

static bool
draw(void *random, size_t size)
{
	return getrandom(random, size, GRND_NONBLOCK) == (ssize_t)size;
}

/* What a child of fork() inherits would be taken for the parent's. */
static void
begin(void)
{
	uint64_t key;

	slab_process.fences = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
	slab_process.key = SLAB_NO_KEY;
	slab_thread_self = 0;
	if (slab_rseq_possible() && slab_process.fences &&
			membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0 &&
			draw(&key, sizeof(key)) && draw(&thread_salt, sizeof(thread_salt)))
		slab_process.key = (key & ~KEY_BITS) | KEY_MARK;
}

__attribute__((constructor)) static void
load(void)
{
	begin();
	pthread_atfork(NULL, NULL, begin);
}

/* The salt makes it as good as sure that no thread of another process has the same. */
uint32_t
slab_thread_name(void)
{
	uint32_t name = (uint32_t)syscall(SYS_gettid) ^ thread_salt;

	slab_thread_self = name != 0 ? name : ~thread_salt;
	return slab_thread_self;
}

bool
slab_lcore_cache_possible(void)
{
	return slab_process.fences;
}

bool
slab_process_fence(void)
{
	return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void
slab_process_restart(uint32_t cpu)
{
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, MEMBARRIER_CMD_FLAG_CPU, cpu);
}

bool
slab_process_where(uint32_t *cpu, uint32_t *node)
{
	return getcpu(cpu, node) == 0;
}
