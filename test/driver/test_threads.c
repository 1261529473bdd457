/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads of all kinds on one pool: lcores of EAL, threads that are lcores for a while, by
 * rte_thread_register(), and threads that are none, which move between CPUs, are interrupted by
 * signals and call fork(). However it went, no object was had twice, and at the end one lcore gets
 * them all.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "marks.h"

#define N 3000
#define SPAWNERS 4
#define GENERATIONS 2500 /* of each spawner */
#define STRANGERS 12
#define SECONDS 3

static struct rte_mempool *mp;
static atomic_bool over;

static void
begin(void)
{
	mp = rte_mempool_create_empty("threads", N, OBJECT_SIZE, 0, 0, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", NULL), 0);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	over = false;
}

static void
end(void)
{
	check_all_there(mp, N);
	rte_mempool_free(mp);
}

static void
user_begin(struct user *u, uint64_t number)
{
	*u = (struct user){ .mp = mp, .number = number, .seed = number };
}

/* What an lcore of EAL does meanwhile. */
static int
work_as_lcore(void *arg)
{
	struct user u;

	(void)arg;
	user_begin(&u, 1000 + rte_lcore_id());
	while (!over)
		user_step(&u, 64);
	user_put(&u, RTE_DIM(u.objs));
	return 0;
}

static void
end_lcores(void)
{
	over = true;
	rte_eal_mp_wait_lcore();
}

/* Which lcore each was that registered. */
static _Atomic(uint32_t) times[RTE_MAX_LCORE];

/* What it puts last stays in the cache of an lcore that is no more when it has ended. */
static void *
live(void *arg)
{
	struct user *u = arg;
	unsigned int i;

	MUST(rte_lcore_id() == LCORE_ID_ANY);
	MUST(rte_thread_register() == 0);
	MUST(rte_lcore_id() < RTE_MAX_LCORE);
	times[rte_lcore_id()]++;
	for (i = 0; i < 30; i++) {
		user_step(u, 32);
		if (i % 10 == 0)
			sched_yield(); /* so that several are lcores at once */
	}
	user_put(u, RTE_DIM(u->objs));
	rte_thread_unregister();
	return NULL;
}

static void *
spawn(void *arg)
{
	struct user u;
	unsigned int i;

	user_begin(&u, (uintptr_t)arg);
	for (i = 0; i < GENERATIONS; i++)
		pthread_join(start_thread(live, &u), NULL);
	return NULL;
}

static void
come_and_go(void)
{
	pthread_t spawners[SPAWNERS];
	uint32_t most = 0, sum = 0;
	uintptr_t i;

	memset(times, 0, sizeof(times));
	rte_eal_mp_remote_launch(work_as_lcore, NULL, SKIP_MAIN);
	for (i = 0; i < SPAWNERS; i++)
		spawners[i] = start_thread(spawn, (void *)(i + 1));
	for (i = 0; i < SPAWNERS; i++)
		pthread_join(spawners[i], NULL);
	end_lcores();
	for (i = 0; i < RTE_MAX_LCORE; i++) {
		sum += times[i];
		most = RTE_MAX(most, times[i]);
	}
	assert_int_equal(sum, SPAWNERS * GENERATIONS);
	print_message("%u threads registered, up to %u as the same lcore\n", sum, most);
	assert_true(most >= GENERATIONS);
}

static void
registered_threads_come_and_go(void **state)
{
	(void)state;
	begin();
	come_and_go();
	end();
}

/* What EAL tells those who want to know of lcores. */
static _Atomic(uint32_t) inits, uninits;

static int
count_init(unsigned int lcore, void *arg)
{
	(void)lcore;
	(void)arg;
	inits++;
	return 0;
}

static void
count_uninit(unsigned int lcore, void *arg)
{
	(void)lcore;
	(void)arg;
	uninits++;
}

static void
callbacks_make_no_difference(void **state)
{
	void *handle = rte_lcore_callback_register("test", count_init, count_uninit, NULL);

	(void)state;
	assert_non_null(handle);
	begin();
	come_and_go();
	end();
	rte_lcore_callback_unregister(handle);
	assert_int_equal(inits, SPAWNERS * GENERATIONS + rte_lcore_count());
	assert_int_equal(uninits, inits);
}

/* More threads than lcores can be: all at once. */
#define CROWD (RTE_MAX_LCORE + 20)

static pthread_barrier_t all_tried, all_done;
static _Atomic(uint32_t) refused;

static void *
work_in_crowd(void *arg)
{
	bool registered = rte_thread_register() == 0;
	struct user u;
	unsigned int i;

	MUST(registered || rte_errno == ENOMEM);
	MUST(registered == (rte_lcore_id() != LCORE_ID_ANY));
	refused += !registered;
	user_begin(&u, (uintptr_t)arg);
	pthread_barrier_wait(&all_tried);
	for (i = 0; i < 2000; i++)
		user_step(&u, 32);
	user_put(&u, RTE_DIM(u.objs));
	pthread_barrier_wait(&all_done);
	rte_thread_unregister();
	return NULL;
}

static void
more_threads_than_lcores(void **state)
{
	pthread_t threads[CROWD];
	uintptr_t i;

	(void)state;
	begin();
	refused = 0;
	pthread_barrier_init(&all_tried, NULL, CROWD);
	pthread_barrier_init(&all_done, NULL, CROWD);
	rte_eal_mp_remote_launch(work_as_lcore, NULL, SKIP_MAIN);
	for (i = 0; i < CROWD; i++)
		threads[i] = start_thread(work_in_crowd, (void *)(i + 1));
	for (i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	end_lcores();
	assert_int_equal(refused, CROWD - (RTE_MAX_LCORE - rte_lcore_count()));
	end();
}

/* A thread that is no lcore; its signal handler is another user, with objects between calls. */
struct stranger {
	struct user user, in_signal;
	pthread_t thread;
	timer_t timer;
	_Atomic(pid_t) tid;
	unsigned int signals, forks;
};

static atomic_bool storm_over;
static struct stranger strangers[STRANGERS];
static __thread struct stranger *self;

static void
on_signal(int sig)
{
	int saved = errno;

	(void)sig;
	self->signals++;
	user_step(&self->in_signal, 4);
	errno = saved;
}

/* Signals for this thread alone, each stranger's at an interval of its own below a millisecond. */
static void
signals_begin(struct stranger *s)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct timespec every = { .tv_nsec = 700000 + 13000 * (long)s->user.number };
	struct itimerspec when = { .it_interval = every, .it_value = every };

	event._sigev_un._tid = s->tid;
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &s->timer) == 0);
	MUST(timer_settime(s->timer, 0, &when, NULL) == 0);
}

static void
signals_end(struct stranger *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	MUST(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	MUST(timer_delete(s->timer) == 0);
}

/* Every second child goes on as another program. */
static void
fork_once(struct stranger *s)
{
	bool exec = s->forks++ % 2 == 0;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (exec)
			execl("/bin/true", "true", NULL);
		_exit(exec ? 127 : 0);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *
work_as_stranger(void *arg)
{
	struct stranger *s = self = arg;
	unsigned int most = 1u << s->user.number % 8;

	MUST(rte_lcore_id() == LCORE_ID_ANY);
	s->tid = gettid();
	signals_begin(s);
	while (!over) {
		user_step(&s->user, most);
		if (s->user.number <= 2 && draw(&s->user.seed, 20000) == 0)
			fork_once(s);
	}
	signals_end(s);
	user_put(&s->in_signal, RTE_DIM(s->in_signal.objs));
	user_put(&s->user, RTE_DIM(s->user.objs));
	return NULL;
}

static void
move_to_cpu(const struct stranger *s, unsigned int i)
{
	unsigned int cpu = 0;
	cpu_set_t one;

	i %= (unsigned int)CPU_COUNT(&all_cpus);
	while (!CPU_ISSET(cpu, &all_cpus) || i-- != 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	MUST(sched_setaffinity(s->tid, sizeof(one), &one) == 0);
}

static void *
move_strangers(void *arg)
{
	uint64_t seed = 1, moves;

	for (moves = 0; !storm_over; moves++) {
		move_to_cpu(&strangers[draw(&seed, STRANGERS)], draw(&seed, CPU_SETSIZE));
		if (moves % 50 == 0)
			usleep(20);
	}
	*(uint64_t *)arg = moves;
	return NULL;
}

static void
start_strangers(void)
{
	unsigned int i;

	for (i = 0; i < STRANGERS; i++) {
		strangers[i] = (struct stranger){ .tid = 0 };
		user_begin(&strangers[i].user, i + 1);
		user_begin(&strangers[i].in_signal, i + 101);
		strangers[i].thread = start_thread(work_as_stranger, &strangers[i]);
		while (strangers[i].tid == 0)
			sched_yield();
	}
}

static void
end_strangers(void)
{
	uint64_t signals = 0, forks = 0, got = 0, got_in_signals = 0;
	unsigned int i;

	over = true;
	for (i = 0; i < STRANGERS; i++) {
		pthread_join(strangers[i].thread, NULL);
		signals += strangers[i].signals;
		forks += strangers[i].forks;
		got += strangers[i].user.got;
		got_in_signals += strangers[i].in_signal.got;
	}
	print_message("%" PRIu64 " objects, %" PRIu64 " signals with %" PRIu64 " objects, %" PRIu64
		" children\n", got, signals, got_in_signals, forks);
	assert_true(got > 0 && signals > 100 && got_in_signals > 100 && forks > 2);
}

static void
strangers_in_a_storm(void **state)
{
	pthread_t mover;
	uint64_t moves;

	(void)state;
	begin();
	storm_over = false;
	rte_eal_mp_remote_launch(work_as_lcore, NULL, SKIP_MAIN);
	start_strangers();
	mover = start_thread(move_strangers, &moves);
	sleep(SECONDS);
	storm_over = true;
	pthread_join(mover, NULL);
	end_strangers();
	end_lcores();
	print_message("%" PRIu64 " moves\n", moves);
	end();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registered_threads_come_and_go),
		cmocka_unit_test(callbacks_make_no_difference),
		cmocka_unit_test(more_threads_than_lcores),
		cmocka_unit_test(strangers_in_a_storm),
	};
	int failed;

	note_cpus();
	if (rte_eal_init(argc, argv) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed != 0;
}
