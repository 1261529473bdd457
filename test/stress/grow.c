/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pool that grows while it is in use: hundreds of chunks of 1 to 100 objects, in ascending,
 * descending and random order of their addresses, some with pages, some next to each other, over
 * one node and over three. To repeat a run that failed: STRESS_SEED=number STRESS_POOLS=1.
 */

#include <errno.h>
#include <semaphore.h>
#include <unistd.h>

#include "crew.h"

#define OBJECTS 10000
#define MOST_HELD 1000
#define BLOCK 64

enum order { ASCENDING, DESCENDING, RANDOM, ORDERS };

/* The chunks of a pool in the order in which they come, in units of an object of 64 bytes. */
struct plan {
	uint32_t nr, units;
	bool no_blocks; /* no slab will ever lie in a row */
	struct slab_range chunks[OBJECTS];
};

struct growth;

struct worker {
	struct growth *growth;
	pthread_t thread;
	sem_t turn;
	uint32_t number, lcore, held;
	uint64_t seed;
	void *objs[MOST_HELD];
};

struct growth {
	struct slab_pool *pool;
	struct plan plan;
	struct marks marks;
	uint32_t out;            /* objects that the one who adds has */
	_Atomic(uint32_t) added; /* objects, since slab_pool_add() has returned */
	_Atomic(bool) over;
	sem_t found;
	struct worker workers[CREW];
};

/* Three objects in a page, or all in a row. Returns the units that the chunk takes. */
static uint32_t
draw_chunk(struct slab_range *chunk, uint64_t *seed, uint32_t most, uint32_t nodes)
{
	uint32_t count = 1 + draw(seed, most);

	*chunk = (struct slab_range){ .count = count, .node = draw(seed, nodes) };
	if (draw(seed, 4) != 0)
		return count;
	chunk->per_page = 3;
	chunk->page = 256;
	return (count + 2) / 3 * 4;
}

/* The place of each chunk among all, by address. */
static void
draw_places(uint32_t *chunk_at, uint32_t nr, enum order order, uint64_t *seed)
{
	uint32_t i, k, other;

	for (i = 0; i < nr; i++)
		chunk_at[i] = order == DESCENDING ? nr - 1 - i : i;
	for (i = nr; order == RANDOM && i > 1; i--) {
		k = draw(seed, i);
		other = chunk_at[k];
		chunk_at[k] = chunk_at[i - 1];
		chunk_at[i - 1] = other;
	}
}

static void
draw_plan(struct plan *plan, enum order order, uint32_t nodes, uint64_t *seed)
{
	uint32_t units[OBJECTS], chunk_at[OBJECTS], most, sum = 0, i, k;

	plan->no_blocks = draw(seed, 2);
	most = plan->no_blocks ? BLOCK - 1 : 100;
	for (plan->nr = 0; sum < OBJECTS; sum += plan->chunks[plan->nr++].count)
		units[plan->nr] = draw_chunk(&plan->chunks[plan->nr], seed,
			OBJECTS - sum < most ? OBJECTS - sum : most, nodes);
	draw_places(chunk_at, plan->nr, order, seed);
	for (i = plan->units = 0; i < plan->nr; i++) {
		k = chunk_at[i];
		plan->chunks[k].base = MADE_UP + (size_t)plan->units * 64;
		plan->units += units[k] + (plan->no_blocks ? 1 : draw(seed, 3));
	}
}

static void
growth_begin(struct growth *g, enum order order, uint32_t nodes, uint64_t *seed)
{
	static const uint32_t magazines[] = { 0, 1, 16, 64 }, depots[] = { SLAB_AUTO, 0, 2 };
	static const uint8_t lcore_node[CREW] = { 0, 1, 2, 0 };
	struct slab_conf conf = plain_conf(OBJECTS);

	conf.magazine = magazines[draw(seed, 4)];
	conf.depot = depots[draw(seed, 3)];
	conf.lcore_partial = draw(seed, 2) * 3;
	conf.lcore_cache = draw(seed, 2);
	conf.thread_cache = crew_thread_cache(draw(seed, 6));
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.nodes = nodes;
	conf.check = draw(seed, 2);
	conf.lcore_node = lcore_node;
	conf.stats = true;
	*g = (struct growth){ .pool = pool_make(&conf) };
	sem_init(&g->found, 0, 0);
	draw_plan(&g->plan, order, nodes, seed);
	marks_begin(&g->marks, g->plan.units);
	memset(g->marks.who, MARK_NONE, g->plan.units);
}

static void
growth_end(struct growth *g)
{
	void **objs = calloc(OBJECTS, sizeof(*objs));

	assert_int_equal(slab_pool_added(g->pool), OBJECTS);
	assert_int_equal(slab_pool_count(g->pool), OBJECTS);
	assert_int_equal(drain(g->pool, 1, objs, OBJECTS, 16), OBJECTS);
	mark(&g->marks, objs, OBJECTS, MARK_FREE, MARK_BOX);
	assert_int_equal(slab_pool_faults(g->pool), 0);
	free(objs);
	marks_end(&g->marks);
	pool_free(g->pool);
}

/* The next chunk; its objects have no marks as long as nobody may get them. */
static void
add(struct growth *g, uint32_t i)
{
	const struct slab_range *chunk = &g->plan.chunks[i];
	uint32_t k;
	void *obj;

	for (k = 0; k < chunk->count; k++) {
		obj = slab_range_object(chunk, 64, k);
		mark(&g->marks, &obj, 1, MARK_NONE, MARK_FREE);
	}
	MUST(pool_add(g->pool, chunk) == chunk->count);
	atomic_fetch_add(&g->added, chunk->count);
	MUST(slab_pool_added(g->pool) == g->added);
}

static void
get(struct worker *w, uint32_t n)
{
	if (w->held + n > MOST_HELD ||
			slab_get(w->growth->pool, w->lcore, w->objs + w->held, n) != 0)
		return;
	mark(&w->growth->marks, w->objs + w->held, n, MARK_FREE, (uint8_t)(w->number + 1));
	w->held += n;
}

static void
put(struct worker *w, uint32_t n)
{
	n = n < w->held ? n : w->held;
	if (n == 0)
		return;
	w->held -= n;
	mark(&w->growth->marks, w->objs + w->held, n, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(w->growth->pool, w->lcore, w->objs + w->held, n);
}

static void
get_block(struct worker *w)
{
	uint32_t i;
	void *first;

	if (w->held + BLOCK > MOST_HELD ||
			slab_get_blocks(w->growth->pool, w->lcore, &first, 1) != 0)
		return;
	for (i = 0; i < BLOCK; i++)
		w->objs[w->held + i] = (char *)first + (size_t)i * 64;
	mark(&w->growth->marks, w->objs + w->held, BLOCK, MARK_FREE, (uint8_t)(w->number + 1));
	w->held += BLOCK;
}

static void
look(struct worker *w)
{
	const struct slab_pool *pool = w->growth->pool;
	struct slab_stats stats;
	uint32_t count = slab_pool_count(pool);

	MUST(count <= slab_pool_added(pool));
	MUST(!(w->growth->plan.no_blocks && slab_pool_has_blocks(pool)));
	slab_pool_stats(pool, w->lcore, &stats);
}

static void
tune(struct worker *w)
{
	enum slab_tunable which = draw(&w->seed, 3);
	uint32_t most = slab_pool_tunable_most(w->growth->pool, which);
	uint32_t value = draw(&w->seed, most < 64 ? most + 1 : 64);

	MUST(slab_pool_tune(w->growth->pool, which, value) == 0);
}

static void
one_step(struct worker *w)
{
	switch (draw(&w->seed, 500)) {
	case 0:
		get_block(w);
		break;
	case 1:
		look(w);
		break;
	case 2:
		tune(w);
		break;
	default:
		if (draw(&w->seed, 2) == 0)
			get(w, draw_size(&w->seed, 100));
		else
			put(w, draw_size(&w->seed, 100));
	}
}

static void *
use(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load_explicit(&w->growth->over, memory_order_relaxed))
		one_step(w);
	put(w, MOST_HELD);
	return NULL;
}

/* Three lcores and one thread that is none. */
static void
start(struct growth *g, void *(*work)(void *), uint64_t *seed)
{
	uint32_t i;

	for (i = 0; i < CREW; i++) {
		g->workers[i] = (struct worker){ .growth = g, .number = i, .seed = *seed + i,
			.lcore = i + 1 < CREW ? i : SLAB_NO_LCORE };
		sem_init(&g->workers[i].turn, 0, 0);
		pthread_create(&g->workers[i].thread, NULL, work, &g->workers[i]);
	}
}

static void
stop(struct growth *g)
{
	uint32_t i;

	g->over = true;
	for (i = 0; i < CREW; i++) {
		sem_post(&g->workers[i].turn);
		pthread_join(g->workers[i].thread, NULL);
	}
}

/* Nobody gets or puts: what was added before is counted, what comes afterwards is not. */
static void *
count(void *arg)
{
	struct growth *g = ((struct worker *)arg)->growth;
	uint32_t least, free, before = 0;

	while (!g->over) {
		least = g->added;
		free = slab_pool_count(g->pool);
		MUST(free >= least && free >= before);
		MUST(free <= slab_pool_added(g->pool));
		MUST(!(g->plan.no_blocks && slab_pool_has_blocks(g->pool)));
		before = free;
	}
	return NULL;
}

/* Exactly what came last can be got, at once, by a thread that did not add it. */
static void
find(struct worker *w)
{
	struct growth *g = w->growth;
	uint32_t n = g->added - g->out;
	void *more;

	MUST(slab_pool_count(g->pool) == n);
	MUST(slab_get(g->pool, w->lcore, w->objs, n) == 0);
	mark(&g->marks, w->objs, n, MARK_FREE, (uint8_t)(w->number + 1));
	MUST(slab_get(g->pool, w->lcore, &more, 1) == -ENOBUFS);
	MUST(slab_pool_count(g->pool) == 0);
	w->held = n;
	while (w->held != 0)
		put(w, draw_size(&w->seed, w->held));
}

static void *
find_in_turn(void *arg)
{
	struct worker *w = arg;

	for (sem_wait(&w->turn); !w->growth->over; sem_wait(&w->turn)) {
		find(w);
		sem_post(&w->growth->found);
	}
	return NULL;
}

static void
let_all_find(struct growth *g, uint64_t *seed)
{
	uint32_t first = draw(seed, CREW), i;

	for (i = 0; i < CREW; i++) {
		sem_post(&g->workers[(first + i) % CREW].turn);
		sem_wait(&g->found);
	}
}

static void
grow_during(struct growth *g, void *(*work)(void *), uint64_t *seed)
{
	uint32_t i;

	start(g, work, seed);
	for (i = 0; i < g->plan.nr; i++) {
		usleep(50);
		add(g, i);
	}
	usleep(50);
	stop(g);
}

static void
grow_in_use(struct growth *g, uint64_t *seed)
{
	grow_during(g, use, seed);
}

static void
grow_counted(struct growth *g, uint64_t *seed)
{
	grow_during(g, count, seed);
}

/* Everything is out but for the chunk that came last. */
static void
grow_while_all_is_out(struct growth *g, uint64_t *seed)
{
	void **out = calloc(OBJECTS, sizeof(*out));
	uint32_t i, n;

	start(g, find_in_turn, seed);
	for (i = 0; i < g->plan.nr; i++) {
		n = g->plan.chunks[i].count;
		add(g, i);
		let_all_find(g, seed);
		MUST(slab_get(g->pool, SLAB_NO_LCORE, out + g->out, n) == 0);
		g->out += n;
	}
	stop(g);
	slab_put(g->pool, SLAB_NO_LCORE, out, g->out);
	free(out);
}

static void
all_orders(void (*grow)(struct growth *g, uint64_t *seed))
{
	uint32_t seed = crew_setting("STRESS_SEED", 0);
	uint32_t end = seed + crew_setting("STRESS_POOLS", 48);
	struct growth *g = calloc(1, sizeof(*g));
	uint64_t draws;

	for (; seed < end; seed++) {
		draws = seed;
		growth_begin(g, seed % ORDERS, seed / ORDERS % 2 == 0 ? 1 : 3, &draws);
		snprintf(crew_at, sizeof(crew_at), "seed %u", seed);
		grow(g, &draws);
		growth_end(g);
	}
	free(g);
}

static void
chunks_come_in_use(void **state)
{
	(void)state;
	all_orders(grow_in_use);
}

static void
counts_follow(void **state)
{
	(void)state;
	all_orders(grow_counted);
}

static void
new_objects_are_there_at_once(void **state)
{
	(void)state;
	all_orders(grow_while_all_is_out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_come_in_use),
		cmocka_unit_test(counts_follow),
		cmocka_unit_test(new_objects_are_there_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
