/* SPDX-License-Identifier: BSD-3-Clause */

#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slab.h"
#include "slab_process.h"
#include "slab_rseq.h"

/* By these bits keys differ from all else; the low half is slab_process.self. */
#define KEY_BITS UINT64_C(0xc0000000ffffffff)
#define KEY_MARK UINT64_C(0x8000000000000000)

/* Linux numbers processes below 2^22. */
#define NUMBER_BITS 22

struct slab_process slab_process = { .key = SLAB_NO_KEY };
__thread uint32_t slab_thread_self;

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

/* The text of a file in proc(5), at most size - 1 bytes; false if there is none. */
static bool
read_stat(uint32_t number, char *text, size_t size)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", number);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/*
 * When a process began, in ticks. False if there is none, or only its parent has not asked for its end
 * yet. The file has its number, its name in brackets, which may have any bytes in it, and from the
 * state on fields with spaces in between: the 20th of all is its threads, the 22nd when it began.
 */
static bool
look_up(uint32_t number, unsigned long long *began)
{
	char text[1024], *name_end, state;
	long threads;

	if (!read_stat(number, text, sizeof(text)))
		return false;
	name_end = strrchr(text, ')');
	if (name_end == NULL || sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			"%*u %*u %*d %*d %*d %*d %ld %*d %llu", &state, &threads, began) != 3)
		return false;
	/* If its first thread has ended before others, it looks like a zombie, too. */
	return (state != 'Z' && state != 'X') || threads > 1;
}

static uint32_t
name_of(uint32_t number, unsigned long long began)
{
	return number | (uint32_t)began << NUMBER_BITS;
}

uint32_t
slab_process_number(uint32_t self)
{
	return self & ((UINT32_C(1) << NUMBER_BITS) - 1);
}

/* Who does not see himself does not see others. */
bool
slab_process_is_gone(uint32_t self)
{
	uint32_t number = slab_process_number(self);
	unsigned long long began;

	return look_up((uint32_t)getpid(), &began) &&
		(!look_up(number, &began) || name_of(number, began) != self);
}

/* What a child of fork() inherits would be taken for the parent's. */
static void
begin(void)
{
	unsigned long long began = 0;
	uint64_t key;

	look_up((uint32_t)getpid(), &began);
	slab_process.self = name_of((uint32_t)getpid(), began);
	slab_process.fences = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
	slab_process.key = SLAB_NO_KEY;
	slab_thread_self = 0;
	if (slab_rseq_possible() && slab_process.fences &&
			membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0 &&
			draw(&key, sizeof(key)))
		slab_process.key = (key & ~KEY_BITS) | KEY_MARK | slab_process.self;
}

__attribute__((constructor)) static void
load(void)
{
	begin();
	pthread_atfork(NULL, NULL, begin);
}

/* Different for processes of different PID namespaces whose threads have the same number. */
static uint32_t
salt(uint32_t process)
{
	uint32_t mixed = process * UINT32_C(0x9e3779b1);

	return mixed ^ mixed >> 15;
}

uint32_t
slab_thread_name(void)
{
	uint32_t name = (uint32_t)syscall(SYS_gettid) ^ salt(slab_process.self);

	/* No thread has the number 0. */
	slab_thread_self = name != 0 ? name : salt(slab_process.self);
	return slab_thread_self;
}

bool
slab_thread_is_of(uint32_t thread, uint32_t process)
{
	return (thread ^ salt(process)) >> NUMBER_BITS == 0;
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
