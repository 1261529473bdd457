/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_CHECK_H
#define SLAB_CHECK_H

/*
 * Pools that look at each object on its way in and out: is it one, and is it what it has to be? They
 * keep a byte for each object that says whether it is free. It belongs to who holds the object, as
 * the object's own memory does: written before a put hands it on, and read after a get. So it
 * takes no locked instruction; two who put the same object at once may both find it in use, and
 * then its slab, or the get of the second, sees that there is one too many.
 *
 * The layers know nothing of it: what is wrong never gets to them.
 */

#include "slab_slab.h"

/* States of a pool that has them, by number. */
static inline slab_atomic8 *
slab_states(const struct slab_pool *pool)
{
	return slab_at(pool, pool->states_id);
}

static inline struct slab_track *
slab_track_at(const struct slab_pool *pool, uint32_t number)
{
	return (struct slab_track *)slab_at(pool, pool->tracks_id) + number;
}

/* Objects of these numbers are free from now on, before anybody hears of them. */
void
slab_check_add(struct slab_pool *pool, uint32_t first, uint32_t count);

/*
 * The same as slab_get_blocks() did, for its n blocks: returns how many are what they have to be,
 * from the first on. The next one, if there is any, is reported and gone: it has an object that is in
 * use, and its others are free again.
 */
unsigned int
slab_check_blocks(struct slab_pool *pool, uint32_t lcore, void *const *first, unsigned int n,
	const void *caller);

/* Blocks that were got are free again. */
void
slab_check_put_blocks(const struct slab_pool *pool, void *const *first, unsigned int n);

#endif /* SLAB_CHECK_H */
