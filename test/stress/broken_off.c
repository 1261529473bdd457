/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Restartable sequences that are broken off, at each of their instructions. A child of this process has
 * two threads that are no lcores. The first is stopped by a hardware breakpoint in the middle of a
 * sequence, as by a debugger. While it stands there, the second must be able to get every object but
 * those that the first has in its hands; another process (this one) goes on as well, on the same CPU. Then the thread is let go: as it is,
 * or on another CPU, or with a signal whose handler gets and puts, or while its cache is claimed.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fast/fixture.h"
#include "slab_lcore.h"
#include "slab_process.h"

#define N 448
#define MAGAZINE 64
#define LARGEST 33
/* In the hands of a thread that refills its cache, or gives some of it away: and part of a burst. */
#define MOST_MISSING (MAGAZINE + LARGEST - 1)
/* Bytes before a sequence where the thread is stopped as well. */
#define BEFORE 48
#define SKIPPED 77
#define CHECK(what) do { \
	if (!(what)) { \
		fprintf(stderr, "line %d: %s does not hold; %s\n", __LINE__, #what, strerror(errno)); \
		_exit(1); \
	} \
} while (0)

/* Where the linker puts the descriptors of all sequences. */
extern const struct rseq_cs __start___rseq_cs[], __stop___rseq_cs[];

enum order { NOTHING, DRAIN };

struct shared {
	_Atomic(uint32_t) order;   /* for the second thread */
	_Atomic(uint32_t) drained; /* objects that it got */
	_Atomic(uint32_t) rounds;  /* of the first thread */
	_Atomic(uint32_t) held;    /* by it: what it has got and not put yet */
	_Atomic(uint32_t) signals; /* that the handler has seen */
};

static struct slab_pool *pool;
static struct shared *shared;
static int cpus[2];
static unsigned int most_missing, marked, operations = 200000;

static void *
map(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(mem != MAP_FAILED);
	return mem;
}

static void
make_pool(void)
{
	struct slab_range all = { .base = MADE_UP, .count = N };
	struct slab_conf conf = plain_conf(N);

	conf.magazine = MAGAZINE;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	pool = slab_pool_init(map(slab_pool_size(&conf)), &conf);
	CHECK(pool != NULL && pool_add(pool, &all) == N);
}

static void
stay_on(pid_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(sched_setaffinity(thread, sizeof(set), &set) == 0);
}

/* All objects that this thread can get, each once; and back. */
static uint32_t
get_all(uint32_t lcore)
{
	void *objs[N + 1];
	uint32_t n = 0, i;

	while (n <= N && slab_get(pool, lcore, objs + n, 1) == 0)
		n++;
	qsort(objs, n, sizeof(*objs), by_address);
	for (i = 1; i < n; i++)
		CHECK(objs[i] != objs[i - 1]);
	for (i = 0; i < n; i += 32)
		slab_put(pool, lcore, objs + i, n - i < 32 ? n - i : 32);
	return n;
}

static void *
second_thread(void *arg)
{
	(void)arg;
	stay_on(0, cpus[1]);
	for (;;) {
		while (shared->order == NOTHING)
			sched_yield();
		shared->drained = get_all(SLAB_NO_LCORE);
		shared->order = NOTHING;
	}
	return NULL;
}

static void
handler(int sig)
{
	void *objs[5];

	(void)sig;
	if (slab_get(pool, SLAB_NO_LCORE, objs, 5) == 0)
		slab_put(pool, SLAB_NO_LCORE, objs, 5);
	shared->signals++;
}

/* One round after the other; between two the thread stops, and waits for this process. */
static void
first_thread(void)
{
	static const unsigned int sizes[] = { 1, 3, 8, LARGEST };
	void *objs[LARGEST];
	unsigned int n;

	for (;;) {
		n = sizes[shared->rounds++ % 4];
		raise(SIGSTOP);
		CHECK(slab_get(pool, SLAB_NO_LCORE, objs, n) == 0);
		shared->held = n;
		CHECK(slab_put(pool, SLAB_NO_LCORE, objs, n) == 0);
		shared->held = 0;
	}
}

static void
child(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stay_on(0, cpus[0]);
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, second_thread, NULL) == 0);
	CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	first_thread();
}

static int
wait_for_stop(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, __WALL) == pid);
	CHECK(WIFSTOPPED(status));
	return WSTOPSIG(status);
}

static void
go_on(pid_t pid, int sig)
{
	CHECK(ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig) == 0);
}

/* 0 takes the breakpoint away. False if this machine has none. */
static bool
set_breakpoint(pid_t pid, uint64_t at)
{
	return ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), at) == 0 &&
		ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]),
			at == 0 ? 0L : 1L) == 0;
}

/* The first thread stands in the middle of a sequence. */
static void
others_go_on(void)
{
	unsigned int missing, i;
	void *objs[8];

	shared->order = DRAIN;
	while (shared->order != NOTHING)
		sched_yield();
	missing = N - shared->held - shared->drained;
	CHECK(missing <= MOST_MISSING);
	most_missing = missing > most_missing ? missing : most_missing;
	for (i = 0; i < operations; i++) {
		CHECK(slab_get(pool, i % 2 ? 1 : SLAB_NO_LCORE, objs, 8) == 0);
		slab_put(pool, i % 3 ? 1 : SLAB_NO_LCORE, objs, 8);
	}
	CHECK(slab_pool_count(pool) <= N - shared->held - missing);
}

/* To the end of the round: signals are let through. */
static void
finish(pid_t pid, int sig)
{
	int stopped_by;

	for (go_on(pid, sig); (stopped_by = wait_for_stop(pid)) != SIGSTOP; go_on(pid, stopped_by))
		CHECK(stopped_by == SIGUSR1);
}

/* The thread goes on as it is, on another CPU, with a signal, or while all its caches are claimed. */
static void
end_stop(pid_t pid, unsigned int nth)
{
	struct slab_lcore *lc[2] = { slab_cpu_at(pool, (uint32_t)cpus[0]),
		slab_cpu_at(pool, (uint32_t)cpus[1]) };
	uint32_t len[2];
	uint64_t was[2];
	bool claimed[2] = { false };
	int i;

	if (nth % 4 == 1)
		stay_on(pid, cpus[nth / 4 % 2]);
	for (i = 0; i < 2 && nth % 4 == 3; i++) {
		claimed[i] = slab_lcore_claim(pool, lc[i], &was[i]);
		/* What seems to be in use stays. */
		CHECK(slab_load_relaxed(&lc[i]->busy) == 0 || !claimed[i]);
		marked += !claimed[i];
		len[i] = slab_load_relaxed(&lc[i]->len);
	}
	finish(pid, nth % 4 == 2 ? SIGUSR1 : 0);
	for (i = 0; i < 2; i++) {
		if (!claimed[i])
			continue;
		CHECK(slab_load_relaxed(&lc[i]->len) == len[i]);
		slab_store_release(&lc[i]->shut, was[i]);
	}
}

/* A round with a stop at this address; false if no instruction begins there, or none ran. */
static bool
stop_at(pid_t pid, uint64_t at, unsigned int nth)
{
	CHECK(set_breakpoint(pid, at));
	go_on(pid, 0);
	if (wait_for_stop(pid) == SIGSTOP)
		return false;
	others_go_on();
	CHECK(set_breakpoint(pid, 0));
	end_stop(pid, nth);
	CHECK(get_all(1) == N);
	return true;
}

/*
 * Each place is tried with each size of a burst, since none of them passes all instructions; and those
 * where a thread has looked at the CPU, but has not begun.
 */
static unsigned int
stop_everywhere(pid_t pid)
{
	const struct rseq_cs *cs;
	unsigned int stops = 0, sizes;
	int64_t i;

	for (cs = __start___rseq_cs; cs < __stop___rseq_cs; cs++)
		for (i = -BEFORE; i < (int64_t)cs->post_commit_offset; i++)
			for (sizes = 0; sizes < 4; sizes++)
				stops += stop_at(pid, cs->start_ip + (uint64_t)i, stops);
	return stops;
}

static void
choose_cpus(void)
{
	cpu_set_t set;
	int cpu, n = 0;

	CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	if (n < 2) {
		puts("skipped: one CPU only");
		exit(SKIPPED);
	}
}

/* Stopped before its first round. */
static pid_t
start_child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		child();
	CHECK(wait_for_stop(pid) == SIGSTOP);
	return pid;
}

static void
run(pid_t pid)
{
	unsigned int stops = stop_everywhere(pid);

	printf("%u stops in %td sequences, %u rounds, %u signals, %u claims refused; "
		"in hands at most %u of %u\n", stops,
		__stop___rseq_cs - __start___rseq_cs, shared->rounds, shared->signals, marked,
		most_missing, N);
	fflush(stdout);
	CHECK(stops > 40 && marked > 4 && get_all(0) == N);
}

int
main(void)
{
	const char *ops = getenv("STOP_OPS");
	bool possible;
	pid_t pid;

	if (ops != NULL)
		operations = (unsigned int)strtoul(ops, NULL, 10);
	if (slab_process.key == SLAB_NO_KEY) {
		puts("skipped: no restartable sequences in this process");
		return SKIPPED;
	}
	choose_cpus();
	stay_on(0, cpus[0]);
	shared = map(sizeof(*shared));
	make_pool();
	pid = start_child();
	possible = set_breakpoint(pid, __start___rseq_cs[0].start_ip);
	if (possible)
		run(pid);
	else
		puts("skipped: no hardware breakpoints here");
	kill(pid, SIGKILL);
	return possible ? 0 : SKIPPED;
}
