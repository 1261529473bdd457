/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_cpu.h"
#include "slab_slab.h"

/*
 * After a process was killed in the middle of something. Nobody waits for it: whatever it held, others
 * pass by. Nothing is handed out twice either, since at each step an object is held in one place
 * at most. So what is left behind is out of reach, and of two kinds.
 *
 * Caches, whole as they are, that nobody may use: those of lcores that are marked as busy, those of
 * CPUs that it used by sequences, and those that it had claimed. These are got back here.
 *
 * What it had in its hands, which nothing tells of:
 *
 *     killed in              objects that are lost, at most
 *     get of n               n, and the rest of a magazine, or of a slab and of what was taken
 *                            from another's cache; with lcore_partial, so many slabs
 *     put of n               n, and the rest of a magazine or of a slab. When a full cache is in the
 *                            way also, of an lcore, what was in it, of a CPU, a magazine's worth
 *     get of n blocks        n blocks, and a magazine or a slab
 *     add                    those that are added
 *     tune                   a magazine, and a slab
 *     reclaim                two slabs
 *     count, stats, audit    none
 *
 * With them goes a magazine at times: its depot has one less to fill. If it was taken as a full one,
 * the depot goes on to count it, and comes to its limit one magazine earlier.
 */

/* Who keeps others out of a cache, as slab_process.self; 0: nobody does for long. */
static uint32_t
keeper(const struct slab_pool *pool, const struct slab_lcore *lc, uint64_t shut)
{
	if (shut == SLAB_SHUT_NEW)
		return 0;
	if (shut >= SLAB_SHUT_TAKEN)
		return (uint32_t)shut; /* by a claim, or by the key of his sequences */
	return slab_lcore_is_none(pool, lc) ? 0 : slab_load_relaxed(&lc->busy);
}

static bool
was_left(uint32_t keeper, uint32_t process)
{
	return keeper != 0 && (process == 0 || slab_process_number(keeper) == process) &&
		slab_process_is_gone(keeper);
}

/* The mark of somebody inside, if it was left by an lcore that has ended, or a thread of the keeper. */
static uint32_t
stale_mark(const struct slab_pool *pool, const struct slab_lcore *lc, uint32_t keeper)
{
	uint32_t mark = slab_load_relaxed(&lc->busy);
	bool stale = slab_lcore_is_none(pool, lc) ? slab_thread_is_of(mark, keeper) :
		was_left(mark, 0);

	return stale ? mark : 0;
}

/* What "shut" is to be when nobody uses the cache. */
static uint64_t
at_rest(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	if (!slab_lcore_has_cache(lc))
		return SLAB_SHUT_NEW;
	return slab_lcore_is_none(pool, lc) ? SLAB_SHUT_ALL : SLAB_SHUT_NOT;
}

static uint32_t
empty(struct slab_pool *pool, struct slab_lcore *lc)
{
	void *objs[SLAB_OBJECTS];
	uint32_t sum = 0;
	unsigned int n;

	while (slab_lcore_has_cache(lc) &&
			(n = slab_lcore_take_claimed(pool, lc, objs, SLAB_OBJECTS)) != 0) {
		slab_slabs_put(pool, objs, n);
		sum += n;
	}
	return sum;
}

/*
 * As slab_lcore_claim(), but for two things: the claim may follow on that of the keeper, and a stale
 * mark does not count. What he did before he was killed is seen: the end of a process orders all that
 * comes after it, as the kernel tells of it. Who lives has a mark of his own, and is waited for
 * as there; then the cache stays shut, for another time.
 */
static uint32_t
reclaim(struct slab_pool *pool, struct slab_lcore *lc, uint32_t process)
{
	uint64_t shut = slab_load_acquire(&lc->shut);
	uint32_t by = keeper(pool, lc, shut), mark, sum = 0;

	if (!was_left(by, process) ||
			!slab_claim_acquire(&lc->shut, &shut, slab_process_claim()))
		return 0;
	mark = stale_mark(pool, lc, by);
	if (slab_process_fence() && slab_lcore_is_left(lc, mark)) {
		sum = empty(pool, lc);
		if (mark != 0)
			slab_claim_acquire(&lc->busy, &mark, 0);
		shut = at_rest(pool, lc);
	}
	slab_store_release(&lc->shut, shut);
	return sum;
}

uint32_t
slab_pool_reclaim(struct slab_pool *pool, uint32_t process)
{
	uint32_t sum = 0, i;

	for (i = 0; i < pool->lcores; i++)
		sum += reclaim(pool, slab_lcores(pool) + i, process);
	for (i = 0; i < pool->cpus; i++)
		sum += reclaim(pool, slab_cpu_at(pool, i), process);
	return sum;
}
