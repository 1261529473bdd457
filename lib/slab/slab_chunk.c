/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_chunk.h"

/*
 * Records never move and never go: a room is twice the one before, so that the record's number
 * tells the room. Readers walk a skip list (Pugh, "Skip Lists", 1990) by address, while the one
 * writer links further records into it: a record is complete before the first link to it (release
 * in slab_chunk_insert() pairs with acquire in follow()), and a link that is not there yet hides
 * only objects that nobody can hold.
 */

struct slab_chunk *
slab_chunk_at(const struct slab_pool *pool, uint32_t record)
{
	uint32_t room = 31 - (uint32_t)__builtin_clz(record / SLAB_FIRST_ROOM + 1);
	uint32_t first = SLAB_FIRST_ROOM * ((UINT32_C(1) << room) - 1);
	struct slab_chunk *chunks = (void *)((uintptr_t)pool + (uintptr_t)pool->rooms[room]);

	return &chunks[record - first];
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

void
slab_chunk_insert(struct slab_pool *pool, uint32_t record)
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

const struct slab_chunk *
slab_chunk_below(const struct slab_pool *pool, const void *what)
{
	slab_atomic32 *links[SLAB_CHUNK_LEVELS];

	return descend((struct slab_pool *)(uintptr_t)pool, slab_distance(pool, what), links);
}

uint64_t
slab_chunk_end(const struct slab_pool *pool, const struct slab_chunk *chunk)
{
	return place(pool, chunk, slab_load_relaxed(&chunk->count));
}

uint32_t
slab_chunk_number(const struct slab_pool *pool, const void *obj)
{
	const struct slab_chunk *chunk = slab_chunk_below(pool, obj);
	struct slab_grid grid;
	uint64_t i;

	if (chunk == NULL)
		return SLAB_NO_NUMBER;
	grid = slab_chunk_grid(pool, chunk);
	i = slab_grid_index(grid, obj, true);
	return i < grid.count ? chunk->first + (uint32_t)i : SLAB_NO_NUMBER;
}

bool
slab_chunk_surrounds(const struct slab_pool *pool, const void *what)
{
	const struct slab_chunk *chunk = slab_chunk_below(pool, what);
	uint64_t in_page;

	if (chunk == NULL)
		return false;
	in_page = (slab_distance(pool, what) - chunk->base) & slab_chunk_grid(pool, chunk).in_page;
	return slab_chunk_number(pool, (const char *)what - in_page % pool->stride) !=
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

uint32_t
slab_chunk_row(const struct slab_pool *pool, uint32_t slab)
{
	const struct slab_chunk *chunk = slab_chunk_at(pool, slab_slab_at(pool, slab)->chunk);

	return row(chunk, slab * SLAB_OBJECTS - chunk->first);
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

bool
slab_chunk_continues(const struct slab_pool *pool, const struct slab_chunk *chunk,
	const struct slab_chunk *range)
{
	return chunk->node == range->node && chunk->per_page == range->per_page &&
		chunk->page_shift == range->page_shift &&
		slab_chunk_end(pool, chunk) == range->base;
}
