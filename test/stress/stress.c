/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads on one pool, more of them than processors. Each object has a mark that says who holds
 * it: a get that finds a mark, or a put that finds none, is an object handed out twice. When all
 * have stopped, one lcore alone must be able to get every object.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fast/fixture.h"

#define THREADS 4
#define MOST_HELD 2048

struct load {
	const char *name;
	uint32_t objects, magazine, depot, burst;
	uint32_t nodes, lcore_partial;
	enum slab_thread_cache thread_cache;
	bool lcore_cache;
	bool other_threads;  /* every second thread is no lcore */
	bool no_lcores;      /* none is one */
	bool processes;      /* each is a process of its own */
	bool moved;          /* they are moved from CPU to CPU */
	bool cross;          /* threads put what others got */
};

/* A box in which one thread leaves a burst for another. */
struct box {
	pthread_mutex_t lock;
	uint32_t n;
	void *objs[MOST_HELD];
};

struct shared {
	const struct load *load;
	_Atomic(bool) over;
	struct slab_pool *pool;
	_Atomic(uint8_t) *holder; /* of each object: thread + 1, or 0 */
	struct box box;
	uint32_t bursts;
};

struct worker {
	struct shared *shared;
	pthread_t thread;
	pid_t process;
	_Atomic(pid_t) task;
	uint32_t number, held;
	uint64_t seed, got;
	void *objs[MOST_HELD];
};

static uint32_t
draw(struct worker *w, uint32_t below)
{
	w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((w->seed >> 33) % below);
}

static void
mark(struct worker *w, void *const *objs, uint32_t n, uint8_t from, uint8_t to)
{
	uint8_t before;
	uint32_t i;
	size_t k;

	for (i = 0; i < n; i++) {
		k = (size_t)((char *)objs[i] - MADE_UP) / 64;
		before = atomic_exchange(&w->shared->holder[k], to);
		if (before != from) {
			fprintf(stderr, "%s: object %zu goes from %u to %u, held by %u\n",
				w->shared->load->name, k, from, to, before);
			abort();
		}
	}
}

static uint32_t
lcore_of(const struct worker *w)
{
	const struct load *load = w->shared->load;

	return load->no_lcores || (load->other_threads && w->number % 2) ? SLAB_NO_LCORE : w->number;
}

static void
get(struct worker *w, uint32_t n)
{
	if (w->held + n > MOST_HELD || slab_get(w->shared->pool, lcore_of(w), w->objs + w->held, n))
		return;
	mark(w, w->objs + w->held, n, 0, (uint8_t)(w->number + 1));
	w->held += n;
	w->got += n;
}

static void
put(struct worker *w, uint32_t n)
{
	n = n < w->held ? n : w->held;
	w->held -= n;
	mark(w, w->objs + w->held, n, (uint8_t)(w->number + 1), 0);
	slab_put(w->shared->pool, lcore_of(w), w->objs + w->held, n);
}

/* Leave what one holds, take what somebody left. */
static void
swap_with_box(struct worker *w)
{
	struct box *box = &w->shared->box;
	void *objs[MOST_HELD];
	uint32_t n;

	pthread_mutex_lock(&box->lock);
	n = box->n;
	memcpy(objs, box->objs, n * sizeof(*objs));
	memcpy(box->objs, w->objs, w->held * sizeof(*objs));
	box->n = w->held;
	mark(w, w->objs, w->held, (uint8_t)(w->number + 1), UINT8_MAX);
	mark(w, objs, n, UINT8_MAX, (uint8_t)(w->number + 1));
	pthread_mutex_unlock(&box->lock);
	memcpy(w->objs, objs, n * sizeof(*objs));
	w->held = n;
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	uint32_t i, n;

	w->task = gettid();
	for (i = 0; i < w->shared->bursts; i++) {
		n = 1 + draw(w, w->shared->load->burst);
		if (draw(w, 2) == 0)
			get(w, n);
		else
			put(w, n);
		if (w->shared->load->cross && draw(w, 16) == 0)
			swap_with_box(w);
		if (draw(w, 1000) == 0 &&
				slab_pool_count(w->shared->pool) > w->shared->load->objects)
			abort();
	}
	put(w, MOST_HELD);
	return NULL;
}

/* Each node has a part of all objects. */
static void
add(struct shared *s)
{
	uint32_t nodes = s->load->nodes + (s->load->nodes == 0), part = s->load->objects / nodes, i;
	struct slab_range range;

	for (i = 0; i < nodes; i++) {
		range = (struct slab_range){ .base = MADE_UP + (size_t)i * part * 64, .node = i,
			.count = i + 1 < nodes ? part : s->load->objects - i * part };
		assert_int_equal(slab_pool_add(s->pool, &range), range.count);
	}
}

/* What several processes see. */
static void *
map(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(mem != MAP_FAILED);
	return mem;
}

static void
start(struct worker *w)
{
	pid_t process;

	if (!w->shared->load->processes) {
		pthread_create(&w->thread, NULL, work, w);
		return;
	}
	process = fork();
	assert_true(process >= 0);
	if (process == 0) {
		work(w);
		_exit(0);
	}
	w->process = process; /* the child sees it as well */
}

static void
end(struct worker *w)
{
	int status = 0;

	if (w->process == 0)
		pthread_join(w->thread, NULL);
	else
		assert_int_equal(waitpid(w->process, &status, 0), w->process);
	assert_int_equal(status, 0);
}

/* Until all workers have ended, one of them after the other is moved; its own draws are these. */
static void *
storm(void *arg)
{
	struct worker *workers = arg, *self = &workers[THREADS];
	cpu_set_t all, one;
	int cpu;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!self->shared->over) {
		cpu = (int)draw(self, CPU_SETSIZE);
		while (!CPU_ISSET(cpu, &all))
			cpu = (cpu + 1) % CPU_SETSIZE;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* This fails for a worker that has not begun, or has ended. */
		sched_setaffinity(workers[draw(self, THREADS)].task, sizeof(one), &one);
	}
	return NULL;
}

static void
run(struct shared *s)
{
	struct worker *workers = map((THREADS + 1) * sizeof(*workers));
	pthread_t mover;
	uint32_t i;
	uint64_t got = 0;

	add(s);
	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .shared = s, .number = i, .seed = i + 1 };
		start(&workers[i]);
	}
	workers[THREADS] = (struct worker){ .shared = s };
	if (s->load->moved)
		pthread_create(&mover, NULL, storm, workers);
	for (i = 0; i < THREADS; i++) {
		end(&workers[i]);
		got += workers[i].got;
	}
	s->over = true;
	if (s->load->moved)
		pthread_join(mover, NULL);
	slab_put(s->pool, 0, s->box.objs, s->box.n);
	print_message("%s: %llu objects\n", s->load->name, (unsigned long long)got);
	assert_true(got > 0);
	munmap(workers, (THREADS + 1) * sizeof(*workers));
}

static void
check_all_there(struct shared *s)
{
	uint32_t n = s->load->objects;
	void **objs = calloc(n, sizeof(*objs));

	assert_int_equal(slab_pool_count(s->pool), n);
	assert_int_equal(drain(s->pool, 2, objs, n, 16), n);
	assert_int_equal(slab_pool_faults(s->pool), 0);
	free(objs);
}

static void
check(const struct load *load, uint32_t bursts, bool checks)
{
	static const uint8_t lcore_node[THREADS] = { 0, 1, 2, 0 };
	struct slab_conf conf = plain_conf(load->objects);
	struct shared *s = map(sizeof(*s));
	pthread_mutexattr_t attr;

	conf.magazine = load->magazine;
	conf.depot = load->depot;
	conf.lcore_cache = load->lcore_cache;
	conf.nodes = load->nodes;
	conf.lcore_node = lcore_node;
	conf.lcore_partial = load->lcore_partial;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.thread_cache = load->thread_cache;
	conf.check = conf.track = checks;
	*s = (struct shared){ .load = load, .bursts = bursts,
		.pool = slab_pool_init(map(slab_pool_size(&conf)), &conf),
		.holder = map(load->objects) };
	assert_int_equal(pthread_mutexattr_init(&attr), 0);
	assert_int_equal(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
	pthread_mutex_init(&s->box.lock, &attr);
	run(s);
	check_all_there(s);
	munmap(s->holder, load->objects);
	munmap(s->pool, slab_pool_size(&conf));
	munmap(s, sizeof(*s));
}

static const struct load loads[] = {
	{ "caches", 8191, 64, SLAB_AUTO, 64, .lcore_cache = true },
	{ "caches, taken over", 384, 64, SLAB_AUTO, 64, .lcore_cache = true, .cross = true },
	{ "caches without a depot", 1000, 16, 0, 64, .lcore_cache = true, .cross = true },
	{ "depot", 8191, 64, SLAB_AUTO, 700, .cross = true },
	{ "slabs", 1000, 8, 0, 64, .cross = true },
	{ "both kinds of threads", 1023, 32, 8, 32, .lcore_cache = true, .cross = true,
		.other_threads = true },
	{ "both kinds of threads, locks", 1023, 32, 8, 32, .lcore_cache = true, .cross = true,
		.other_threads = true, .thread_cache = SLAB_THREADS_LOCK },
	{ "both kinds of threads, no caches of CPUs", 1023, 32, 8, 32, .lcore_cache = true,
		.cross = true, .other_threads = true, .thread_cache = SLAB_THREADS_OFF },
	{ "sequences", 8191, 64, SLAB_AUTO, 64, .no_lcores = true },
	{ "sequences, taken over", 384, 64, SLAB_AUTO, 64, .cross = true, .no_lcores = true },
	{ "sequences, moved", 8191, 64, SLAB_AUTO, 64, .no_lcores = true, .moved = true },
	{ "sequences, moved and taken over", 384, 64, SLAB_AUTO, 64, .cross = true,
		.no_lcores = true, .moved = true },
	{ "locks, taken over", 384, 64, SLAB_AUTO, 64, .cross = true, .no_lcores = true,
		.thread_cache = SLAB_THREADS_LOCK },
	{ "processes", 8191, 64, SLAB_AUTO, 64, .lcore_cache = true, .other_threads = true,
		.processes = true },
	{ "processes, sequences, taken over", 384, 64, SLAB_AUTO, 64, .cross = true,
		.no_lcores = true, .processes = true },
	{ "processes, both kinds of threads", 1023, 32, 8, 32, .lcore_cache = true, .cross = true,
		.other_threads = true, .processes = true },
	{ "three objects", 3, 1, SLAB_AUTO, 2, .lcore_cache = true, .cross = true,
		.other_threads = true },
	{ "nodes", 4096, 32, SLAB_AUTO, 64, .nodes = 2, .lcore_cache = true, .cross = true,
		.other_threads = true },
	{ "lcores with slabs of their own", 1000, 16, 0, 64, .lcore_partial = 4,
		.lcore_cache = true, .cross = true },
	{ "three nodes, lcores with slabs of their own", 3000, 32, 2, 64, .nodes = 3,
		.lcore_partial = 3, .lcore_cache = true, .cross = true },
};

static void
all_loads(void **state)
{
	const char *value = getenv("STRESS_BURSTS");
	uint32_t bursts = value != NULL ? (uint32_t)strtoul(value, NULL, 10) : 300000;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		check(&loads[i], bursts / 2, false);
		check(&loads[i], bursts / 2, true);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_loads) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
