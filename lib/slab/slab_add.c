/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_check.h"
#include "slab_node.h"
#include "slab_slab.h"

/* How objects come into a pool: a record, numbers, states, and bits in slabs, in this order. */

static uint8_t
log2_of(size_t power)
{
	return (uint8_t)__builtin_ctzll(power);
}

/* Number the objects from this one on; a slab belongs to the node of its first object. */
static uint32_t
next_number(struct slab_pool *pool, const struct slab_chunk *last, uint8_t node)
{
	uint32_t numbers = slab_load_relaxed(&pool->numbers);
	uint32_t whole = (numbers + SLAB_OBJECTS - 1) / SLAB_OBJECTS * SLAB_OBJECTS;
	uint32_t wanted = pool->objects - slab_load_relaxed(&pool->added);
	bool other_node = last != NULL && last->node != node;

	/* Without room for the gap a slab has objects of two nodes: slower, not wrong. */
	if (other_node && wanted <= pool->nr_slabs * SLAB_OBJECTS - whole)
		return whole;
	return numbers;
}

/* The record that holds the range: a new one, or the last one if that goes on. */
static uint32_t
record_range(struct slab_pool *pool, const struct slab_range *range, uint32_t *number)
{
	uint32_t nr = slab_load_relaxed(&pool->nr_chunks);
	struct slab_chunk *last = nr == 0 ? NULL : slab_chunk_at(pool, nr - 1), *chunk;
	struct slab_chunk wanted = {
		.base = slab_distance(pool, range->base),
		.count = range->count,
		.per_page = range->per_page == 0 ? UINT32_MAX : range->per_page,
		.page_shift = range->per_page == 0 ? 63 : log2_of(range->page),
		.node = (uint8_t)slab_known_node(pool, range->node),
	};

	*number = wanted.first = next_number(pool, last, wanted.node);
	if (last != NULL && slab_chunk_continues(pool, last, &wanted)) {
		slab_add_relaxed(&last->count, range->count);
		slab_node_cover(pool, last);
		return nr - 1;
	}
	chunk = slab_chunk_at(pool, nr);
	*chunk = wanted;
	slab_store_release(&pool->nr_chunks, nr + 1);
	slab_chunk_insert(pool, nr);
	slab_node_cover(pool, chunk);
	return nr;
}

/* Codes reach as far below the first object as above it. */
static void
set_base(struct slab_pool *pool, const struct slab_range *range)
{
	pool->base = slab_distance(pool, range->base) - (UINT64_C(1) << (31 + pool->shift));
}

static void
choose_main(struct slab_pool *pool, const struct slab_chunk *chunk)
{
	if (slab_load_relaxed(&chunk->count) > slab_load_relaxed(&slab_chunk_main(pool)->count))
		slab_store_release(&pool->main_chunk, slab_distance(pool, chunk));
}

/* The record of each slab that begins here, before anybody hears of it. */
static void
record_slabs(struct slab_pool *pool, uint32_t record, uint32_t first, uint32_t end)
{
	uint32_t slab;

	for (slab = (first + SLAB_OBJECTS - 1) / SLAB_OBJECTS; slab * SLAB_OBJECTS < end; slab++)
		slab_slab_at(pool, slab)->chunk = record;
}

static void
free_numbers(struct slab_pool *pool, uint32_t first, uint32_t count)
{
	uint32_t end = first + count, low, high, slab;

	/* From the last slab to the first, so that gets begin with the first. */
	for (high = end; high > first; high = low) {
		slab = (high - 1) / SLAB_OBJECTS;
		low = slab * SLAB_OBJECTS > first ? slab * SLAB_OBJECTS : first;
		slab_slab_put(pool, slab, slab_bits(low % SLAB_OBJECTS, high - low));
	}
}

uint32_t
slab_pool_add(struct slab_pool *pool, const struct slab_range *range)
{
	uint32_t left = pool->objects - slab_load_relaxed(&pool->added), record, first;
	struct slab_range taken = *range;

	taken.count = range->count < left ? range->count : left;
	if (taken.count == 0 || slab_pool_room_wanted(pool) != 0)
		return 0;
	if (slab_load_relaxed(&pool->nr_chunks) == 0)
		set_base(pool, &taken);
	record = record_range(pool, &taken, &first);
	choose_main(pool, slab_chunk_at(pool, record));
	record_slabs(pool, record, first, first + taken.count);
	slab_check_add(pool, first, taken.count);
	slab_store_release(&pool->numbers, first + taken.count);
	slab_add_relaxed(&pool->added, taken.count);
	free_numbers(pool, first, taken.count);
	return taken.count;
}

static uint32_t
rooms_given(const struct slab_pool *pool)
{
	uint32_t i = 0;

	while (i < SLAB_ROOMS && pool->rooms[i] != 0)
		i++;
	return i;
}

static uint32_t
records(uint32_t rooms)
{
	return SLAB_FIRST_ROOM * ((UINT32_C(1) << rooms) - 1);
}

size_t
slab_pool_room_wanted(const struct slab_pool *pool)
{
	uint32_t rooms = rooms_given(pool);

	if (slab_load_relaxed(&pool->nr_chunks) < records(rooms))
		return 0;
	return ((size_t)SLAB_FIRST_ROOM << rooms) * sizeof(struct slab_chunk);
}

void
slab_pool_room_give(struct slab_pool *pool, void *mem)
{
	pool->rooms[rooms_given(pool)] = slab_distance(pool, mem);
}

void *
slab_pool_room(const struct slab_pool *pool, unsigned int i)
{
	if (i + 1 >= rooms_given(pool))
		return NULL;
	return (void *)((uintptr_t)pool + (uintptr_t)pool->rooms[i + 1]);
}
