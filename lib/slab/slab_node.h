/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_NODE_H
#define SLAB_NODE_H

#include "slab_chunk.h"

/*
 * On which node an object lies. Memory of one node is mostly mapped in one stretch of addresses, so
 * each node has a window around all its chunks. Where windows overlap, which is told once and for
 * all by slab_pool.mixed, the chunk is looked up instead.
 *
 * Windows grow while others look: they cover a chunk before its first object can be got, and a
 * glance at a wider or at a narrower one finds the same for each object that was there before. An
 * object that is sent to a wrong node for a moment is there as any other.
 */

/* Let the window of the chunk's node cover it. One thread at a time; look-ups may run. */
void
slab_node_cover(struct slab_pool *pool, const struct slab_chunk *chunk);

/* The node of the memory at this address; home where no object of the pool lies. Thread-safe. */
uint32_t
slab_node_of(const struct slab_pool *pool, const void *obj, uint32_t home);

/* The node that has this number with the operating system; the first one if none has. */
uint32_t
slab_node_numbered(const struct slab_pool *pool, uint32_t number);

/* The node of the CPU on which the thread runs. */
uint32_t
slab_node_here(const struct slab_pool *pool);

#endif /* SLAB_NODE_H */
