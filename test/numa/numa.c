/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pool over the NUMA nodes of this machine, asked of the kernel and not of the pool: move_pages(2)
 * tells on which node each page of the pool is.
 *
 *     numa [EAL options] -- [--runs N]
 *
 * Each node needs an lcore. Ends with the table of static against dynamic min_partial, and with a
 * status that is not 0 when something was not as it should be.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "mempool_slab.h"

#define PAGE ((uintptr_t)1 << 21)
#define MAX_PAGES 4096
#define BURST 32
#define OBJECTS 16384

/* Pages of the pool at hand, by address, as the kernel places them. */
static struct {
	uintptr_t at[MAX_PAGES];
	int node[MAX_PAGES];
	unsigned int n;
} pages;

static unsigned int failures;

static void
check(bool right, const char *what)
{
	printf("%s: %s\n", right ? "ok" : "FAILED", what);
	fflush(stdout);
	failures += !right;
}

static void
add_pages(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *hdr, unsigned int i)
{
	uintptr_t page = (uintptr_t)hdr->addr & ~(PAGE - 1);

	RTE_SET_USED(mp);
	RTE_SET_USED(arg);
	RTE_SET_USED(i);
	for (; page < (uintptr_t)hdr->addr + hdr->len; page += PAGE)
		if (pages.n == 0 || pages.at[pages.n - 1] != page)
			pages.at[pages.n++] = page;
}

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

static void
ask_kernel(struct rte_mempool *mp)
{
	pages.n = 0;
	rte_mempool_mem_iter(mp, add_pages, NULL);
	qsort(pages.at, pages.n, sizeof(pages.at[0]), by_address);
	if (syscall(SYS_move_pages, 0, (unsigned long)pages.n, pages.at, NULL, pages.node, 0) != 0)
		rte_exit(1, "move_pages: %m\n");
}

static int
node_of(const void *obj)
{
	uintptr_t page = (uintptr_t)obj & ~(PAGE - 1);
	const uintptr_t *found = bsearch(&page, pages.at, pages.n, sizeof(page), by_address);

	return found == NULL ? -1 : pages.node[found - pages.at];
}

/* Where this thread is, by the kernel. */
static int
node_here(void)
{
	unsigned int node;

	return getcpu(NULL, &node) == 0 ? (int)node : -1;
}

static struct rte_mempool *
make(const char *nodes, unsigned int objects, unsigned int cache, unsigned int room)
{
	struct rte_mempool *mp = mempool_slab_pktmbuf_pool_create("numa", objects, cache, 0,
		(uint16_t)(RTE_PKTMBUF_HEADROOM + room), nodes);

	if (mp == NULL)
		rte_exit(1, "no pool over nodes %s: %s\n", nodes, rte_strerror(rte_errno));
	ask_kernel(mp);
	return mp;
}

static void
count_object(struct rte_mempool *mp, void *arg, void *obj, unsigned int i)
{
	unsigned int *by_node = arg;
	int node = node_of(obj);

	RTE_SET_USED(mp);
	RTE_SET_USED(i);
	if (node >= 0 && node < RTE_MAX_NUMA_NODES)
		by_node[node]++;
}

static void
count_by_node(struct rte_mempool *mp, unsigned int by_node[RTE_MAX_NUMA_NODES])
{
	memset(by_node, 0, RTE_MAX_NUMA_NODES * sizeof(*by_node));
	rte_mempool_obj_iter(mp, count_object, by_node);
}

/* Shares by lcores, and as given. */
static void
check_shares(void)
{
	unsigned int by_node[RTE_MAX_NUMA_NODES], i, nodes = rte_socket_count();
	struct rte_mempool *mp = make("all", OBJECTS, 0, 2048);
	bool right = true;

	count_by_node(mp, by_node);
	for (i = 0; i < nodes; i++)
		right &= by_node[i] == OBJECTS / nodes;
	check(right, "nodes=all: each node has the share of its lcores, by the kernel's word");
	check(mp->socket_id == SOCKET_ID_ANY, "the pool is of the socket that was asked for");
	rte_mempool_free(mp);
	mp = make("1*3+0*1", OBJECTS, 0, 2048);
	count_by_node(mp, by_node);
	check(by_node[1] == OBJECTS / 4 * 3 && by_node[0] == OBJECTS / 4, "nodes=1*3+0*1");
	rte_mempool_free(mp);
	mp = make("1", OBJECTS, 0, 2048);
	count_by_node(mp, by_node);
	check(by_node[1] == OBJECTS, "nodes=1");
	rte_mempool_free(mp);
}

/* Memory that EAL knows nothing of has no node: a part of the pool would be missing. */
static void
check_anonymous(const char *nodes, int expected)
{
	struct rte_mempool *mp = rte_mempool_create_empty("anon", OBJECTS, 64, 0, 0, SOCKET_ID_ANY, 0);
	char what[64];

	snprintf(what, sizeof(what), "nodes=%s", nodes);
	if (mp == NULL || rte_mempool_set_ops_byname(mp, "slab", what) != 0)
		rte_exit(1, "no empty pool: %s\n", rte_strerror(rte_errno));
	check(rte_mempool_populate_anon(mp) == expected, expected == 0 ?
		"anonymous memory is refused for several nodes" : "but taken for one");
	check(mp->populated_size == (uint32_t)expected, "and all of it or nothing");
	rte_mempool_free(mp);
}

/* What lcores do in a phase, and what they saw. */
static struct {
	struct rte_mempool *mp;
	struct rte_ring *ring;
	unsigned int rounds;
	struct {
		uint64_t objects, alien;
		bool failed;
	} __rte_cache_aligned by_lcore[RTE_MAX_LCORE];
} phase;

static void
seen(void *const *objs, unsigned int n)
{
	int here = (int)rte_socket_id();
	unsigned int i, lcore = rte_lcore_id();

	phase.by_lcore[lcore].objects += n;
	for (i = 0; i < n; i++)
		phase.by_lcore[lcore].alien += node_of(objs[i]) != here;
}

static int
to_completion(void *arg)
{
	unsigned int i, n, lcore = rte_lcore_id();
	uint64_t seed = lcore + 1;
	void *objs[4 * BURST];

	RTE_SET_USED(arg);
	phase.by_lcore[lcore].failed = node_here() != (int)rte_socket_id();
	for (i = 0; i < phase.rounds; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		n = 1 + (unsigned int)(seed >> 33) % (4 * BURST);
		if (rte_mempool_get_bulk(phase.mp, objs, n) != 0) {
			phase.by_lcore[lcore].failed = true;
			return 0;
		}
		seen(objs, n);
		rte_mempool_put_bulk(phase.mp, objs, n);
	}
	return 0;
}

static void
run_phase(struct rte_mempool *mp, lcore_function_t *what, unsigned int rounds)
{
	memset(phase.by_lcore, 0, sizeof(phase.by_lcore));
	phase.mp = mp;
	phase.rounds = rounds;
	rte_eal_mp_remote_launch(what, NULL, CALL_MAIN);
	rte_eal_mp_wait_lcore();
}

static double
alien_share(void)
{
	uint64_t objects = 0, alien = 0;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore) {
		objects += phase.by_lcore[lcore].objects;
		alien += phase.by_lcore[lcore].alien;
		if (phase.by_lcore[lcore].failed)
			return 1;
	}
	return objects == 0 ? 1 : (double)alien / (double)objects;
}

static void
check_run_to_completion(unsigned int cache)
{
	struct rte_mempool *mp = make("all", OBJECTS, cache, 2048);
	char what[128];

	run_phase(mp, to_completion, 1000);
	run_phase(mp, to_completion, 20000);
	snprintf(what, sizeof(what), "run to completion, cache %u: %.4f %% of the objects came from "
		"another node, at most 1 %%", cache, 100 * alien_share());
	check(alien_share() <= 0.01, what);
	check(rte_mempool_avail_count(mp) == OBJECTS, "all objects are back");
	rte_mempool_free(mp);
}

/* The main lcore gets and sends, the last lcore, of another node, receives and puts. */
static int
across(void *arg)
{
	unsigned int i, lcore = rte_lcore_id(), last = *(unsigned int *)arg;
	void *objs[BURST];

	for (i = 0; i < phase.rounds && lcore == rte_get_main_lcore(); i++) {
		if (rte_mempool_get_bulk(phase.mp, objs, BURST) != 0) {
			phase.by_lcore[lcore].failed = true;
			return 0;
		}
		seen(objs, BURST);
		while (rte_ring_enqueue_bulk(phase.ring, objs, BURST, NULL) == 0)
			rte_pause();
	}
	for (i = 0; i < phase.rounds && lcore == last; i++) {
		while (rte_ring_dequeue_bulk(phase.ring, objs, BURST, NULL) == 0)
			rte_pause();
		rte_mempool_put_bulk(phase.mp, objs, BURST);
	}
	return 0;
}

static unsigned int
last_lcore(void)
{
	unsigned int lcore, last = 0;

	RTE_LCORE_FOREACH(lcore)
		last = lcore;
	return last;
}

/* What an lcore gets while objects of its own node are left, and when they are not. */
static unsigned int
drain(struct rte_mempool *mp, void **objs, unsigned int first[RTE_MAX_NUMA_NODES])
{
	unsigned int n = 0;
	int node;

	memset(first, 0xff, RTE_MAX_NUMA_NODES * sizeof(*first));
	for (; n < mp->size && rte_mempool_get(mp, &objs[n]) == 0; n++) {
		node = node_of(objs[n]);
		if (first[node] == UINT_MAX)
			first[node] = n;
	}
	return n;
}

static void
check_pipeline(void)
{
	struct rte_mempool *mp = make("all", OBJECTS, 0, 2048);
	unsigned int last = last_lcore(), first[RTE_MAX_NUMA_NODES], by_node[RTE_MAX_NUMA_NODES];
	static void *objs[OBJECTS];
	unsigned int i, own = 0, n;
	char what[160];

	phase.ring = rte_ring_create("across", 1024, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	memset(phase.by_lcore, 0, sizeof(phase.by_lcore));
	phase.mp = mp;
	phase.rounds = 20000;
	rte_eal_mp_remote_launch(across, &last, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	snprintf(what, sizeof(what), "pipeline from node %u to node %u: %.4f %% came from another "
		"node, at most 1 %%", rte_socket_id(), rte_lcore_to_socket_id(last),
		100 * alien_share());
	check(alien_share() <= 0.01, what);
	/* Of what this node has, all but a magazine's worth is here again. */
	count_by_node(mp, by_node);
	n = drain(mp, objs, first);
	for (i = 0; i < n && node_of(objs[i]) == (int)rte_socket_id(); i++)
		own++;
	snprintf(what, sizeof(what), "%u of the %u buffers of node %u are back there, at least all "
		"but 256", own, by_node[rte_socket_id()], rte_socket_id());
	check(own + 256 >= by_node[rte_socket_id()], what);
	check(n == OBJECTS, "one lcore got every buffer of the pool");
	rte_mempool_put_bulk(mp, objs, n);
	rte_ring_free(phase.ring);
	rte_mempool_free(mp);
}

/* How many objects of its own node an lcore still finds, after another one took what it could. */
static int
get_own(void *arg)
{
	unsigned int *own = arg, n = 0;
	static void *objs[OBJECTS];

	while (n < OBJECTS && rte_mempool_get(phase.mp, &objs[n]) == 0)
		if (node_of(objs[n++]) != (int)rte_socket_id())
			break;
		else
			*own = n;
	rte_mempool_put_bulk(phase.mp, objs, n);
	return 0;
}

/*
 * The main lcore takes until it meets the reserves: then the other nodes have min_partial slabs'
 * worth at least, which their own lcores get.
 */
static void
check_reserve(unsigned int min_partial)
{
	unsigned int nodes = rte_socket_count(), reserve = min_partial * 64, i, own = 0;
	unsigned int take = OBJECTS - (nodes - 1) * (reserve + 64) - 64, last = last_lcore();
	static void *objs[OBJECTS];
	struct rte_mempool *mp;
	char what[160];

	snprintf(what, sizeof(what), "min_partial=%u", min_partial);
	setenv("MEMPOOL_SLAB", what, 1);
	mp = make("all", OBJECTS, 0, 2048);
	unsetenv("MEMPOOL_SLAB");
	for (i = 0; i < take; i++)
		if (rte_mempool_get(mp, &objs[i]) != 0)
			break;
	phase.mp = mp;
	rte_eal_remote_launch(get_own, &own, last);
	rte_eal_wait_lcore(last);
	snprintf(what, sizeof(what), "min_partial %u: node %u kept %u buffers for its lcores, at "
		"least %u", min_partial, rte_lcore_to_socket_id(last), own, reserve);
	check(i == take && own >= reserve, what);
	rte_mempool_put_bulk(mp, objs, i);
	rte_mempool_free(mp);
}

/*
 * Objects near a page in size. Each lcore's hold goes up and down at random, so that now and then a
 * node runs dry and turns to the others.
 */
#define LARGE_OBJECTS 2048

static int
swing(void *arg)
{
	unsigned int lcore = rte_lcore_id(), share = LARGE_OBJECTS / rte_lcore_count();
	unsigned int held = 0, goal, i;
	static void *holds[RTE_MAX_LCORE][LARGE_OBJECTS];
	uint64_t seed = *(uint64_t *)arg * RTE_MAX_LCORE + lcore;
	void **hold = holds[lcore];

	for (i = 0; i < phase.rounds; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		goal = (unsigned int)(seed >> 33) % (share + share / 4);
		for (; held > goal; held--)
			rte_mempool_put(phase.mp, hold[held - 1]);
		for (; held < goal && rte_mempool_get(phase.mp, &hold[held]) == 0; held++)
			seen(&hold[held], 1);
	}
	rte_mempool_put_bulk(phase.mp, hold, held);
	return 0;
}

static double
takes_per_million(const char *min_partial, uint64_t seed)
{
	struct rte_mempool *mp;
	double share;

	if (min_partial != NULL)
		setenv("MEMPOOL_SLAB", min_partial, 1);
	mp = make("all", LARGE_OBJECTS, 0, 3500);
	unsetenv("MEMPOOL_SLAB");
	memset(phase.by_lcore, 0, sizeof(phase.by_lcore));
	phase.mp = mp;
	phase.rounds = 200;
	rte_eal_mp_remote_launch(swing, &seed, CALL_MAIN);
	rte_eal_mp_wait_lcore();
	share = alien_share();
	check(rte_mempool_avail_count(mp) == LARGE_OBJECTS, "all large objects are back");
	rte_mempool_free(mp);
	return 1e6 * share;
}

static void
print_row(const char *name, const double *x, unsigned int n)
{
	double min = x[0], max = x[0], sum = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		min = RTE_MIN(min, x[i]);
		max = RTE_MAX(max, x[i]);
		sum += x[i];
		squares += x[i] * x[i];
	}
	printf("%-10s %10.0f %10.0f %10.0f %10.0f\n", name, min, max, sum / n,
		sqrt(RTE_MAX(squares / n - sum / n * (sum / n), 0)));
}

static void
compare_min_partial(unsigned int runs)
{
	double *fixed = calloc(2 * runs, sizeof(*fixed)), *dynamic = fixed + runs;
	unsigned int i;

	for (i = 0; fixed != NULL && i < runs; i++) {
		fixed[i] = takes_per_million("min_partial=2", i);
		dynamic[i] = takes_per_million(NULL, i);
	}
	printf("\nobjects from another node per million, %u runs\n", runs);
	printf("%-10s %10s %10s %10s %10s\n", "", "min", "max", "mean", "deviation");
	print_row("static 2", fixed, runs);
	print_row("dynamic", dynamic, runs);
	free(fixed);
}

int
main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	unsigned int runs = 50;

	if (used < 0)
		return 1;
	if (argc - used == 3 && strcmp(argv[used + 1], "--runs") == 0)
		runs = (unsigned int)RTE_MAX(atoi(argv[used + 2]), 1);
	if (rte_socket_count() < 2) {
		printf("skipped: one NUMA node only\n");
		return 77;
	}
	printf("%u nodes, %u lcores\n", rte_socket_count(), rte_lcore_count());
	check_shares();
	check_anonymous("all", 0);
	check_anonymous("1", OBJECTS);
	check_run_to_completion(0);
	check_run_to_completion(256);
	check_pipeline();
	check_reserve(0);
	check_reserve(8);
	compare_min_partial(runs);
	rte_eal_cleanup();
	printf("%u failures\n", failures);
	return failures != 0;
}
