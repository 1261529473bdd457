/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Processes that are stopped by SIGSTOP at random moments, while others go on with the same pool:
 * lcores and threads that are none. While one stands still, the others do STOP_OPS gets and puts;
 * then they rest, and what nobody can have is counted. At the end all objects are there. STOP_TIMES
 * is how often somebody is stopped.
 *
 * Then they are killed, STOP_TIMES / 2 times: the others go on, what the killed one's caches held is
 * reclaimed, and another process takes its place, before that or after it. What it had got is put back in
 * its name. No object is ever got by two, and what stays lost each time is below a bound.
 */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"

#define OBJECTS 448 /* few, so that they take them from each other */
#define MAGAZINE 64
#define LARGEST 80
#define MOST_HELD (2 * LARGEST)
#define SECONDS 60 /* that one stop may take */
#define LOOKER 3   /* the lcore of this process */
#define FEW (OBJECTS / 2) /* with fewer left a pool has had its time */

/*
 * Out of reach besides what a process has got: what is in one cache, its own or one that it has
 * claimed; a magazine and a burst in its hands; the rest of a slab between two of its steps.
 */
#define BOUND (2 * MAGAZINE + MAGAZINE + LARGEST + SLAB_OBJECTS - 1)

/*
 * Lost for good: what it has got or is to put; what was in its full cache, or a magazine and a
 * burst in its hands; the rest of a slab.
 */
#define LOST (LARGEST + 2 * MAGAZINE + SLAB_OBJECTS - 1)

struct shape {
	const char *name;
	uint32_t depot;
	enum slab_thread_cache thread_cache;
};

struct member {
	pid_t pid;
	uint32_t number, lcore, held;
	_Atomic(uint32_t) done, rested;
	uint64_t seed;
	void *objs[MOST_HELD];
};

struct shared {
	struct slab_pool *pool;
	_Atomic(uint32_t) turn; /* all rest where it is odd */
	_Atomic(bool) over;
	_Atomic(uint8_t) holder[OBJECTS];
	struct member members[CREW];
};

static struct shared *shared;
static struct marks marks; /* those in it */

static void *
map(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(mem != MAP_FAILED);
	return mem;
}

/* Gets that fail do not count. */
static void
get(struct member *m, uint32_t n)
{
	if (slab_get(shared->pool, m->lcore, m->objs + m->held, n) != 0)
		return;
	mark(&marks, m->objs + m->held, n, MARK_FREE, (uint8_t)(m->number + 1));
	m->held += n;
	m->done++;
}

static void
put(struct member *m, uint32_t n)
{
	m->held -= n;
	mark(&marks, m->objs + m->held, n, (uint8_t)(m->number + 1), MARK_FREE);
	slab_put(shared->pool, m->lcore, m->objs + m->held, n);
	m->done++;
}

static void
get_or_put(struct member *m)
{
	uint32_t n = draw_size(&m->seed, LARGEST);

	if (draw(&m->seed, 1000) == 0)
		MUST(slab_pool_count(shared->pool) <= OBJECTS);
	if (m->held < n || (m->held + n <= MOST_HELD && draw(&m->seed, 2) == 0))
		get(m, n);
	else
		put(m, n);
}

static void
rest(struct member *m, uint32_t turn)
{
	put(m, m->held);
	m->rested = turn;
	while (shared->turn == turn && !shared->over)
		usleep(50);
}

static _Noreturn void
member(struct member *m)
{
	uint32_t turn;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!shared->over) {
		turn = shared->turn;
		if (turn % 2 != 0)
			rest(m, turn);
		else
			get_or_put(m);
	}
	put(m, m->held);
	_exit(0);
}

/* Two lcores, and two threads that are none. */
static void
start(uint32_t i)
{
	struct member *m = &shared->members[i];
	pid_t pid;

	*m = (struct member){ .number = i, .lcore = i < 2 ? i : SLAB_NO_LCORE, .seed = i };
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0)
		member(m);
	m->pid = pid; /* the child sees it as well */
}

/* Nobody else is to end before all is over. */
static void
wait_a_moment(const struct member *stopped)
{
	uint32_t i;

	for (i = 0; i < CREW; i++)
		MUST(&shared->members[i] == stopped ||
			waitpid(shared->members[i].pid, NULL, WNOHANG) == 0);
	usleep(100);
}

/* All, or all but the one who has been stopped, do so many gets and puts. */
static void
let_them_work(const struct member *stopped, uint32_t ops)
{
	uint32_t before = 0, now = 0, its = stopped != NULL ? stopped->done : 0, i;

	for (i = 0; i < CREW; i++)
		before += shared->members[i].done;
	for (; now - before < ops; wait_a_moment(stopped))
		for (i = now = 0; i < CREW; i++)
			now += shared->members[i].done;
	MUST(stopped == NULL || stopped->done == its);
}

static void
let_them_rest(const struct member *stopped)
{
	uint32_t turn = shared->turn + 1, i;

	shared->turn = turn;
	for (i = 0; i < CREW; i++)
		while (&shared->members[i] != stopped && shared->members[i].rested != turn)
			wait_a_moment(stopped);
}

static uint32_t
get_all_and_put_back(uint32_t lcore)
{
	void *objs[OBJECTS + 1];
	uint32_t n, left, k;

	for (n = 0; slab_get(shared->pool, lcore, objs + n, 1) == 0;)
		MUST(++n <= OBJECTS);
	mark(&marks, objs, n, MARK_FREE, MARK_BOX);
	mark(&marks, objs, n, MARK_BOX, MARK_FREE);
	for (left = n; left != 0; left -= k) {
		k = left < 32 ? left : 32;
		slab_put(shared->pool, lcore, objs + left - k, k);
	}
	return n;
}

static uint32_t
held_by(const struct member *m)
{
	uint32_t n = 0, i;

	for (i = 0; i < OBJECTS; i++)
		n += shared->holder[i] == m->number + 1;
	return n;
}

/* Returns how many objects nobody could have, other than those that it has got. */
static uint32_t
stop(struct member *m, uint32_t ops, bool as_lcore)
{
	uint32_t missing;
	int status;

	alarm(SECONDS);
	MUST(kill(m->pid, SIGSTOP) == 0 && waitpid(m->pid, &status, WUNTRACED) == m->pid);
	MUST(WIFSTOPPED(status));
	let_them_work(m, ops);
	let_them_rest(m);
	missing = OBJECTS - held_by(m) - get_all_and_put_back(as_lcore ? LOOKER : SLAB_NO_LCORE);
	MUST(missing <= BOUND);
	shared->turn++;
	MUST(kill(m->pid, SIGCONT) == 0);
	return missing;
}

static void
make_pool(const struct shape *shape)
{
	struct slab_range all = { .base = MADE_UP, .count = OBJECTS };
	struct slab_conf conf = plain_conf(OBJECTS);

	conf.magazine = MAGAZINE;
	conf.depot = shape->depot;
	conf.thread_cache = shape->thread_cache;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	shared = map(sizeof(*shared));
	marks = (struct marks){ .n = OBJECTS, .who = shared->holder };
	shared->pool = slab_pool_init(map(slab_pool_size(&conf)), &conf);
	MUST(shared->pool != NULL && slab_pool_add(shared->pool, &all) == OBJECTS);
}

/* So many are left. */
static void
end(uint32_t left)
{
	int status;
	uint32_t i;

	shared->over = true;
	for (i = 0; i < CREW; i++)
		MUST(waitpid(shared->members[i].pid, &status, 0) > 0 && status == 0);
	MUST(slab_pool_count(shared->pool) >= left);
	MUST(get_all_and_put_back(LOOKER) == left);
	MUST(slab_pool_faults(shared->pool) == 0);
}

static void
begin(const struct shape *shape)
{
	uint32_t i;

	make_pool(shape);
	for (i = 0; i < CREW; i++)
		start(i);
}

static void
stop_often(const struct shape *shape, uint32_t times, uint32_t ops)
{
	uint32_t missing, most = 0, some = 0, i;
	uint64_t seed = times;

	begin(shape);
	for (i = 0; i < times; i++) {
		snprintf(crew_at, sizeof(crew_at), "%s, stop %u", shape->name, i);
		usleep(draw(&seed, 500));
		missing = stop(&shared->members[draw(&seed, CREW)], ops, i % 2);
		most = missing > most ? missing : most;
		some += missing != 0;
	}
	end(OBJECTS);
	printf("%-20s%4u stops, %3u with objects out of reach, %3u of them, at most %u\n",
		shape->name, times, some, most, BOUND);
	fflush(stdout);
}

/* In the name of who cannot any more. */
static void
put_what_it_had(const struct member *m)
{
	void *obj;
	uint32_t i;

	for (i = 0; i < OBJECTS; i++)
		if (shared->holder[i] == m->number + 1) {
			obj = MADE_UP + (size_t)i * 64;
			mark(&marks, &obj, 1, (uint8_t)(m->number + 1), MARK_FREE);
			slab_put(shared->pool, LOOKER, &obj, 1);
		}
}

/* Returns how many objects are left. */
static uint32_t
kill_one(struct member *m, uint32_t ops, bool reclaim_first)
{
	pid_t pid = m->pid;
	uint32_t left;
	int status;

	alarm(SECONDS);
	MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	let_them_work(m, ops);
	put_what_it_had(m);
	if (reclaim_first)
		slab_pool_reclaim(shared->pool, (uint32_t)pid);
	start(m->number);
	let_them_work(NULL, ops);
	if (!reclaim_first)
		slab_pool_reclaim(shared->pool, 0);
	let_them_rest(NULL);
	/* Where somebody alive was in the way. */
	slab_pool_reclaim(shared->pool, 0);
	MUST(slab_pool_reclaim(shared->pool, 0) == 0);
	left = get_all_and_put_back(LOOKER);
	shared->turn++;
	return left;
}

static void
kill_often(const struct shape *shape, uint32_t times, uint32_t ops)
{
	uint32_t left = 0, now, most = 0, all = 0, some = 0, i;
	uint64_t seed = times;

	for (i = 0; i < times; i++) {
		snprintf(crew_at, sizeof(crew_at), "%s, kill %u", shape->name, i);
		if (left < FEW) {
			if (left != 0)
				end(left);
			begin(shape);
			left = OBJECTS;
		}
		usleep(draw(&seed, 500));
		now = kill_one(&shared->members[draw(&seed, CREW)], ops, i % 2);
		MUST(now <= left && left - now <= LOST);
		all += left - now;
		some += left != now;
		most = left - now > most ? left - now : most;
		left = now;
	}
	end(left);
	printf("%-20s%4u kills, %3u with objects lost, %4u in all, %3u of them at once, at most %u\n",
		shape->name, times, some, all, most, LOST);
	fflush(stdout);
}

int
main(void)
{
	static const struct shape shapes[] = {
		{ "sequences", SLAB_AUTO, SLAB_THREADS_RSEQ },
		{ "sequences, no depot", 0, SLAB_THREADS_RSEQ },
		{ "locks", 4, SLAB_THREADS_LOCK },
		{ "no caches of CPUs", 4, SLAB_THREADS_OFF },
	};
	uint32_t times = crew_setting("STOP_TIMES", 400), ops = crew_setting("STOP_OPS", 100000), i;

	if (!slab_lcore_cache_possible()) {
		puts("skipped: this kernel lacks membarrier(2): lcores have no caches");
		return 77;
	}
	signal(SIGALRM, crew_hung);
	for (i = 0; i < 4; i++)
		stop_often(&shapes[i], times / 4, ops);
	for (i = 0; i < 4; i++)
		kill_often(&shapes[i], times / 8, ops / 10);
	return 0;
}
