/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_LIST_H
#define SLAB_LIST_H

/*
 * Lock-free LIFO lists of slabs and of magazines, by id (Treiber, "Systems Programming: Coping
 * with Parallelism", 1986). The head is one word: the id of the first in its low bits, in the
 * others a tag that every pop changes.
 *
 * A pop reads next of the first before it owns it. Meanwhile others may pop that one, use it and
 * push it again with another next: the tag tells (ABA). Ids take 30 bits, so 34 are left for the
 * tag: a thread would have to sleep through a whole multiple of 2^34 pops to be fooled. A push
 * needs no tag of its own: it installs only what it read as the head.
 *
 * What the holder wrote before the push is seen after the pop: release in push pairs with
 * acquire in pop. Read-modify-writes in between carry the release on.
 */

#include "slab_types.h"

#define SLAB_LIST_ID_BITS 30
#define SLAB_LIST_ID_MASK ((UINT64_C(1) << SLAB_LIST_ID_BITS) - 1)
#define SLAB_LIST_TAG (UINT64_C(1) << SLAB_LIST_ID_BITS)

static inline void
slab_list_push(const struct slab_pool *pool, slab_atomic64 *head, uint32_t id)
{
	struct slab_link *link = slab_at(pool, id);
	uint64_t old = slab_load_relaxed(head);

	do {
		slab_store_relaxed(&link->next, (uint32_t)(old & SLAB_LIST_ID_MASK));
	} while (!slab_cas_release(head, &old, (old & ~SLAB_LIST_ID_MASK) | id));
}

/* Take the first off the list: its id, or 0 when the list is empty. */
static inline uint32_t
slab_list_pop(const struct slab_pool *pool, slab_atomic64 *head)
{
	uint64_t old = slab_load_acquire(head);
	const struct slab_link *link;
	uint64_t next;
	uint32_t id;

	do {
		id = (uint32_t)(old & SLAB_LIST_ID_MASK);
		if (id == 0)
			return 0;
		link = slab_at(pool, id);
		next = slab_load_relaxed(&link->next);
	} while (!slab_cas_acquire(head, &old, ((old & ~SLAB_LIST_ID_MASK) + SLAB_LIST_TAG) | next));
	return id;
}

/*
 * Take up to max off the list in one step, at least 1: the id of the first, which leads to the
 * others, and their number; or 0. What the walk reads of links that others change meanwhile is
 * thrown away with the step that fails: as for one, the head tells.
 */
static inline uint32_t
slab_list_pop_some(const struct slab_pool *pool, slab_atomic64 *head, uint32_t max, uint32_t *n)
{
	uint64_t old = slab_load_acquire(head);
	struct slab_link *last = NULL;
	uint32_t first, next;

	do {
		first = next = (uint32_t)(old & SLAB_LIST_ID_MASK);
		if (first == 0)
			return 0;
		for (*n = 0; *n < max && next != 0; (*n)++) {
			last = slab_at(pool, next);
			next = slab_load_relaxed(&last->next);
		}
	} while (!slab_cas_acquire(head, &old, ((old & ~SLAB_LIST_ID_MASK) + SLAB_LIST_TAG) | next));
	slab_store_relaxed(&last->next, 0);
	return first;
}

#endif /* SLAB_LIST_H */
