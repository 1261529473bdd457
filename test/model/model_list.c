/* SPDX-License-Identifier: BSD-3-Clause */

#include "scenario.h"

/*
 * slab_list.h: three threads pop up to two of two ids from one list and push them again in either
 * order. No id is lost or in two hands, and what its holder wrote is seen by the next. In "list-some"
 * one of them takes what it finds in one step.
 */

#define IDS 2

static slab_atomic64 *head;

static uint32_t
id_at(unsigned int i)
{
	return slab_node_at(pool, 0)->first + i * pool->magazine_units;
}

static unsigned int
number_of(uint32_t id)
{
	return (id - slab_node_at(pool, 0)->first) / pool->magazine_units;
}

static void
setup(void)
{
	struct slab_conf conf = { .objects = 1, .stride = OBJECT, .align = OBJECT, .magazine = 1,
		.depot = IDS };
	unsigned int i;

	pool_make(&conf);
	head = &slab_node_at(pool, 0)->full;
	model_share(head, MODEL_ATOMIC);
	for (i = 0; i < IDS; i++) {
		slab_list_push(pool, head, id_at(i));
		share_magazine(id_at(i));
	}
}

static uint32_t
pop(void)
{
	uint32_t id = slab_list_pop(pool, head);

	if (id != 0)
		model_hold(number_of(id));
	return id;
}

static void
push(uint32_t id)
{
	if (id == 0)
		return;
	model_let_go(number_of(id));
	slab_list_push(pool, head, id);
}

static void
thread(unsigned int i)
{
	uint32_t a = pop(), b = i == 0 ? 0 : pop();

	if (model_rand(2) == 0) {
		push(a);
		push(b);
	} else {
		push(b);
		push(a);
	}
	push(pop());
}

static void
take_some(void)
{
	uint32_t n, a = slab_list_pop_some(pool, head, 2, &n), b = 0;
	struct slab_link *link = slab_at(pool, a);

	if (a == 0)
		return;
	model_hold(number_of(a));
	b = slab_load_relaxed(&link->next);
	model_assert(n == 1 + (b != 0));
	if (b != 0)
		model_hold(number_of(b));
	push(a);
	push(b);
}

static void
thread_some(unsigned int i)
{
	if (i != 0) {
		thread(i);
		return;
	}
	take_some();
	take_some();
}

static void
after(void)
{
	uint32_t a = slab_list_pop(pool, head), b = slab_list_pop(pool, head);

	model_assert(a != 0 && b != 0 && a != b);
	model_assert(slab_list_pop(pool, head) == 0);
}

#define MUTANTS { \
	{ "untagged head", "slab_list_pop", "head", MODEL_CAS, TWIST_UNTAGGED }, \
	{ "push relaxed", "slab_list_push", "head", MODEL_CAS, TWIST_RELAXED }, \
	{ "pop relaxed", "slab_list_pop", "head", MODEL_CAS, TWIST_RELAXED }, \
	{ "pop relaxed at first", "slab_list_pop", "head", MODEL_LOAD, TWIST_RELAXED }, \
	{ "pop relaxed on failure", "slab_list_pop", "head", MODEL_CAS, TWIST_FAIL_RELAXED }, \
	{ "plain link", "slab_list_pop", "&link->next", MODEL_LOAD, TWIST_PLAIN }, \
}

#define SOME_MUTANTS { \
	{ "untagged head", "slab_list_pop", "head", MODEL_CAS, TWIST_UNTAGGED }, \
	{ "some with an untagged head", "slab_list_pop_some", "head", MODEL_CAS, TWIST_UNTAGGED }, \
	{ "some relaxed", "slab_list_pop_some", "head", MODEL_CAS, TWIST_RELAXED }, \
	{ "some relaxed at first", "slab_list_pop_some", "head", MODEL_LOAD, TWIST_RELAXED }, \
	{ "some relaxed on failure", "slab_list_pop_some", "head", MODEL_CAS, TWIST_FAIL_RELAXED }, \
	{ "plain links", "slab_list_pop_some", "&last->next", MODEL_LOAD, TWIST_PLAIN }, \
}

const struct model_scenario model_scenarios[] = {
	{ "list-2", 2, IDS, false, setup, thread, after, NULL, MUTANTS },
	{ "list-3", 3, IDS, false, setup, thread, after, NULL, MUTANTS },
	{ "list-some-2", 2, IDS, false, setup, thread_some, after, NULL, SOME_MUTANTS },
	{ "list-some-3", 3, IDS, false, setup, thread_some, after, NULL, SOME_MUTANTS },
	{ 0 },
};
