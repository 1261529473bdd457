/* SPDX-License-Identifier: BSD-3-Clause */

#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "l2fwd.h"

#define HUGEPAGES "/sys/kernel/mm/hugepages"
#define MB (1 << 20)

static int
unknown_driver(const char *ops, const char *hint)
{
	char names[RTE_MEMPOOL_MAX_OPS_IDX * (RTE_MEMPOOL_OPS_NAMESIZE + 2)] = "none";
	size_t len = 0;

	for (unsigned int i = 0; i < rte_mempool_ops_table.num_ops; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i > 0 ? ", " : "",
			rte_mempool_ops_table.ops[i].name);
	return l2fwd_error("no mempool driver is called '%s'%s; there are: %s", ops, hint, names);
}

/* Before the first run, also where that is another driver's. */
static int
lay_over_nodes(void)
{
	int ret = apps_slab_nodes(l2fwd_opt.nodes);

	return ret == 0 ? 0 : l2fwd_error("--nodes '%s': no pool of slab with it: %s; the line above "
		"says why", l2fwd_opt.nodes, rte_strerror(-ret));
}

int
l2fwd_pools_select(void)
{
	if (l2fwd_opt.nb_pools == 0) {
		if (!apps_has_pool_driver("slab"))
			return unknown_driver("slab",
				" (load it with -d librte_mempool_slab.so, or choose with "
				"--pool-ops)");
		l2fwd_opt.pools[l2fwd_opt.nb_pools++] = "slab";
	}
	for (unsigned int i = 0; i < l2fwd_opt.nb_pools; i++)
		if (!apps_has_pool_driver(l2fwd_opt.pools[i]))
			return unknown_driver(l2fwd_opt.pools[i], "");
	return lay_over_nodes();
}

/* Full queues on every port, a burst on every lcore, and every cache as full as it gets. */
static unsigned int
buffers_needed(void)
{
	return l2fwd_ports_count() * 2 * L2FWD_DESC +
		rte_lcore_count() * (l2fwd_opt.burst + l2fwd_opt.cache * 3 / 2);
}

unsigned int
l2fwd_pool_size(void)
{
	return l2fwd_opt.mbufs ? l2fwd_opt.mbufs : RTE_MAX(buffers_needed(), 8192U);
}

/* Not yet in DPDK's hands: it takes more of them when it needs to. */
static uint64_t
free_hugepage_bytes(void)
{
	uint64_t sum = 0, kib, pages;
	struct dirent *entry;
	DIR *dir = rte_eal_has_hugepages() ? opendir(HUGEPAGES) : NULL;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char path[512];
		FILE *f;

		if (sscanf(entry->d_name, "hugepages-%"SCNu64"kB", &kib) != 1)
			continue;
		snprintf(path, sizeof(path), HUGEPAGES "/%s/free_hugepages", entry->d_name);
		f = fopen(path, "r");
		if (f != NULL && fscanf(f, "%"SCNu64, &pages) == 1)
			sum += pages * kib * 1024;
		if (f != NULL)
			fclose(f);
	}
	if (dir != NULL)
		closedir(dir);
	return sum;
}

static uint64_t
free_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			sum += stats.heap_freesz_bytes;
	return sum;
}

static void
explain_failure(const char *ops, unsigned int n, int error)
{
	uint32_t size = rte_mempool_calc_obj_size(sizeof(struct rte_mbuf) +
		RTE_MBUF_DEFAULT_BUF_SIZE, 0, NULL);

	l2fwd_error("no pool of %u buffers with %s: %s; %u buffers of %u bytes are %ju MB, and "
		"there are %ju MB free in DPDK's heaps and %ju MB in free hugepages: lower --mbufs "
		"or give more memory", n, ops, rte_strerror(error), n, size,
		(uintmax_t)n * size / MB, (uintmax_t)free_heap_bytes() / MB,
		(uintmax_t)free_hugepage_bytes() / MB);
}

static void
warn_if_small(unsigned int n)
{
	static bool warned;

	if (n < buffers_needed() && !warned)
		fprintf(stderr, "l2fwd-slab: warning: %u buffers; queues, bursts and caches can "
			"hold %u: ports that fill their queues may run dry\n", n, buffers_needed());
	warned = true;
}

struct rte_mempool *
l2fwd_pool_create(const char *ops)
{
	static unsigned int made;
	unsigned int n = l2fwd_pool_size();
	struct rte_mempool *mp;
	char name[RTE_MEMPOOL_NAMESIZE];

	warn_if_small(n);
	snprintf(name, sizeof(name), "l2fwd_%u", made++);
	mp = rte_pktmbuf_pool_create_by_ops(name, n, l2fwd_opt.cache, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, l2fwd_ports_socket(), ops);
	if (mp == NULL)
		explain_failure(ops, n, rte_errno);
	return mp;
}

unsigned int
l2fwd_pool_free(struct rte_mempool *mp)
{
	unsigned int missing = mp->size - rte_mempool_avail_count(mp);

	l2fwd_audit(mp, missing != 0);
	if (missing == 0)
		rte_mempool_free(mp);
	return missing;
}
