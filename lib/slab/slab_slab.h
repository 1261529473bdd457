/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_SLAB_H
#define SLAB_SLAB_H

#include "slab_list.h"

/* Make objects of a slab free; return the bits of those that were free already. Thread-safe. */
uint64_t
slab_slab_put(struct slab_pool *pool, uint32_t slab, uint64_t bits);

/*
 * Take all objects out of one partial slab of a node: up to SLAB_OBJECTS addresses. Returns how
 * many, 0 if there was no slab. Thread-safe.
 */
unsigned int
slab_slabs_get(struct slab_pool *pool, uint32_t node, void **objs);

/*
 * The same, out of an lcore's own partial slabs. Its holder only (I2).
 */
unsigned int
slab_slabs_get_own(struct slab_pool *pool, struct slab_cache *own, void **objs);

/*
 * Give an lcore that has none partial slabs of its own, up to max, at least 1, by one step on the
 * list of the node. Its holder only (I2).
 */
void
slab_slabs_take(struct slab_pool *pool, uint32_t node, struct slab_cache *own, uint32_t max);

/*
 * Take a block: a slab of which all SLAB_OBJECTS objects are free and lie in one row. Returns the
 * first of them, or NULL if there is none. Thread-safe.
 */
void *
slab_slabs_get_block(struct slab_pool *pool, uint32_t node);

/* Put objects into their slabs; what is none is reported and dropped. Thread-safe. */
void
slab_slabs_put(struct slab_pool *pool, void *const *objs, unsigned int n);

/* What is wrong with an address that is no object of the pool. Thread-safe. */
enum slab_fault
slab_fault_of_stranger(const struct slab_pool *pool, const void *what);

/* Count a fault and report it. Thread-safe. */
void
slab_fault_report(struct slab_pool *pool, const void *obj, enum slab_fault fault);

#endif /* SLAB_SLAB_H */
