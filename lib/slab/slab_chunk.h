/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_CHUNK_H
#define SLAB_CHUNK_H

#include "slab_types.h"

/* The number of what is no object. */
#define SLAB_NO_NUMBER UINT32_MAX

/* Bytes from the start of the pool, modulo 2^64. */
static inline uint64_t
slab_distance(const struct slab_pool *pool, const void *what)
{
	return (uint64_t)((uintptr_t)what - (uintptr_t)pool);
}

/* The word with count bits set from the first on; count is 1 to 64 - first. */
static inline uint64_t
slab_bits(uint32_t first, uint32_t count)
{
	return (UINT64_MAX >> (SLAB_OBJECTS - count)) << first;
}

/* The chunk with the most objects, or nearly so. Acquire pairs with release in slab_pool_add(). */
static inline const struct slab_chunk *
slab_chunk_main(const struct slab_pool *pool)
{
	return (const void *)((uintptr_t)pool +
		(uintptr_t)slab_load_acquire(&pool->main_chunk));
}

/* The record with this number; any below pool->nr_chunks. */
struct slab_chunk *
slab_chunk_at(const struct slab_pool *pool, uint32_t record);

/* Where the objects of a chunk lie, with all at hand that it takes to find one by its address. */
struct slab_grid {
	uintptr_t base;
	uint64_t count, per_page;
	uint64_t in_page;   /* the bits of an offset that lie within a page; the others, */
	uint64_t by_page;   /* times this, divided by 2^63, are the objects of the pages before */
	uint64_t inverse;   /* see below */
	uint8_t twos;
};

static inline struct slab_grid
slab_chunk_grid(const struct slab_pool *pool, const struct slab_chunk *chunk)
{
	return (struct slab_grid){
		.base = (uintptr_t)pool + (uintptr_t)chunk->base,
		.count = slab_load_relaxed(&chunk->count),
		.per_page = chunk->per_page,
		.in_page = (UINT64_C(1) << chunk->page_shift) - 1,
		.by_page = (uint64_t)chunk->per_page << (63 - chunk->page_shift),
		.inverse = pool->inverse,
		.twos = pool->twos,
	};
}

/*
 * Which object of the chunk lies at this address; what is not below the count is none. Where a stride
 * is s * 2^t with s odd, a multiple of it by the inverse of s, modulo 2^64, is its index * 2^t, and
 * nothing else comes out below that many: so one multiplication and a rotation divide, and find
 * what is not exact (Granlund and Montgomery, "Division by Invariant Integers", 1994, section 9).
 * Where a caller knows that there are no pages, less is left of it.
 */
static inline __attribute__((always_inline)) uint64_t
slab_grid_index(struct slab_grid grid, const void *what, bool pages)
{
	uint64_t off = (uint64_t)((uintptr_t)what - grid.base);
	uint64_t in_page = pages ? off & grid.in_page : off;
	uint64_t product = in_page * grid.inverse;
	uint64_t i = product >> grid.twos | product << (-grid.twos & 63);

	if (!pages)
		return i;
	if (__builtin_expect(i >= grid.per_page, 0))
		return UINT64_MAX;
	return (uint64_t)((unsigned __int128)(off ^ in_page) * grid.by_page >> 63) + i;
}

static inline bool
slab_grid_has_pages(struct slab_grid grid)
{
	return grid.per_page != UINT32_MAX;
}

/* The number of the object at this address, or SLAB_NO_NUMBER. Thread-safe. */
uint32_t
slab_chunk_number(const struct slab_pool *pool, const void *obj);

/* Whether an address lies within the stride of an object. Thread-safe. */
bool
slab_chunk_surrounds(const struct slab_pool *pool, const void *what);

/* Write the addresses of the objects of a slab whose bits are set; return how many. */
unsigned int
slab_chunk_expand(const struct slab_pool *pool, uint32_t slab, uint64_t bits, void **objs);

/* Objects of a slab that lie in a row from its first one on, and beyond it. */
uint32_t
slab_chunk_row(const struct slab_pool *pool, uint32_t slab);

/* Whether the range goes on where the chunk ends, in the same rhythm. */
bool
slab_chunk_continues(const struct slab_pool *pool, const struct slab_chunk *chunk,
	const struct slab_chunk *range);

/* The last chunk that begins at this address or below; NULL if none does. Thread-safe. */
const struct slab_chunk *
slab_chunk_below(const struct slab_pool *pool, const void *what);

/* Where the object after the chunk's last would lie, as bytes from the start of the pool. */
uint64_t
slab_chunk_end(const struct slab_pool *pool, const struct slab_chunk *chunk);

/* Let a complete record be found by address. One thread at a time; look-ups may run. */
void
slab_chunk_insert(struct slab_pool *pool, uint32_t record);

#endif /* SLAB_CHUNK_H */
