/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_CHUNK_H
#define SLAB_CHUNK_H

#include "slab_types.h"

/* The number of what is no object. */
#define SLAB_NO_NUMBER UINT32_MAX

/* The record with this number; any below pool->nr_chunks. */
struct slab_chunk *
slab_chunk_at(const struct slab_pool *pool, uint32_t record);

/* The number of the object at this address, or SLAB_NO_NUMBER. Thread-safe. */
uint32_t
slab_chunk_number(const struct slab_pool *pool, const void *obj);

/* Write the addresses of the objects of a slab whose bits are set; return how many. */
unsigned int
slab_chunk_expand(const struct slab_pool *pool, uint32_t slab, uint64_t bits, void **objs);

#endif /* SLAB_CHUNK_H */
