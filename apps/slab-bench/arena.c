/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The memory of objects. Pools that have their objects alike, in size and number, lie over the
 * same memory: only one of them is at work at a time, none reads what the other wrote, and so
 * they do not differ by where their pages happen to be. It also saves gigabytes.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "access.h"

#define MAX_ARENAS 8

static struct bench_arena *arenas[MAX_ARENAS];
static unsigned int nb_arenas;

static void
add_object(struct rte_mempool *mp __rte_unused, void *opaque, void *obj, unsigned int i)
{
	struct bench_arena *a = opaque;

	a->in_order[i] = obj;
	a->sum += (uintptr_t)obj;
	a->base = RTE_MIN(a->base, (uintptr_t)obj);
	a->last = RTE_MAX(a->last, (uintptr_t)obj);
}

/* The same order each time and everywhere. */
void
bench_arena_shuffle(struct bench_arena *a, unsigned int n)
{
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

	memcpy(a->shuffled, a->in_order, n * sizeof(void *));
	for (unsigned int i = n; i > 1; i--) {
		unsigned int j = bench_random(&random, i);
		void *obj = a->shuffled[i - 1];

		a->shuffled[i - 1] = a->shuffled[j];
		a->shuffled[j] = obj;
	}
}

static int
list_objects(struct bench_arena *a, struct rte_mempool *mp)
{
	a->in_order = calloc(a->objects, sizeof(void *));
	a->shuffled = calloc(a->objects, sizeof(void *));
	if (a->in_order == NULL || a->shuffled == NULL)
		return bench_error("no memory for two lists of %u objects", a->objects);
	a->base = UINTPTR_MAX;
	rte_mempool_obj_iter(mp, add_object, a);
	a->stride = mp->header_size + mp->elt_size + mp->trailer_size;
	a->slots = (a->last - a->base) / a->stride + 1;
	bench_arena_shuffle(a, a->objects);
	return 0;
}

int
bench_arena_populate(const struct bench_arena *a, struct rte_mempool *mp)
{
	int n;

	if (a->page == 0)
		n = rte_mempool_populate_iova(mp, a->mz->addr, a->mz->iova, a->mz->len, NULL, NULL);
	else
		n = rte_mempool_populate_virt(mp, a->mz->addr, a->mz->len, a->page, NULL, NULL);
	if (n == (int)a->objects)
		return 0;
	rte_errno = n < 0 ? -n : ENOSPC;
	return -1;
}

static int
no_memory(const struct bench_arena *a, size_t bytes)
{
	return bench_error("no memory for %u objects of %u bytes (%s): it takes %zu MB in one "
		"piece; reserve more hugepages, or filter for smaller pools", a->objects, a->size,
		rte_strerror(rte_errno), (bytes >> 20) + 1);
}

/* As rte_mempool_populate_default() finds what a pool needs. */
static int
reserve(struct bench_arena *a, struct rte_mempool *mp)
{
	size_t align, min_chunk;
	char name[RTE_MEMZONE_NAMESIZE];
	ssize_t len;

	if (rte_mempool_get_page_size(mp, &a->page) != 0)
		return bench_error("DPDK tells no page size for a pool");
	len = rte_mempool_op_calc_mem_size_default(mp, a->objects,
		a->page == 0 ? 0 : (uint32_t)__builtin_ctzll(a->page), &min_chunk, &align);
	if (len < 0)
		return bench_error("DPDK tells no size for a pool of %u objects", a->objects);
	snprintf(name, sizeof(name), "bench_arena_%u", nb_arenas);
	/* One page more, as IOVA page boundaries may fall otherwise than expected. */
	a->mz = rte_memzone_reserve_aligned(name, (size_t)len + a->page, (int)mp->socket_id, 0,
		(unsigned int)align);
	return a->mz != NULL ? 0 : no_memory(a, (size_t)len);
}

/* A pool that only lays the objects out, and tells where they are. */
static int
lay_out(struct bench_arena *a)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *mp;

	snprintf(name, sizeof(name), "bench_layout_%u", nb_arenas);
	mp = rte_mempool_create_empty(name, a->objects, a->size, 0, 0, SOCKET_ID_ANY, 0);
	if (mp == NULL || rte_mempool_set_ops_byname(mp, "ring_mp_mc", NULL) != 0)
		return bench_error("no pool of ring_mp_mc (%s): it is needed to lay out objects",
			rte_strerror(rte_errno));
	if (reserve(a, mp) < 0)
		return -1;
	if (bench_arena_populate(a, mp) < 0)
		return no_memory(a, a->mz->len);
	return list_objects(a, mp);
}

static struct bench_arena *
failed_before(const struct bench_arena *a)
{
	bench_error("no memory for %u objects of %u bytes, as said above", a->objects, a->size);
	return NULL;
}

struct bench_arena *
bench_arena_get(unsigned int objects, unsigned int size)
{
	struct bench_arena *a;

	for (unsigned int i = 0; i < nb_arenas; i++)
		if (arenas[i]->objects == objects && arenas[i]->size == size)
			return arenas[i]->in_order != NULL ? arenas[i] : failed_before(arenas[i]);
	a = nb_arenas < MAX_ARENAS ? calloc(1, sizeof(*a)) : NULL;
	if (a == NULL) {
		bench_error("no more than %u kinds of pools in one run", MAX_ARENAS);
		return NULL;
	}
	arenas[nb_arenas] = a;
	a->objects = objects;
	a->size = size;
	if (lay_out(a) < 0)
		a = NULL;
	nb_arenas++;
	return a;
}

struct bench_arena *
bench_arena_of(struct rte_mempool *mp)
{
	struct bench_arena *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->objects = mp->size;
	a->size = mp->elt_size;
	return list_objects(a, mp) == 0 ? a : NULL;
}
