/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FIXTURE_H
#define FIXTURE_H

/*
 * Pools for tests. The core never touches the memory of objects, so most tests hand it addresses
 * that nothing lies at.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "slab.h"

#define MADE_UP ((char *)UINT64_C(0x100000000))

static inline struct slab_pool *
pool_make(const struct slab_conf *conf)
{
	size_t size = slab_pool_size(conf);
	void *mem;

	assert_int_not_equal(size, 0);
	mem = aligned_alloc(SLAB_POOL_ALIGN, size);
	assert_non_null(mem);
	memset(mem, 0, size);
	return slab_pool_init(mem, conf);
}

static inline void
pool_free(struct slab_pool *pool)
{
	unsigned int i;

	for (i = 0; slab_pool_room(pool, i) != NULL; i++)
		free(slab_pool_room(pool, i));
	free(pool);
}

/* Add a range, with room for its record if the pool wants some. */
static inline uint32_t
pool_add(struct slab_pool *pool, const struct slab_range *range)
{
	size_t wanted = slab_pool_room_wanted(pool);
	void *room;

	if (wanted != 0) {
		room = aligned_alloc(SLAB_POOL_ALIGN, wanted);
		assert_non_null(room);
		memset(room, 0, wanted);
		slab_pool_room_give(pool, room);
	}
	return slab_pool_add(pool, range);
}

/* A pool of n objects of 64 bytes at MADE_UP, for 4 lcores with caches. */
static inline struct slab_conf
plain_conf(uint32_t n)
{
	return (struct slab_conf){ .name = "test", .objects = n, .stride = 64, .align = 64,
		.lcores = 4, .active_lcores = 2, .depot = SLAB_AUTO, .min_partial = SLAB_AUTO,
		.lcore_cache = true };
}

static inline struct slab_pool *
plain_pool(uint32_t n)
{
	struct slab_conf conf = plain_conf(n);
	struct slab_pool *pool = pool_make(&conf);
	struct slab_range all = { .base = MADE_UP, .count = n };

	assert_int_equal(pool_add(pool, &all), n);
	return pool;
}

static inline int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* Get all objects in bursts, fail at one more, check that no two are the same; return how many. */
static inline uint32_t
drain(struct slab_pool *pool, uint32_t lcore, void **objs, uint32_t max, unsigned int burst)
{
	uint32_t n = 0, i;
	void *more;

	while (n + burst <= max && slab_get(pool, lcore, objs + n, burst) == 0)
		n += burst;
	while (n < max && slab_get(pool, lcore, objs + n, 1) == 0)
		n++;
	assert_int_not_equal(slab_get(pool, lcore, &more, 1), 0);
	qsort(objs, n, sizeof(*objs), by_address);
	for (i = 1; i < n; i++)
		assert_ptr_not_equal(objs[i - 1], objs[i]);
	return n;
}

/* Faults that were reported, counted by kind. */
static unsigned int faults[SLAB_FAULTS];

static inline void
count_fault(const struct slab_pool *pool, const void *obj, enum slab_fault fault, uint64_t nth)
{
	(void)obj;
	faults[fault]++;
	assert_int_equal(nth, slab_pool_faults_of(pool, fault));
}

static inline int
faults_begin(void **state)
{
	(void)state;
	memset(faults, 0, sizeof(faults));
	slab_set_fault_handler(count_fault);
	return 0;
}

#endif /* FIXTURE_H */
