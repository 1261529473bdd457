/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "scenario.h"

/*
 * slab_slab.c: threads get and put objects of two slabs, where few enough are free that words turn
 * 0 and back all the time. A popped slab is never empty (I1), each object is handed out once, and
 * what was written before its put is seen after its get.
 */

#define SLABS 2
/* Objects 0 and 1 of each slab take part. */
#define OBJECTS (2 * SLABS)

static void *
part(unsigned int i)
{
	return object_at(i / 2 * SLAB_OBJECTS + i % 2);
}

static unsigned int
part_of(const void *obj)
{
	return object_number(obj) / SLAB_OBJECTS * 2 + object_number(obj) % SLAB_OBJECTS;
}

static void
setup(void)
{
	struct slab_conf conf = { .objects = SLABS * SLAB_OBJECTS, .stride = OBJECT,
		.align = OBJECT, .magazine = 1 };
	unsigned int i;

	pool_make(&conf);
	share_slabs_list();
	for (i = 0; i < SLABS; i++)
		share_slab(i);
}

/* Setup leaves all objects out: thread i begins with some of them. */
static void
begin_with(void **objs, unsigned int first, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		objs[i] = part(first + i);
		model_hold(first + i);
	}
}

static void
put(void **objs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		model_let_go(part_of(objs[i]));
	slab_slabs_put(pool, objs, n);
}

static unsigned int
get(void **objs)
{
	unsigned int n = slab_slabs_get(pool, 0, objs), i;

	for (i = 0; i < n; i++)
		model_hold(part_of(objs[i]));
	return n;
}

static void
put_apart(void **objs, unsigned int n)
{
	while (n-- != 0)
		put(objs + n, 1);
}

static void
thread_of_2(unsigned int i)
{
	void *objs[2];

	begin_with(objs, 2 * i, 2);
	put(objs, 1);
	put(objs + 1, 1);
	put_apart(objs, get(objs));
	put(objs, get(objs));
}

static void
thread_of_3(unsigned int i)
{
	void *objs[2];

	begin_with(objs, i, 1);
	put(objs, 1);
	put_apart(objs, get(objs));
	put(objs, get(objs));
}

static void
i1(const struct model_site *site, enum model_op op, uint64_t old)
{
	if (op == MODEL_EXCHANGE && strcmp(site->func, "empty") == 0)
		model_assert(old != 0);
}

/* The first n parts are free, each once. */
static void
drained(unsigned int n)
{
	void *objs[SLAB_OBJECTS];
	unsigned int k, free = 0, i;

	while ((k = slab_slabs_get(pool, 0, objs)) != 0)
		for (i = 0; i < k; i++)
			free |= 1U << part_of(objs[i]);
	model_assert(free == (1U << n) - 1);
	for (i = 0; i < SLABS; i++)
		model_assert(slab_load_relaxed(&slab_slab_at(pool, i)->word) == 0);
	model_assert(slab_load_relaxed(&slab_node_at(pool, 0)->nr_partial) == 0);
}

static void
after_2(void)
{
	drained(4);
}

static void
after_3(void)
{
	drained(3);
}

#define WORD_PUT "&at->word"
#define WORD_GET "&at->word"

#define MUTANTS \
	{ "put relaxed", "slab_slab_put", WORD_PUT, MODEL_OR, TWIST_RELAXED }, \
	{ "put does not release", "slab_slab_put", WORD_PUT, MODEL_OR, TWIST_ACQUIRE }, \
	{ "put in two steps", "slab_slab_put", WORD_PUT, MODEL_OR, TWIST_SPLIT }, \
	{ "put always pushes", "slab_slab_put", WORD_PUT, MODEL_OR, TWIST_ZERO }, \
	{ "get relaxed", "empty", WORD_GET, MODEL_EXCHANGE, TWIST_RELAXED }, \
	{ "get in two steps", "empty", WORD_GET, MODEL_EXCHANGE, TWIST_SPLIT }, \
	{ "push relaxed", "slab_list_push", "head", MODEL_CAS, TWIST_RELAXED }
/*
 * Two others have to push a slab one after the other, or, while a pop sleeps, change the list
 * behind it and hold what it will find: what two threads do here comes to neither.
 */
#define MUTANTS_OF_3 \
	{ "put does not acquire", "slab_slab_put", WORD_PUT, MODEL_OR, TWIST_RELEASE }, \
	{ "get does not release", "empty", WORD_GET, MODEL_EXCHANGE, TWIST_ACQUIRE }, \
	{ "untagged head", "slab_list_pop", "head", MODEL_CAS, TWIST_UNTAGGED }

const struct model_scenario model_scenarios[] = {
	{ "slab-2", 2, OBJECTS, false, setup, thread_of_2, after_2, i1, { MUTANTS } },
	{ "slab-3", 3, OBJECTS, false, setup, thread_of_3, after_3, i1,
		{ MUTANTS, MUTANTS_OF_3 } },
	{ 0 },
};
