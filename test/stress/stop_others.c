/* SPDX-License-Identifier: BSD-3-Clause */

#include <sys/mman.h>
#include <unistd.h>

#include "stop_others.h"

#define MOST_PLACES 100

/* Where loops have been stopped after a load. */
struct place {
	const char *file;
	int line;
};

struct worker workers[WORKERS];

static struct place places[MOST_PLACES];
static _Atomic(uint8_t) holder[STOP_MOST]; /* of each object: who, or 0 */
static uint32_t nr_places;
static int cpus[2];
static size_t size; /* of the pool */

void
others_stay_on(unsigned int which)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[which], &set);
	MUST(pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0);
}

/* Both are the same where there is only one. */
void
others_choose_cpus(void)
{
	cpu_set_t set;
	int cpu, n = 0;

	MUST(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	cpus[1] = n < 2 ? cpus[0] : cpus[1];
}

static void
add_objects(struct slab_pool *pool, const struct operation *op, uint32_t n)
{
	uint32_t nodes = op->nodes == 0 ? 1 : op->nodes, i;
	struct slab_range range;

	for (i = 0; i < nodes; i++) {
		range = (struct slab_range){ .base = MADE_UP + (size_t)i * n / nodes * 64,
			.count = n / nodes, .node = i };
		MUST(slab_pool_add(pool, &range) == range.count);
	}
}

uint32_t
others_objects(const struct operation *op)
{
	return op->objects == 0 ? 1024 : op->objects;
}

struct slab_pool *
others_make_pool(const struct operation *op)
{
	static const uint8_t lcore_node[] = { 0, 1, 0, 1 };
	struct slab_conf conf = plain_conf(others_objects(op) + op->later);
	struct slab_pool *pool;
	void *mem;

	conf.magazine = op->magazine == 0 ? 64 : op->magazine;
	conf.depot = op->no_depot ? 0 : others_objects(op) / conf.magazine;
	conf.lcore_partial = op->lcore_partial;
	conf.nodes = op->nodes;
	conf.lcore_node = lcore_node;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.thread_cache = op->thread_cache;
	conf.stats = op->stats;
	size = slab_pool_size(&conf);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(mem != MAP_FAILED);
	pool = slab_pool_init(mem, &conf);
	MUST(pool != NULL);
	add_objects(pool, op, others_objects(op));
	return pool;
}

void
others_free_pool(struct slab_pool *pool)
{
	MUST(munmap(pool, size) == 0);
}

/*
 * A load and a store: if two threads mark an object that both hold, one of them finds the other's
 * mark, now or when it puts it.
 */
static void
mark_as(void *const *objs, uint32_t n, uint8_t from, uint8_t to)
{
	uint32_t i;
	size_t k;

	for (i = 0; i < n; i++) {
		k = (size_t)((char *)objs[i] - MADE_UP) / 64;
		MUST(k < STOP_MOST && (char *)objs[i] == MADE_UP + k * 64);
		MUST(atomic_load_explicit(&holder[k], memory_order_relaxed) == from);
		atomic_store_explicit(&holder[k], to, memory_order_relaxed);
	}
}

static void
get(struct worker *w, uint32_t lcore, uint32_t n)
{
	if (slab_get(w->stop->pool, lcore, w->objs + w->held, n) != 0) {
		w->failed++;
		return;
	}
	mark_as(w->objs + w->held, n, MARK_FREE, (uint8_t)(w->number + 1));
	w->held += n;
}

static void
put(struct worker *w, uint32_t lcore, uint32_t n)
{
	w->held -= n;
	mark_as(w->objs + w->held, n, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(w->stop->pool, lcore, w->objs + w->held, n);
}

static void
get_block(struct worker *w, uint32_t lcore)
{
	struct slab_pool *pool = w->stop->pool;
	void *objs[SLAB_OBJECTS];
	uint32_t i;

	if (slab_get_blocks(pool, lcore, objs, 1) != 0)
		return;
	for (i = 1; i < SLAB_OBJECTS; i++)
		objs[i] = (char *)objs[0] + (size_t)i * 64;
	mark_as(objs, SLAB_OBJECTS, MARK_FREE, (uint8_t)(w->number + 1));
	mark_as(objs, SLAB_OBJECTS, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(pool, lcore, objs, SLAB_OBJECTS);
}

void
others_limit_depot(struct slab_pool *pool, bool none)
{
	uint32_t most = slab_pool_tunable_most(pool, SLAB_TUNABLE_DEPOT);

	MUST(slab_pool_tune(pool, SLAB_TUNABLE_DEPOT, none ? 0 : most) == 0);
}

/* The limit of the depot goes up and down, so that objects are on their way to slabs as well. */
static void
look_or_tune(struct worker *w, uint32_t lcore)
{
	struct slab_pool *pool = w->stop->pool;
	struct slab_stats stats;

	switch (draw(&w->seed, 4)) {
	case 0:
		get_block(w, lcore);
		break;
	case 1:
		others_limit_depot(pool, draw(&w->seed, 2));
		break;
	case 2:
		MUST(slab_pool_count(pool) <= slab_pool_added(pool));
		break;
	default:
		slab_pool_stats(pool, lcore, &stats);
	}
}

/* As the lcore, or as a thread that is none. */
static void
get_or_put(struct worker *w)
{
	uint32_t lcore = draw(&w->seed, 4) == 0 ? SLAB_NO_LCORE : WORKER + w->number;
	uint32_t n = draw_size(&w->seed, LARGEST);

	if (draw(&w->seed, 1000) == 0)
		look_or_tune(w, lcore);
	if (w->held < n || (w->held + n <= MOST_HELD && draw(&w->seed, 2) == 0))
		get(w, lcore, n);
	else
		put(w, lcore, n);
}

/* Gets fail while one that is preempted has too much in its hands, but that is not for good. */
static void
work(struct worker *w)
{
	for (w->done = 0; w->done < w->ops; w->done++)
		get_or_put(w);
	put(w, WORKER + w->number, w->held);
	MUST(w->failed < w->ops);
}

static void *
work_there(void *arg)
{
	struct worker *w = arg;

	others_stay_on(w->number);
	work(w);
	return NULL;
}

static void
work_at_once(void)
{
	uint32_t i;

	for (i = 0; i < WORKERS; i++)
		MUST(pthread_create(&workers[i].thread, NULL, work_there, &workers[i]) == 0);
	for (i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
}

bool
others_come_again(const struct stopper *stopper)
{
	uint32_t i;

	if (stopper->after_write)
		return false;
	for (i = 0; i < nr_places; i++)
		if (places[i].line == stopper->line && places[i].file == stopper->file)
			return true;
	MUST(nr_places < MOST_PLACES);
	places[nr_places++] = (struct place){ stopper->file, stopper->line };
	return false;
}

void
others_begin(void)
{
	nr_places = 0;
}

void
others_work(const struct stop *s, uint32_t seed, uint32_t ops, bool one)
{
	uint32_t i;

	for (i = 0; i < WORKERS; i++)
		workers[i] = (struct worker){ .stop = s, .number = i, .ops = one ? ops :
			ops / WORKERS, .seed = seed * WORKERS + i };
	if (one)
		work(&workers[seed % WORKERS]);
	else
		work_at_once();
}

uint32_t
others_look_for_all(const struct stop *s, uint32_t lcore)
{
	static void *objs[STOP_MOST + 1];
	uint32_t n = 0;

	while (slab_get(s->pool, lcore, objs + n, 1) == 0)
		MUST(++n <= STOP_MOST);
	mark_as(objs, n, MARK_FREE, MARK_BOX);
	mark_as(objs, n, MARK_BOX, MARK_FREE);
	slab_put(s->pool, lcore, objs, n);
	return n;
}

