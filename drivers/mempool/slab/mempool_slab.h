/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MEMPOOL_SLAB_H
#define MEMPOOL_SLAB_H

/**
 * @file
 * What the mempool driver "slab" offers beyond rte_mempool. An application that calls it is linked
 * with librte_mempool_slab.so, which brings the driver along; -d is not needed then.
 *
 * Example, packet buffers on all NUMA nodes that have lcores:
 *
 *     struct rte_mempool *mp = mempool_slab_pktmbuf_pool_create("packets", 65535, 0, 0,
 *             RTE_MBUF_DEFAULT_BUF_SIZE, "all");
 *     if (mp == NULL)
 *             rte_exit(EXIT_FAILURE, "no packet buffers: %s\n", rte_strerror(rte_errno));
 */

#include <stdint.h>
#include <stdio.h>

#include <rte_mempool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMPOOL_SLAB_API __attribute__((visibility("default")))

/**
 * Give an empty pool of this driver its memory, on several nodes: as rte_mempool_populate_default()
 * does on one. Applications that do not call this get the same by the option nodes=.
 *
 * Lcores then get objects of their own node first. Not thread-safe, as everything that populates.
 *
 * @param mp
 *   From rte_mempool_create_empty() and rte_mempool_set_ops_byname(mp, "slab", ...), or from
 *   mempool_slab_pktmbuf_pool_create()'s likes; not populated yet.
 * @param nodes
 *   "all": the nodes that have lcores, with shares by their number. Or sockets with a plus in
 *   between, each with its share behind a star if it is to have one: "0+1", "0*3+1*1". Without
 *   shares, by lcores; a node without any has a share as with one.
 * @return
 *   The objects placed, all that the pool is for. Negative, after a line in the log when it is
 *   the nodes that are wrong:
 *   - -EINVAL: not a pool of this driver, or nodes cannot be read or names a socket that EAL does
 *     not know.
 *   - -EEXIST: populated already.
 *   - -ENOMEM: one of the nodes has not enough memory.
 *   - -ENOBUFS: there was memory for objects, but not for the record of a chunk of them.
 */
MEMPOOL_SLAB_API int
mempool_slab_populate_nodes(struct rte_mempool *mp, const char *nodes);

/**
 * A pool of packet buffers over several nodes, in one call. As rte_pktmbuf_pool_create_by_ops()
 * with this driver, but for the nodes.
 *
 * @param cache_size
 *   Objects in each rte_mempool cache; 0 leaves it to this driver, and then all free buffers can
 *   be had from everywhere.
 * @param nodes
 *   As in mempool_slab_populate_nodes().
 * @return
 *   The pool; or NULL with rte_errno set, as rte_pktmbuf_pool_create() and
 *   mempool_slab_populate_nodes() set it.
 */
MEMPOOL_SLAB_API struct rte_mempool *
mempool_slab_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size,
	uint16_t priv_size, uint16_t data_room_size, const char *nodes);

/**
 * Read or set a tunable of a pool while it is in use, from any thread, in any of the processes that
 * have it; lcores go on, and no object is lost. See /mempool_slab/set in telemetry for the same.
 *
 * @param mp
 *   A pool of this driver, populated or being populated.
 * @param name
 *   - "depot": magazines that may be full in each node's depot; 0 to as many as the pool was made
 *     with. What is over a lower limit goes to its slabs at once.
 *   - "lcore_partial": partial slabs that an lcore takes from its node at once; 0 to 64.
 *   - "min_partial": slabs' worth of free objects that a node keeps from the lcores of others,
 *     while those find any elsewhere; 0 to UINT32_MAX - 1.
 * @return
 *   - 0: read or set.
 *   - -EINVAL: there is no such tunable, or mp is no pool of this driver or has no memory yet.
 *   - -ERANGE: the value is too large, after a line in the log that says what is allowed; nothing
 *     was changed.
 */
MEMPOOL_SLAB_API int
mempool_slab_tunable_get(const struct rte_mempool *mp, const char *name, uint32_t *value);
MEMPOOL_SLAB_API int
mempool_slab_tunable_set(struct rte_mempool *mp, const char *name, uint32_t value);

/** Where the objects of a pool are; each is counted once, so their sum is objects. */
struct mempool_slab_audit {
	uint32_t objects;
	uint32_t in_slabs;
	uint32_t in_depots;
	uint32_t in_lcore_caches;
	uint32_t in_cpu_caches;     /**< For threads that are no lcores. */
	uint32_t in_mempool_caches; /**< Of rte_mempool itself, if it has any (cache_size). */
	uint32_t out;               /**< In use. */
	uint32_t lost;              /**< Free and nowhere, as after a process was killed; told from those
				     *   in use with check=on only. */
	uint32_t twice;             /**< Found free a second time; they count once. */
};

/**
 * Look where each object of a pool is: which leaked, and to whom. Exact while nobody gets or puts; else
 * near. Thread-safe, and nobody waits for it. Takes some nanoseconds for each object. See
 * /mempool_slab/audit in telemetry for the same.
 *
 * @param f
 *   Receives a line for each place that has objects, and for each of the first 16 in use: with
 *   track=on which lcore got it when and from where, with rte_mempool caches maybe some that rest
 *   there. Or NULL.
 * @return
 *   0; -EINVAL if mp is no pool of this driver or has no memory yet; -ENOMEM.
 */
MEMPOOL_SLAB_API int
mempool_slab_audit(const struct rte_mempool *mp, struct mempool_slab_audit *audit, FILE *f);

/**
 * After a process was killed while it used a pool: get back what is in caches that it left shut to
 * others. They can go on meanwhile, and never wait, whether this is called or not. What it had in its
 * hands stays lost: guides/processes says how much that can be. Thread-safe. See
 * /mempool_slab/reclaim in telemetry for the same.
 *
 * All processes that use the pool have to be in one PID namespace.
 *
 * @param process
 *   The number of one that has ended, or 0 for all that have. One that runs is left alone.
 * @return
 *   Objects that were got back; or -EINVAL if mp is no pool of this driver or has no memory yet.
 */
MEMPOOL_SLAB_API int
mempool_slab_reclaim(struct rte_mempool *mp, uint32_t process);

#ifdef __cplusplus
}
#endif

#endif /* MEMPOOL_SLAB_H */
