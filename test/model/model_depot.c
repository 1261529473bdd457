/* SPDX-License-Identifier: BSD-3-Clause */

#include "scenario.h"

/*
 * slab_depot.c: threads put objects into magazines of one depot and get objects from there. Each
 * magazine has one holder (I2), is on the list where its length belongs (I3), and its next holder
 * sees its codes, and the objects that they stand for, as the last one left them.
 */

#define MAGAZINES 2
#define MAGAZINE 2
#define OBJECTS 4
#define MAX_THREADS 3

struct hand {
	void *objs[OBJECTS];
	unsigned int n;
};

static struct hand hands[MAX_THREADS];

/* Magazines are held as objects are: their numbers follow. */
static unsigned int
number_of(uint32_t id)
{
	return OBJECTS + (id - slab_node_at(pool, 0)->first) / pool->magazine_units;
}

static void
setup(void)
{
	struct slab_conf conf = { .objects = OBJECTS, .stride = OBJECT, .align = OBJECT,
		.magazine = MAGAZINE, .depot = MAGAZINES };
	unsigned int i;

	pool_make(&conf);
	share_depot();
	for (i = 0; i < MAGAZINES; i++)
		share_magazine(slab_node_at(pool, 0)->first + i * pool->magazine_units);
}

static uint32_t
length(uint32_t id)
{
	const struct slab_magazine *m = slab_at(pool, id);

	return slab_load_relaxed(&m->len);
}

static void
park(uint32_t id)
{
	model_let_go(number_of(id));
	slab_depot_park(pool, 0, id);
}

/* Magazines may all be full or in other hands: then the object stays in this one. */
static void
put(struct hand *hand)
{
	uint32_t id = hand->n == 0 ? 0 : slab_depot_get_room(pool, 0);
	void *obj;

	if (id == 0)
		return;
	model_hold(number_of(id));
	model_assert(length(id) < MAGAZINE);
	obj = hand->objs[--hand->n];
	model_let_go(object_number(obj));
	slab_magazine_push_owner(pool, id, &obj, 1, slab_base(pool));
	park(id);
}

static void
get(struct hand *hand, unsigned int max)
{
	uint32_t id = slab_depot_get_objects(pool, 0);
	unsigned int k;

	if (id == 0)
		return;
	model_hold(number_of(id));
	model_assert(length(id) > 0);
	k = slab_magazine_pop_owner(pool, id, hand->objs + hand->n, max, slab_base(pool));
	for (; k != 0; k--)
		model_hold(object_number(hand->objs[hand->n++]));
	park(id);
}

/* Setup leaves all objects out: thread i begins with some of them. */
static void
begin_with(struct hand *hand, unsigned int first, unsigned int n)
{
	for (hand->n = 0; hand->n < n; hand->n++) {
		hand->objs[hand->n] = object_at(first + hand->n);
		model_hold(first + hand->n);
	}
}

static void
thread_of_2(unsigned int i)
{
	struct hand *hand = &hands[i];

	begin_with(hand, 2 * i, 2);
	put(hand);
	put(hand);
	get(hand, 1 + model_rand(2));
	put(hand);
}

static void
thread_of_3(unsigned int i)
{
	struct hand *hand = &hands[i];

	begin_with(hand, i, 1);
	put(hand);
	get(hand, 1 + model_rand(2));
	put(hand);
	get(hand, 1);
}

/* Each of the first n objects is in one hand or in one magazine. */
static void
whole(unsigned int threads, unsigned int n)
{
	struct hand rest = { .n = 0 };
	unsigned int found = 0, i;
	uint32_t id;

	while ((id = slab_depot_get_objects(pool, 0)) != 0) {
		model_assert(length(id) != 0 && length(id) <= n - rest.n);
		rest.n += slab_magazine_pop_owner(pool, id, rest.objs + rest.n, OBJECTS,
			slab_base(pool));
	}
	for (i = 0; i < rest.n; i++)
		found += 1U << 4 * object_number(rest.objs[i]);
	while (threads-- != 0)
		for (i = 0; i < hands[threads].n; i++)
			found += 1U << 4 * object_number(hands[threads].objs[i]);
	model_assert(found == 0x1111U >> 4 * (OBJECTS - n));
}

static void
after_2(void)
{
	whole(2, 4);
}

static void
after_3(void)
{
	whole(3, 3);
}

#define MUTANTS { \
	{ "push relaxed", "slab_list_push", "head", MODEL_CAS, TWIST_RELAXED }, \
	{ "pop relaxed", "slab_list_pop", "head", MODEL_CAS, TWIST_RELAXED }, \
	{ "pop relaxed at first", "slab_list_pop", "head", MODEL_LOAD, TWIST_RELAXED }, \
	{ "pop relaxed on failure", "slab_list_pop", "head", MODEL_CAS, TWIST_FAIL_RELAXED }, \
	{ "fresh in two steps", "fresh", "&here->fresh", MODEL_ADD, TWIST_SPLIT }, \
	{ "all parked as empty", "slab_depot_park", "&m->len", MODEL_LOAD, TWIST_ZERO }, \
}

const struct model_scenario model_scenarios[] = {
	{ "depot-2", 2, OBJECTS + MAGAZINES, false, setup, thread_of_2, after_2, NULL, MUTANTS },
	{ "depot-3", 3, OBJECTS + MAGAZINES, false, setup, thread_of_3, after_3, NULL, MUTANTS },
	{ 0 },
};
