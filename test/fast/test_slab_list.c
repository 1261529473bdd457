/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_list.h"

/* Ids for a list: any units of a block will do, each is its own link. */
static _Alignas(SLAB_POOL_ALIGN) char block[4096];

static const struct slab_pool *
ids(void)
{
	return (const struct slab_pool *)(void *)block;
}

static void
last_in_first_out(void **state)
{
	slab_atomic64 head = 0;
	uint32_t id;

	(void)state;
	assert_int_equal(slab_list_pop(ids(), &head), 0);
	for (id = 1; id < 200; id++)
		slab_list_push(ids(), &head, id);
	for (id = 199; id > 0; id--)
		assert_int_equal(slab_list_pop(ids(), &head), id);
	assert_int_equal(slab_list_pop(ids(), &head), 0);
}

/* The head that a slow pop read does not come back, though the same id is first again. */
static void
each_pop_changes_the_tag(void **state)
{
	slab_atomic64 head = 0;
	uint64_t before, i;

	(void)state;
	slab_list_push(ids(), &head, 7);
	slab_list_push(ids(), &head, 8);
	before = head;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(slab_list_pop(ids(), &head), 8);
		slab_list_push(ids(), &head, 8);
		assert_int_not_equal(head, before);
		assert_int_equal(head & SLAB_LIST_ID_MASK, before & SLAB_LIST_ID_MASK);
	}
}

/* The tag runs over without touching the id. */
static void
tag_wraps(void **state)
{
	slab_atomic64 head = ~SLAB_LIST_ID_MASK;

	(void)state;
	slab_list_push(ids(), &head, 3);
	assert_int_equal(slab_list_pop(ids(), &head), 3);
	assert_int_equal(head, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_in_first_out),
		cmocka_unit_test(each_pop_changes_the_tag),
		cmocka_unit_test(tag_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
