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

/* The record with this number; any below pool->nr_chunks. */
struct slab_chunk *
slab_chunk_at(const struct slab_pool *pool, uint32_t record);

/* Objects that lie in a row, stride by stride: a chunk, or what one of its pages holds. */
struct slab_row {
	uintptr_t base;
	uint32_t first; /* number of its first object */
	uint32_t count;
};

/*
 * Which object of the row lies at this address; what is not below its count is none. Where a stride
 * is s * 2^t with s odd, a multiple of it by the inverse of s, modulo 2^64, is its index * 2^t, and
 * nothing else comes out below the count then: so one multiplication and a rotation divide, and find
 * what is not exact (Granlund and Montgomery, "Division by Invariant Integers", 1994, section 9).
 */
static inline uint64_t
slab_row_index(struct slab_row row, struct slab_stride stride, const void *what)
{
	uint64_t product = (uint64_t)((uintptr_t)what - row.base) * stride.inverse;

	return product >> stride.twos | product << (-stride.twos & 63);
}

/* The row of the object that was added first: in most pools it has them all. Thread-safe. */
static inline struct slab_row
slab_chunk_first_row(const struct slab_pool *pool)
{
	const struct slab_chunk *chunk =
		(const void *)((uintptr_t)pool + (uintptr_t)pool->rooms[0]);
	uint32_t count = slab_load_relaxed(&chunk->count);

	return (struct slab_row){
		.base = (uintptr_t)pool + (uintptr_t)chunk->base,
		.count = count < chunk->per_page ? count : chunk->per_page,
	};
}

/* The row around an address, of whichever chunk; count 0 if there is none. Thread-safe. */
struct slab_row
slab_chunk_row_at(const struct slab_pool *pool, const void *what);

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
