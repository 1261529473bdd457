/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Has pools for telemetry.py to ask about, and gets and puts all the time. It reads lines: "check"
 * says of each pool whether it is whole, and lets it rest, "work" lets it go on; the end of its
 * input ends it.
 */

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#define N 1000
#define BURST 32

static const struct {
	const char *name, *ops, *options;
} wanted[] = {
	{ "packets", "slab", "stats=on,magazine=16,depot=40" },
	{ "a \"quoted\", back\\slash", "slab", "stats=on" },
	{ "gr\xc3\xb6\xc3\x9f" "e", "slab", "check=on,track=on" },
	{ "theirs", "ring_mp_mc", NULL },
};
static struct rte_mempool *pools[RTE_DIM(wanted)];

static void
die(const char *what, const char *name)
{
	fprintf(stderr, "%s %s: %s\n", what, name, rte_strerror(rte_errno));
	exit(1);
}

static struct rte_mempool *
make(unsigned int i)
{
	struct rte_mempool *mp = rte_mempool_create_empty(wanted[i].name, N, 200, 0, 0,
		SOCKET_ID_ANY, 0);

	if (mp == NULL || rte_mempool_set_ops_byname(mp, wanted[i].ops,
			(void *)(uintptr_t)wanted[i].options) != 0 ||
			rte_mempool_populate_default(mp) != N)
		die("no pool", wanted[i].name);
	return mp;
}

static void
use(struct rte_mempool *mp)
{
	void *objs[BURST];

	if (rte_mempool_get_bulk(mp, objs, BURST) != 0)
		die("no objects in", mp->name);
	rte_mempool_put_bulk(mp, objs, BURST);
}

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* N objects, each once, and no more. */
static bool
whole(struct rte_mempool *mp)
{
	void *objs[N + 1];
	unsigned int n = 0, i;
	bool good;

	while (n <= N && rte_mempool_get(mp, &objs[n]) == 0)
		n++;
	good = n == N;
	qsort(objs, n, sizeof(*objs), by_address);
	for (i = 0; i < n; i++)
		good &= rte_mempool_from_obj(objs[i]) == mp && (i == 0 || objs[i] != objs[i - 1]);
	for (i = 0; i < n; i++)
		rte_mempool_put(mp, objs[i]);
	return good && rte_mempool_avail_count(mp) == N;
}

static void
check(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(pools); i++)
		printf("%s%s", whole(pools[i]) ? "whole" : "broken",
			i + 1 == RTE_DIM(pools) ? "\n" : " ");
}

static void
serve(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	bool rest = false;
	unsigned int i;
	char line[64];

	do {
		while (poll(&in, 1, rest ? -1 : 1) == 0)
			for (i = 0; i < 10 * RTE_DIM(pools); i++)
				use(pools[i % RTE_DIM(pools)]);
		if (fgets(line, sizeof(line), stdin) == NULL)
			return;
		rest = strcmp(line, "check\n") == 0;
		if (rest)
			check();
		else
			printf("%s", line);
	} while (fflush(stdout) == 0);
}

int
main(int argc, char **argv)
{
	unsigned int i;

	if (rte_eal_init(argc, argv) < 0)
		die("no", "EAL");
	for (i = 0; i < RTE_DIM(pools); i++)
		pools[i] = make(i);
	printf("%s\n", rte_eal_get_runtime_dir());
	fflush(stdout);
	serve();
	for (i = 0; i < RTE_DIM(pools); i++)
		rte_mempool_free(pools[i]);
	rte_eal_cleanup();
	return 0;
}
