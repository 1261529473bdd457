/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_errno.h>
#include <rte_string_fns.h>

#include "bench.h"

#define MAX_POOLS 512

static struct bench_pool pools[MAX_POOLS];
static unsigned int nb_pools;

/* DPDK has another word for memory where a driver has none to keep account of further objects. */
int
bench_pool_refused(const struct bench_pool *p, int error)
{
	bool memory = error == ENOMEM || error == ENOBUFS;

	return bench_error("no pool of %u objects of %u bytes with %s, cache %u: %s%s", p->objects,
		p->size, p->driver->name, p->cache, rte_strerror(memory ? ENOMEM : error),
		memory ? "; reserve more hugepages, or filter for smaller pools" : "");
}

/* bucket places objects itself; over several nodes, slab asks for the memory of each. */
static bool
has_own_memory(const struct bench_pool *p)
{
	return bench_driver_is(p->driver, "bucket") ||
		(bench_driver_is(p->driver, "slab") && bench_opt.nodes != NULL);
}

static int
populate(struct bench_pool *p)
{
	int n;

	if (!has_own_memory(p))
		return bench_arena_populate(p->arena, p->mp);
	n = rte_mempool_populate_default(p->mp);
	if (n != (int)p->objects) {
		rte_errno = n < 0 ? -n : ENOSPC;
		return -1;
	}
	p->arena = bench_arena_of(p->mp);
	return p->arena != NULL ? 0 : -1;
}

/* Other drivers than slab have none. */
static char *
options_of(struct bench_pool *p)
{
	const char *options = p->driver->options != NULL ? p->driver->options : "";

	snprintf(p->options, sizeof(p->options), "%s%s%s", options,
		options[0] != '\0' && p->stats ? "," : "", p->stats ? "stats=on" : "");
	return p->options[0] != '\0' ? p->options : NULL;
}

static int
create_mempool(struct bench_pool *p)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "bench_%u", nb_pools);
	p->mp = rte_mempool_create_empty(name, p->objects, p->size, p->cache, 0, SOCKET_ID_ANY, 0);
	if (p->mp == NULL)
		return bench_pool_refused(p, rte_errno);
	if (rte_mempool_set_ops_byname(p->mp, p->driver->ops, options_of(p)) != 0)
		return bench_pool_refused(p, EINVAL);
	return populate(p) == 0 ? 0 : bench_pool_refused(p, rte_errno);
}

static int
create(struct bench_pool *p)
{
	if (!has_own_memory(p)) {
		p->arena = bench_arena_get(p->objects, p->size);
		if (p->arena == NULL)
			return -1;
	}
	if (!bench_driver_is_array(p->driver))
		return create_mempool(p);
	p->array = bench_array_create(p->objects);
	return p->array != NULL ? 0 : bench_pool_refused(p, ENOMEM);
}

static bool
is_for(const struct bench_pool *p, const struct bench_case *c, bool stats)
{
	return p->driver == c->driver && p->cache == c->cache && p->stats == stats &&
		p->objects == c->objects && p->size == c->size;
}

static struct bench_pool *
refused_before(const struct bench_pool *p)
{
	bench_error("%s", p->why);
	return NULL;
}

struct bench_pool *
bench_pool_get(const struct bench_case *c, bool stats)
{
	struct bench_pool *p;

	for (p = pools; p < pools + nb_pools; p++)
		if (is_for(p, c, stats))
			return p->why[0] == '\0' ? p : refused_before(p);
	if (nb_pools == MAX_POOLS)
		return NULL;
	*p = (struct bench_pool){ .driver = c->driver, .cache = c->cache,
		.objects = c->objects, .size = c->size, .stats = stats };
	if (create(p) < 0)
		rte_strscpy(p->why, bench_last_error(), sizeof(p->why));
	nb_pools++;
	return p->why[0] == '\0' ? p : NULL;
}
