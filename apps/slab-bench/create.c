/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How long a pool takes to be made and freed, all objects included: what an application waits for
 * when it starts. One iteration is one pool.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "bench.h"
#include "shim.h"

#define OBJECTS 262144
#define SIZE 256
#define MAX_POOLS 1024

struct creation {
	const struct bench_driver *driver;
	double made[MAX_POOLS], freed[MAX_POOLS];	/* cycles by object */
	unsigned int n;
};

/* NULL with rte_errno set. */
static struct rte_mempool *
make(const char *ops)
{
	struct rte_mempool *mp = rte_mempool_create_empty("bench_create", OBJECTS, SIZE, 0, 0,
		SOCKET_ID_ANY, 0);
	int ret;

	if (mp == NULL)
		return NULL;
	ret = rte_mempool_set_ops_byname(mp, ops, NULL);
	if (ret == 0)
		ret = rte_mempool_populate_default(mp);
	if (ret == OBJECTS)
		return mp;
	rte_mempool_free(mp);
	rte_errno = ret < 0 ? -ret : ENOSPC;
	return NULL;
}

static int
make_and_free(struct creation *c)
{
	uint64_t start = apps_clock(), made;
	struct rte_mempool *mp = make(c->driver->ops);

	if (mp == NULL)
		return bench_pool_refused(&(struct bench_pool){ .driver = c->driver,
			.objects = OBJECTS, .size = SIZE }, rte_errno);
	made = apps_clock();
	rte_mempool_free(mp);
	c->made[c->n] = (double)(made - start) / OBJECTS;
	c->freed[c->n++] = (double)(apps_clock() - made) / OBJECTS;
	return 0;
}

static void
run(struct bench_state *state, void *arg)
{
	struct creation *c = arg;

	c->n = 0;
	while (bench_state_keep_running(state, 1))
		if (c->n < MAX_POOLS && make_and_free(c) < 0) {
			bench_run_fail(state);
			return;
		}
	bench_state_counter(state, "cycles_per_obj", apps_median(c->made, c->n));
	bench_state_counter(state, "free_cycles", apps_median(c->freed, c->n));
}

void
bench_create_register(const struct bench_driver *driver)
{
	static const char *const keys[] = { "size", "objects" };
	static const int64_t values[] = { SIZE, OBJECTS };
	struct creation *c = calloc(1, sizeof(*c));	/* for as long as the program runs */
	char name[BENCH_NAME_SIZE];

	if (c == NULL)
		return;
	c->driver = driver;
	snprintf(name, sizeof(name), "create/%s", driver->name);
	bench_shim_args(bench_shim_register(name, keys, RTE_DIM(keys), run, c), values,
		RTE_DIM(values));
}
