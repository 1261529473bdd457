/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_memory.h>
#include <rte_vect.h>

#include "mempool_slab_private.h"
#include "slab_fast.h"

/* From the calls of rte_mempool to those of the core; nothing is decided here. */

RTE_LOG_REGISTER(mempool_slab_logtype, mempool.slab, NOTICE)

static uint32_t
stride(const struct rte_mempool *mp)
{
	return mp->header_size + mp->elt_size + mp->trailer_size;
}

/* What divides the address of every object. */
static uint32_t
alignment(const struct rte_mempool *mp)
{
	uint32_t bits = stride(mp) | mp->header_size | RTE_MEMPOOL_ALIGN;

	return mp->flags & RTE_MEMPOOL_F_NO_CACHE_ALIGN ? sizeof(uint64_t) : bits & -bits;
}

static int
configure(const struct rte_mempool *mp, struct slab_conf *conf, struct mempool_slab_plan *plan)
{
	*plan = (struct mempool_slab_plan){ .nodes = 1, .asked = mp->socket_id, .now = -1 };
	*conf = (struct slab_conf){
		.name = mp->name,
		.objects = mp->size,
		.stride = stride(mp),
		.align = alignment(mp),
		.object_size = mp->elt_size,
		.lcores = RTE_MAX_LCORE,
		.active_lcores = rte_lcore_count(),
		.lcore_cache = mp->cache_size == 0,
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
		.depot = SLAB_AUTO,
		.min_partial = SLAB_AUTO,
		.user_size = sizeof(struct mempool_slab_user),
	};
	return mempool_slab_options(mp, conf, plan);
}

static struct slab_pool *
init(void *mem, struct slab_conf *conf, const struct mempool_slab_plan *plan)
{
	uint8_t nodes[RTE_MAX_LCORE];
	struct mempool_slab_user *user;
	struct slab_pool *pool;
	unsigned int i;

	/* Lcores of other processes, and threads that register later, come with a CPU of their own. */
	for (i = 0; i < RTE_MAX_LCORE; i++)
		nodes[i] = rte_lcore_is_enabled(i) ?
			mempool_slab_plan_node(plan, (int)rte_lcore_to_socket_id(i)) : SLAB_NODE_HERE;
	conf->lcore_node = nodes;
	conf->node_number = plan->socket;
	pool = slab_pool_init(mem, conf);
	user = slab_pool_user(pool);
	user->plan = *plan;
	mempool_slab_order(user->order);
	return pool;
}

static int
slab_alloc(struct rte_mempool *mp)
{
	struct mempool_slab_plan plan;
	struct slab_conf conf;
	size_t size;
	void *mem;

	if (configure(mp, &conf, &plan) != 0)
		return -EINVAL;
	conf.nodes = plan.nodes;
	if (conf.lcore_cache && !slab_lcore_cache_possible())
		SLAB_LOG(WARNING, "pool %s: this kernel lacks membarrier(2): lcores have no caches of "
			"the driver, only slower gets and puts; set a cache_size", mp->name);
	size = slab_pool_size(&conf);
	if (size == 0) {
		SLAB_LOG(ERR, "pool %s: %u objects with depots of %u magazines: too many; "
			"at most %u objects, and 16 GiB of magazines", mp->name, mp->size,
			conf.depot, SLAB_MAX_OBJECTS);
		return -EINVAL;
	}
	mem = rte_zmalloc_socket("mempool_slab", size, SLAB_POOL_ALIGN, mp->socket_id);
	if (mem == NULL) {
		SLAB_LOG(ERR, "pool %s: no %zu bytes on socket %d to keep account of %u objects; "
			"give EAL more memory (-m, --socket-mem)", mp->name, size, mp->socket_id,
			mp->size);
		return -ENOMEM;
	}
	/* Again, for a driver that is linked in: it was registered before EAL read its options. */
	slab_set_simd_bits(rte_vect_get_max_simd_bitwidth());
	mp->pool_data = init(mem, &conf, &plan);
	mempool_slab_take_place(mp);
	SLAB_LOG(DEBUG, "pool %s: created for %u objects, magazines of %u, depots of %u, %u nodes, "
		"thread_cache %s, %zu bytes", mp->name, mp->size, slab_pool_magazine(mem),
		slab_pool_depot(mem), plan.nodes,
		mempool_slab_thread_cache_name(slab_pool_thread_cache(mem)), size);
	return 0;
}

/*
 * rte_mempool_free() got all objects it could, one by one, before it came here: each of those gets
 * that failed is an object that is not back, unless it rests in some cache.
 */
static uint32_t
missing(const struct rte_mempool *mp, const struct slab_pool *pool)
{
	uint64_t fails = slab_pool_fail_run(pool, rte_lcore_id());
	uint32_t failed = (uint32_t)RTE_MIN(fails, (uint64_t)slab_pool_added(pool));
	uint32_t cached = rte_mempool_avail_count(mp);

	return failed > cached ? failed - cached : 0;
}

static void
slab_free(struct rte_mempool *mp)
{
	struct slab_pool *pool = mp->pool_data;
	uint32_t out;
	unsigned int i;

	if (pool == NULL)
		return;
	mempool_slab_plan_end(mp);
	out = missing(mp, pool);
	if (out != 0)
		SLAB_LOG(ERR, "pool %s: freed while %u of its %u objects are missing; "
			"whoever holds them now writes to memory that is not theirs", mp->name, out,
			slab_pool_added(pool));
	if (out != 0)
		mempool_slab_log_leaks(mp);
	pthread_mutex_lock(&mempool_slab_freeing);
	for (i = 0; slab_pool_room(pool, i) != NULL; i++)
		rte_free(slab_pool_room(pool, i));
	rte_free(pool);
	mp->pool_data = NULL;
	pthread_mutex_unlock(&mempool_slab_freeing);
}

static int
slab_enqueue(struct rte_mempool *mp, void *const *objs, unsigned int n)
{
	if (unlikely(!slab_pool_valid(mp->pool_data)))
		return mempool_slab_refuse(mp);
	return slab_put_fast(mp->pool_data, rte_lcore_id(), objs, n);
}

static int
slab_dequeue(struct rte_mempool *mp, void **objs, unsigned int n)
{
	if (unlikely(!slab_pool_valid(mp->pool_data)))
		return mempool_slab_refuse(mp);
	return slab_get_fast(mp->pool_data, rte_lcore_id(), objs, n);
}

static unsigned int
slab_get_count(const struct rte_mempool *mp)
{
	if (mp->pool_data == NULL) /* not populated yet */
		return 0;
	if (!slab_pool_valid(mp->pool_data)) {
		mempool_slab_refuse(mp);
		return 0;
	}
	return slab_pool_count(mp->pool_data);
}

static int
slab_get_info(const struct rte_mempool *mp, struct rte_mempool_info *info)
{
	bool blocks = mp->pool_data != NULL && slab_pool_valid(mp->pool_data) &&
		slab_pool_has_blocks(mp->pool_data);

	*info = (struct rte_mempool_info){ .contig_block_size = blocks ? SLAB_OBJECTS : 0 };
	return 0;
}

static int
slab_dequeue_contig_blocks(struct rte_mempool *mp, void **first, unsigned int n)
{
	int ret;

	if (unlikely(!slab_pool_valid(mp->pool_data)))
		return mempool_slab_refuse(mp);
	ret = slab_get_blocks(mp->pool_data, rte_lcore_id(), first, n);
	return ret == 0 || slab_pool_has_blocks(mp->pool_data) ? ret : -EOPNOTSUPP;
}

/* SOCKET_ID_ANY for memory that EAL knows nothing of. */
static int
socket_of(const void *addr)
{
	const struct rte_memseg_list *msl = rte_mem_virt2memseg_list(addr);

	return msl != NULL ? msl->socket_id : SOCKET_ID_ANY;
}

/* Room for the record of one more range. */
static bool
make_room(struct slab_pool *pool, int socket)
{
	size_t wanted = slab_pool_room_wanted(pool);
	void *room;

	if (wanted == 0)
		return true;
	room = rte_zmalloc_socket("mempool_slab_room", wanted, SLAB_POOL_ALIGN, socket);
	if (room == NULL) {
		SLAB_LOG(ERR, "pool %s: no %zu bytes to remember one more chunk; "
			"give EAL more memory (-m, --socket-mem)", slab_pool_name(pool), wanted);
		return false;
	}
	slab_pool_room_give(pool, room);
	return true;
}

/* Where a chunk begins, for the addresses that devices use. */
struct origin {
	const char *vaddr;
	rte_iova_t iova;
};

static void
announce(struct rte_mempool *mp, const struct slab_range *range, struct origin origin,
	rte_mempool_populate_obj_cb_t *obj_cb, void *arg)
{
	rte_iova_t iova = RTE_BAD_IOVA;
	uint32_t i;
	char *obj;

	for (i = 0; i < range->count; i++) {
		obj = slab_range_object(range, stride(mp), i);
		if (origin.iova != RTE_BAD_IOVA)
			iova = origin.iova + (rte_iova_t)(obj - origin.vaddr);
		obj_cb(mp, arg, obj, iova);
	}
}

/* rte_mempool keeps no account of objects after a populate that failed, so neither can we. */
static bool
in_step(const struct rte_mempool *mp)
{
	uint32_t added = slab_pool_added(mp->pool_data);

	if (added == mp->populated_size)
		return true;
	SLAB_LOG(ERR, "pool %s: populated again after it was emptied of %u objects; "
		"free it and create it anew", mp->name, added - mp->populated_size);
	return false;
}

static int
slab_populate(struct rte_mempool *mp, unsigned int max, void *vaddr, rte_iova_t iova, size_t len,
	rte_mempool_populate_obj_cb_t *obj_cb, void *arg)
{
	int socket = socket_of(vaddr), sum = 0;
	struct slab_range ranges[2];
	unsigned int n, i;
	size_t page;

	if (!in_step(mp) || rte_mempool_get_page_size(mp, &page) != 0)
		return 0;
	max = RTE_MIN(max, mempool_slab_plan_limit(mp, socket));
	n = slab_range_plan(ranges, vaddr, len, stride(mp), mp->header_size, page, max);
	for (i = 0; i < n && make_room(mp->pool_data, mp->socket_id); i++) {
		ranges[i].node = mempool_slab_plan_node(&mempool_slab_user(mp)->plan, socket);
		announce(mp, &ranges[i], (struct origin){ vaddr, iova }, obj_cb, arg);
		sum += (int)slab_pool_add(mp->pool_data, &ranges[i]);
	}
	if (slab_pool_added(mp->pool_data) == mp->size)
		mempool_slab_plan_end(mp);
	return sum;
}

static const struct rte_mempool_ops ops = {
	.name = "slab",
	.alloc = slab_alloc,
	.free = slab_free,
	.enqueue = slab_enqueue,
	.dequeue = slab_dequeue,
	.get_count = slab_get_count,
	.calc_mem_size = mempool_slab_calc_mem_size,
	.populate = slab_populate,
	.get_info = slab_get_info,
	.dequeue_contig_blocks = slab_dequeue_contig_blocks,
};

RTE_INIT(mempool_slab_load)
{
	/* For secondaries, which make no pool; EAL's limit is known when it loads plugins. */
	slab_set_simd_bits(rte_vect_get_max_simd_bitwidth());
	mempool_slab_register(&ops);
}
