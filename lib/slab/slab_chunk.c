/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_chunk.h"
#include "slab_slab.h"

/*
 * Records never move and never go: a room is twice the one before, so that the record's number
 * tells the room. Readers walk a skip list (Pugh, "Skip Lists", 1990) by address, while the one
 * writer links further records into it: a record is complete before the first link to it (release
 * in insert pairs with acquire in follow), and a link that is not there yet hides only objects
 * that nobody can hold.
 */

struct slab_chunk *
slab_chunk_at(const struct slab_pool *pool, uint32_t record)
{
	uint32_t room = 31 - (uint32_t)__builtin_clz(record / SLAB_FIRST_ROOM + 1);
	uint32_t first = SLAB_FIRST_ROOM * ((UINT32_C(1) << room) - 1);
	struct slab_chunk *chunks = (void *)((uintptr_t)pool + (uintptr_t)pool->rooms[room]);

	return &chunks[record - first];
}

static uint64_t
distance(const struct slab_pool *pool, const void *obj)
{
	return (uint64_t)((uintptr_t)obj - (uintptr_t)pool);
}

/* The place of object i, i up to and with the count, as bytes from the start of the pool. */
static uint64_t
place(const struct slab_pool *pool, const struct slab_chunk *chunk, uint32_t i)
{
	return chunk->base + ((uint64_t)(i / chunk->per_page) << chunk->page_shift) +
		(uint64_t)(i % chunk->per_page) * pool->stride;
}

static struct slab_chunk *
follow(const struct slab_pool *pool, slab_atomic32 *link)
{
	uint32_t next = slab_load_acquire(link);

	return next == 0 ? NULL : slab_chunk_at(pool, next - 1);
}

/*
 * The links that a chunk at base follows, one of each level; the record of the last chunk at or
 * below base, or NULL, is what is returned.
 */
static struct slab_chunk *
descend(struct slab_pool *pool, uint64_t base, slab_atomic32 *links[SLAB_CHUNK_LEVELS])
{
	slab_atomic32 *links_here = pool->by_base;
	struct slab_chunk *last = NULL, *next;
	int level;

	for (level = SLAB_CHUNK_LEVELS - 1; level >= 0; level--) {
		while ((next = follow(pool, &links_here[level])) != NULL && next->base <= base) {
			last = next;
			links_here = next->next;
		}
		links[level] = &links_here[level];
	}
	return last;
}

/* Every fourth record is in the next level as well; which ones does not follow the addresses. */
static int
levels(uint32_t record)
{
	uint32_t mixed = (record + 1) * UINT32_C(0x9e3779b1);

	return 1 + __builtin_ctz(mixed >> 16 | UINT32_C(1) << (2 * SLAB_CHUNK_LEVELS - 2)) / 2;
}

static void
insert(struct slab_pool *pool, uint32_t record)
{
	struct slab_chunk *chunk = slab_chunk_at(pool, record);
	slab_atomic32 *links[SLAB_CHUNK_LEVELS];
	int level;

	descend(pool, chunk->base, links);
	for (level = 0; level < levels(record); level++) {
		slab_store_relaxed(&chunk->next[level], slab_load_relaxed(links[level]));
		slab_store_release(links[level], record + 1);
	}
}

uint32_t
slab_chunk_number(const struct slab_pool *pool, const void *obj)
{
	slab_atomic32 *links[SLAB_CHUNK_LEVELS];
	const struct slab_chunk *chunk =
		descend((struct slab_pool *)(uintptr_t)pool, distance(pool, obj), links);
	uint64_t off, page, in_page;

	if (chunk == NULL)
		return SLAB_NO_NUMBER;
	off = distance(pool, obj) - chunk->base;
	page = off >> chunk->page_shift;
	in_page = off - (page << chunk->page_shift);
	if (in_page % pool->stride != 0 || in_page / pool->stride >= chunk->per_page)
		return SLAB_NO_NUMBER;
	/* Both factors are below 2^32, or page is 0. */
	off = page > UINT32_MAX ? UINT64_MAX : page * chunk->per_page + in_page / pool->stride;
	return off < slab_load_relaxed(&chunk->count) ? chunk->first + (uint32_t)off :
		SLAB_NO_NUMBER;
}

/* Objects that follow object i in steps of the stride, itself included. */
static uint32_t
row(const struct slab_chunk *chunk, uint32_t i)
{
	uint32_t in_page = chunk->per_page - i % chunk->per_page;
	uint32_t in_chunk = slab_load_relaxed(&chunk->count) - i;

	return in_page < in_chunk ? in_page : in_chunk;
}

/* Ones in a row from the lowest one on. */
static uint32_t
ones(uint64_t bits)
{
	uint64_t zeros = ~(bits >> __builtin_ctzll(bits));

	return zeros == 0 ? SLAB_OBJECTS : (uint32_t)__builtin_ctzll(zeros);
}

unsigned int
slab_chunk_expand(const struct slab_pool *pool, uint32_t slab, uint64_t bits, void **objs)
{
	uint32_t record = slab_slab_at(pool, slab)->chunk, bit, number, run, i;
	const struct slab_chunk *chunk = slab_chunk_at(pool, record);
	unsigned int n = 0;
	uintptr_t at;

	for (; bits != 0; bits &= ~slab_bits(bit, run)) {
		bit = (uint32_t)__builtin_ctzll(bits);
		number = slab * SLAB_OBJECTS + bit;
		while (number - chunk->first >= slab_load_relaxed(&chunk->count))
			chunk = slab_chunk_at(pool, ++record);
		at = (uintptr_t)pool + (uintptr_t)place(pool, chunk, number - chunk->first);
		run = row(chunk, number - chunk->first);
		run = run < ones(bits) ? run : ones(bits);
		for (i = 0; i < run; i++)
			objs[n++] = (void *)(at + (uintptr_t)i * pool->stride);
	}
	return n;
}

/* Whether the range goes on where the chunk ends, in the same rhythm. */
static bool
continues(const struct slab_pool *pool, const struct slab_chunk *chunk,
	const struct slab_chunk *range)
{
	return chunk->node == range->node && chunk->per_page == range->per_page &&
		chunk->page_shift == range->page_shift &&
		place(pool, chunk, slab_load_relaxed(&chunk->count)) == range->base;
}

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
		.base = distance(pool, range->base),
		.count = range->count,
		.per_page = range->per_page == 0 ? UINT32_MAX : range->per_page,
		.page_shift = range->per_page == 0 ? 63 : log2_of(range->page),
		.node = (uint8_t)range->node,
	};

	*number = wanted.first = next_number(pool, last, wanted.node);
	if (last != NULL && continues(pool, last, &wanted)) {
		slab_add_relaxed(&last->count, range->count);
		return nr - 1;
	}
	chunk = slab_chunk_at(pool, nr);
	*chunk = wanted;
	slab_store_relaxed(&pool->nr_chunks, nr + 1);
	insert(pool, nr);
	return nr;
}

/* Codes reach as far below the first object as above it. */
static void
set_base(struct slab_pool *pool, const struct slab_range *range)
{
	pool->base = distance(pool, range->base) - (UINT64_C(1) << (31 + pool->shift));
}

static void
free_numbers(struct slab_pool *pool, uint32_t record, uint32_t first, uint32_t count)
{
	uint32_t end = first + count, low, high, slab;

	/* From the last slab to the first, so that gets begin with the first. */
	for (high = end; high > first; high = low) {
		slab = (high - 1) / SLAB_OBJECTS;
		low = slab * SLAB_OBJECTS > first ? slab * SLAB_OBJECTS : first;
		if (low % SLAB_OBJECTS == 0)
			slab_slab_at(pool, slab)->chunk = record;
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
	slab_store_relaxed(&pool->numbers, first + taken.count);
	slab_add_relaxed(&pool->added, taken.count);
	free_numbers(pool, record, first, taken.count);
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
	pool->rooms[rooms_given(pool)] = distance(pool, mem);
}

void *
slab_pool_room(const struct slab_pool *pool, unsigned int i)
{
	if (i + 1 >= rooms_given(pool))
		return NULL;
	return (void *)((uintptr_t)pool + (uintptr_t)pool->rooms[i + 1]);
}
