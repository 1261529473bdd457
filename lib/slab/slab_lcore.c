/* SPDX-License-Identifier: BSD-3-Clause */

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "slab_lcore.h"
#include "slab_slab.h"

static bool membarrier_works;

static long
membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* Every process that uses a pool has to be among those that membarrier reaches. */
__attribute__((constructor)) static void
register_process(void)
{
	membarrier_works = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

bool
slab_lcore_cache_possible(void)
{
	return membarrier_works;
}

void
slab_lcore_open_owner(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint32_t number = (uint32_t)(lc - slab_lcore_at(pool, 0));
	uint32_t open = slab_load_relaxed(&pool->lcores_open);

	slab_store_relaxed(&lc->cache, pool->caches_id + number * pool->cache_units);
	slab_store_release(&lc->shut, SLAB_SHUT_NOT);
	while (open <= number && !slab_cas_release(&pool->lcores_open, &open, number + 1))
		;
}

/*
 * The lcore is in the middle of something that takes nanoseconds, unless it has been stopped there.
 * So look again for a while, but do not wait for it.
 */
static bool
is_idle(struct slab_lcore *lc)
{
	int looks;

	for (looks = SLAB_BUSY_LOOKS; looks > 0; looks--) {
		if (slab_load_acquire(&lc->busy) == 0)
			return true;
		slab_pause();
	}
	return false;
}

struct slab_lcore *
slab_lcore_here(const struct slab_pool *pool, struct slab_lcore *lc)
{
	unsigned int number;
	uint32_t i;

	if (lc < slab_no_lcore_at(pool, 0))
		return lc;
	/* One that moves at this moment is served all the same. */
	if (pool->nodes > 1 && getcpu(NULL, &number) == 0)
		for (i = 0; i < pool->nodes; i++)
			if (slab_node_at(pool, i)->number == number)
				return slab_no_lcore_at(pool, i);
	return slab_no_lcore_at(pool, 0);
}

unsigned int
slab_lcore_pop_some_owner(const struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int max)
{
	uint32_t len = slab_load_relaxed(&lc->len);
	unsigned int n = max < len ? max : len;

	if (n != 0)
		slab_lcore_pop_owner(pool, lc, objs, n);
	return n;
}

unsigned int
slab_lcore_pop_aliens_owner(const struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int max)
{
	uint32_t aliens = slab_load_relaxed(&lc->aliens);
	unsigned int n = max < aliens ? max : aliens;

	if (n == 0)
		return 0;
	slab_offsets_load(pool, slab_lcore_aliens(pool, lc) + aliens - n, objs, n);
	slab_store_relaxed(&lc->aliens, aliens - n);
	return n;
}

/* The holder only (I2). */
static unsigned int
take_some(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	unsigned int n = slab_lcore_pop_some_owner(pool, lc, objs, max);

	if (n == 0)
		n = slab_lcore_pop_aliens_owner(pool, lc, objs, max);
	return n != 0 ? n : slab_slabs_get_own(pool, slab_lcore_cache(pool, lc), objs);
}

/* A glance without a claim: what it misses is on its way somewhere anyhow. */
static bool
seems_empty(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return slab_load_relaxed(&lc->len) == 0 && slab_load_relaxed(&lc->aliens) == 0 &&
		(!slab_lcore_has_cache(lc) ||
		slab_load_relaxed(&slab_lcore_cache(pool, lc)->nr_slabs) == 0);
}

unsigned int
slab_lcore_take(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int max)
{
	uint32_t open = SLAB_SHUT_NOT;
	unsigned int n = 0;

	if (seems_empty(pool, lc) || !slab_claim_acquire(&lc->shut, &open, SLAB_SHUT_TAKEN))
		return 0;
	membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
	if (is_idle(lc))
		n = take_some(pool, lc, objs, max);
	slab_store_release(&lc->shut, SLAB_SHUT_NOT);
	return n;
}
