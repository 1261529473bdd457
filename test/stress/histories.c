/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every free object can be had from everywhere: after any history of gets and puts by several
 * threads, one lcore gets all objects while the others rest.
 *
 * A history is short and random. Between two of them the thread that came last plays one lcore, or
 * a thread that is none, and empties the pool; meanwhile the caches of all others have what the
 * history left there. Groups of histories have a pool in common, of each shape in turn. To repeat
 * the group of a history that failed: STRESS_GROUP=number STRESS_HISTORIES=100.
 */

#include <errno.h>
#include <unistd.h>

#include "crew.h"

#define MOST 8191
#define GROUP 100
#define CHECKER (CREW + 1)

struct histories;

struct worker {
	struct histories *all;
	pthread_t thread;
	uint32_t number, lcore, held;
	uint64_t seed;
	void **objs;
};

struct histories {
	struct slab_pool *pool;
	uint32_t n, next, end; /* objects; the next history and the last */
	uint64_t seed;
	struct marks marks;
	struct box box;
	struct meeting meeting;
	struct worker workers[CREW];
	void *drained[MOST];
};

static void
get(struct worker *w, uint32_t n)
{
	struct histories *h = w->all;

	if (w->held + n > h->n || slab_get(h->pool, w->lcore, w->objs + w->held, n) != 0)
		return;
	mark(&h->marks, w->objs + w->held, n, MARK_FREE, (uint8_t)(w->number + 1));
	w->held += n;
}

/* Some out of the middle, so that slabs come apart. */
static void
put(struct worker *w, uint32_t n)
{
	void **objs = w->objs;

	n = n < w->held ? n : w->held;
	objs += draw(&w->seed, w->held - n + 1);
	mark(&w->all->marks, objs, n, (uint8_t)(w->number + 1), MARK_FREE);
	slab_put(w->all->pool, w->lcore, objs, n);
	w->held -= n;
	memmove(objs, objs + n, (size_t)(w->objs + w->held - objs) * sizeof(*objs));
}

static void
one_step(struct worker *w)
{
	switch (draw(&w->seed, 5)) {
	case 0:
	case 1:
		get(w, draw_size(&w->seed, w->all->n));
		break;
	case 2:
	case 3:
		put(w, draw_size(&w->seed, w->all->n));
		break;
	default:
		box_swap(&w->all->box, &w->all->marks, (uint8_t)(w->number + 1), &w->objs,
			&w->held);
	}
}

/* Two lcores always work; the other threads are lcores too, or none, or rest. */
static uint32_t
steps_and_lcore(struct worker *w)
{
	uint32_t role = w->number < 2 ? 0 : draw(&w->seed, 3);

	w->lcore = role == 0 ? w->number : SLAB_NO_LCORE;
	return role == 2 ? 0 : draw(&w->seed, 8);
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	uint32_t steps;

	for (meet(&w->all->meeting); w->all->pool != NULL; meet(&w->all->meeting)) {
		w->seed = w->all->seed + w->number;
		for (steps = steps_and_lcore(w); steps != 0; steps--)
			one_step(w);
		while (w->held != 0)
			put(w, draw_size(&w->seed, w->held));
	}
	return NULL;
}

/* Half of the objects to each node, if there are two. */
static void
add_all(struct slab_pool *pool, uint32_t n, uint32_t nodes)
{
	struct slab_range part = { .base = MADE_UP, .count = nodes == 1 ? n : n / 2 };

	MUST(pool_add(pool, &part) == part.count);
	part = (struct slab_range){ .base = MADE_UP + (size_t)part.count * 64,
		.count = n - part.count, .node = 1 };
	MUST(pool_add(pool, &part) == part.count);
}

static void
begin_group(struct histories *h, uint32_t group)
{
	static const uint32_t counts[] = { 1, 64, 384, 1000, 1023, MOST };
	static const uint32_t magazines[] = { 0, 1, 4, 64 }, depots[] = { SLAB_AUTO, 0, 2 };
	static const uint8_t lcore_node[CREW] = { 0, 1, 0, 1 };
	/* All shapes once in 864 groups, and each of their sides in a few. */
	uint32_t shape = group * 613 % 864;
	struct slab_conf conf = plain_conf(counts[shape % 6]);

	conf.magazine = magazines[shape / 6 % 4];
	conf.depot = depots[shape / 24 % 3];
	conf.lcore_partial = shape / 72 % 2 * 3;
	conf.nodes = 1 + shape / 144 % 2;
	conf.thread_cache = crew_thread_cache(shape / 288);
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.lcore_node = lcore_node;
	conf.check = group % 2;
	h->n = conf.objects;
	h->pool = pool_make(&conf);
	add_all(h->pool, h->n, conf.nodes);
}

static void
end_group(struct histories *h)
{
	MUST(slab_pool_faults(h->pool) == 0);
	pool_free(h->pool);
	h->pool = NULL;
}

static void
get_all(struct histories *h, uint32_t lcore)
{
	uint32_t got, k;
	void *more;

	for (got = 0; got < h->n; got += k) {
		k = draw_size(&h->seed, h->n - got);
		MUST(slab_get(h->pool, lcore, h->drained + got, k) == 0);
	}
	MUST(slab_get(h->pool, lcore, &more, 1) == -ENOBUFS);
	mark(&h->marks, h->drained, h->n, MARK_FREE, CHECKER);
}

static void
put_all(struct histories *h, uint32_t lcore)
{
	uint32_t left, k;

	mark(&h->marks, h->drained, h->n, CHECKER, MARK_FREE);
	for (left = h->n; left != 0; left -= k) {
		k = draw_size(&h->seed, left);
		slab_put(h->pool, lcore, h->drained + left - k, k);
	}
}

static uint32_t
any_lcore(struct histories *h)
{
	uint32_t lcore = draw(&h->seed, CREW + 1);

	return lcore < CREW ? lcore : SLAB_NO_LCORE;
}

static void
end_history(struct histories *h)
{
	uint32_t lcore = any_lcore(h);

	mark(&h->marks, h->box.objs, h->box.n, MARK_BOX, MARK_FREE);
	slab_put(h->pool, any_lcore(h), h->box.objs, h->box.n);
	h->box.n = 0;
	MUST(slab_pool_count(h->pool) == h->n);
	get_all(h, lcore);
	MUST(slab_pool_count(h->pool) == 0);
	put_all(h, lcore);
	MUST(slab_pool_count(h->pool) == h->n);
}

/* By the thread that came last, while the others rest. */
static void
between(void *arg)
{
	struct histories *h = arg;

	if (h->pool != NULL)
		end_history(h);
	if (h->pool != NULL && (h->next % GROUP == 0 || h->next == h->end))
		end_group(h);
	if (h->next == h->end)
		return;
	if (h->pool == NULL)
		begin_group(h, h->next / GROUP);
	snprintf(crew_at, sizeof(crew_at), "group %u, history %u of it, %u objects",
		h->next / GROUP, h->next % GROUP, h->n);
	h->seed = h->next++ * UINT64_C(0x9e3779b97f4a7c15);
}

static void
histories_begin(struct histories *h)
{
	uint32_t i;

	h->next = crew_setting("STRESS_GROUP", 0) * GROUP;
	h->end = h->next + crew_setting("STRESS_HISTORIES", 100000);
	marks_begin(&h->marks, MOST);
	box_begin(&h->box, MOST);
	h->meeting = (struct meeting){ .size = CREW, .last = between, .arg = h };
	for (i = 0; i < CREW; i++) {
		h->workers[i] = (struct worker){ .all = h, .number = i };
		h->workers[i].objs = calloc(MOST, sizeof(void *));
		pthread_create(&h->workers[i].thread, NULL, work, &h->workers[i]);
	}
}

static void
after_any_history_one_gets_all(void **state)
{
	struct histories *h = calloc(1, sizeof(*h));
	uint32_t i;

	(void)state;
	histories_begin(h);
	for (i = 0; i < CREW; i++) {
		pthread_join(h->workers[i].thread, NULL);
		free(h->workers[i].objs);
	}
	box_end(&h->box);
	marks_end(&h->marks);
	free(h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_any_history_one_gets_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
