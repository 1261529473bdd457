/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "faults.h"
#include "mempool_slab.h"
#include "ways.h"

#define OBJECT 64
#define OBJECTS 700
#define PIECE 8192
#define PIECES 48

static char *memory;
static __typeof__(&mempool_slab_populate_nodes) populate_nodes;
static __typeof__(&mempool_slab_pktmbuf_pool_create) pktmbuf_pool_create;

void
ways_init(void)
{
	memory = aligned_alloc(PIECE, PIECES * PIECE);
	if (memory == NULL)
		abort();
	memset(memory, 0, PIECES * PIECE);
	populate_nodes = of_plugin("mempool_slab_populate_nodes");
	pktmbuf_pool_create = of_plugin("mempool_slab_pktmbuf_pool_create");
}

/* Fewer objects than wanted are no error of rte_mempool's: who populates has to look. */
static struct rte_mempool *
filled(struct rte_mempool *mp, int ret, int *code)
{
	*code = ret < 0 ? ret : -ENOBUFS;
	if (ret >= 0 && mp->populated_size == mp->size) {
		assert_int_equal(mp->socket_id, SOCKET_ID_ANY); /* as it was asked for */
		*code = 0;
		return mp;
	}
	rte_mempool_free(mp);
	return NULL;
}

static struct rte_mempool *
empty(const struct wish *wish, unsigned int flags, int *code)
{
	struct rte_mempool *mp = rte_mempool_create_empty(wish->name, wish->n, OBJECT, 0, 0,
		SOCKET_ID_ANY, flags);

	if (mp == NULL)
		*code = -rte_errno;
	else
		assert_int_equal(rte_mempool_set_ops_byname(mp, "slab",
			(void *)(uintptr_t)wish->options), 0);
	return mp;
}

static struct rte_mempool *
by_default(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = empty(wish, 0, code);

	return mp == NULL ? NULL : filled(mp, rte_mempool_populate_default(mp), code);
}

static struct rte_mempool *
by_anon(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = empty(wish, 0, code);
	int ret;

	if (mp == NULL)
		return NULL;
	ret = rte_mempool_populate_anon(mp);
	return filled(mp, ret == 0 ? -rte_errno : ret, code);
}

static struct rte_mempool *
by_iova(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = empty(wish, RTE_MEMPOOL_F_NO_IOVA_CONTIG, code);
	int ret = 0, i;

	if (mp == NULL)
		return NULL;
	/* In no order, and with a gap, so that none continues another. */
	for (i = 0; i < PIECES && ret >= 0 && mp->populated_size < mp->size; i++)
		ret = rte_mempool_populate_iova(mp, memory + PIECE * (i * 37 % PIECES),
			RTE_BAD_IOVA, PIECE - 64, NULL, NULL);
	return filled(mp, ret, code);
}

static struct rte_mempool *
by_virt(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = empty(wish, 0, code);

	if (mp == NULL)
		return NULL;
	return filled(mp, rte_mempool_populate_virt(mp, memory, PIECES * PIECE, 4096, NULL, NULL),
		code);
}

static struct rte_mempool *
by_nodes(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = empty(wish, 0, code);

	return mp == NULL ? NULL : filled(mp, populate_nodes(mp, "all"), code);
}

static void
choose_slab(struct rte_mempool *mp, void *options)
{
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", options), 0);
}

static struct rte_mempool *
in_one(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = rte_mempool_create(wish->name, wish->n, OBJECT, 0, 0, choose_slab,
		(void *)(uintptr_t)wish->options, NULL, NULL, SOCKET_ID_ANY, 0);

	*code = mp == NULL ? -rte_errno : 0;
	return mp;
}

/* More than a page of 2 MB, so that EAL has to get some. */
static struct rte_mempool *
of_packets(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops(wish->name, wish->n, 32, 0, 4096,
		SOCKET_ID_ANY, "slab");

	*code = mp == NULL ? -rte_errno : 0;
	return mp;
}

static struct rte_mempool *
of_packets_on_nodes(const struct wish *wish, int *code)
{
	struct rte_mempool *mp = pktmbuf_pool_create(wish->name, wish->n, 0, 0, 256, "all");

	*code = mp == NULL ? -rte_errno : 0;
	return mp;
}

const struct way ways[] = {
	{ "rte_mempool_populate_default", OBJECTS, .make = by_default },
	{ "rte_mempool_populate_default with options", OBJECTS,
		"check=on,track=on,stats=on,magazine=8", .make = by_default },
	{ "rte_mempool_populate_default in many chunks", OBJECTS, .limit = 4096,
		.make = by_default },
	{ "rte_mempool_populate_anon", OBJECTS, .make = by_anon },
	{ "rte_mempool_populate_iova", OBJECTS, "depot=0", .make = by_iova },
	{ "rte_mempool_populate_virt", OBJECTS, .make = by_virt },
	{ "mempool_slab_populate_nodes", OBJECTS, .make = by_nodes },
	{ "mempool_slab_populate_nodes in many chunks", OBJECTS, .limit = 4096, .make = by_nodes },
	{ "rte_mempool_create", OBJECTS, "nodes=0", .mute = true, .make = in_one },
	{ "rte_pktmbuf_pool_create_by_ops", OBJECTS, .make = of_packets },
	{ "mempool_slab_pktmbuf_pool_create", OBJECTS, .make = of_packets_on_nodes },
};
const unsigned int nr_ways = RTE_DIM(ways);

struct rte_mempool *
make(const struct way *way, const char *name, int *code)
{
	struct wish wish = { .name = name, .n = way->n, .options = way->options };

	rte_errno = 0;
	return way->make(&wish, code);
}
