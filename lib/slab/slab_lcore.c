/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_lcore.h"
#include "slab_process.h"
#include "slab_slab.h"

void
slab_lcore_give_cache(const struct slab_pool *pool, struct slab_lcore *lc, slab_atomic32 *open,
	uint32_t number)
{
	uint32_t before = slab_load_relaxed(open);
	uint32_t i = number + (slab_lcore_is_none(pool, lc) && pool->lcore_caches ? pool->lcores : 0);

	slab_store_release(&lc->cache, pool->caches_id + i * pool->cache_units);
	while (before <= number && !slab_cas_release(open, &before, number + 1))
		;
}

void
slab_lcore_open_owner(struct slab_pool *pool, struct slab_lcore *lc)
{
	slab_lcore_give_cache(pool, lc, &pool->lcores_open,
		(uint32_t)(lc - slab_lcores(pool)));
	slab_store_release(&lc->shut, SLAB_SHUT_NOT);
}

struct slab_lcore *
slab_lcore_open_at(const struct slab_pool *pool, uint32_t i)
{
	uint32_t lcores = slab_load_relaxed(&pool->lcores_open);

	return i < lcores ? slab_lcore_at(pool, i) : slab_cpu_at(pool, i - lcores);
}

/*
 * The lcore is in the middle of something that takes nanoseconds, unless it has been stopped there.
 * So look again for a while, but do not wait for it.
 */
bool
slab_lcore_is_left(const struct slab_lcore *lc, uint32_t by)
{
	uint32_t busy;
	int looks;

	for (looks = SLAB_BUSY_LOOKS; looks > 0; looks--) {
		busy = slab_load_acquire(&lc->busy);
		if (busy == 0 || busy == by)
			return true;
		slab_pause();
	}
	return false;
}

/* After the claim: whoever used the cache is out of it, or will not get any further with it. */
static bool
is_left(const struct slab_pool *pool, struct slab_lcore *lc, uint64_t was)
{
	if (was == SLAB_SHUT_ALL)
		return true;
	if (was == slab_process.key) {
		slab_process_restart((uint32_t)(lc - slab_cpu_at(pool, 0)));
		return true;
	}
	/* A process that has no fence may use what needs none, if others made the pool. */
	return slab_process_fence() && slab_lcore_is_left(lc, 0);
}

bool
slab_lcore_claim(const struct slab_pool *pool, struct slab_lcore *lc, uint64_t *was)
{
	*was = slab_load_relaxed(&lc->shut);
	if (slab_shut_is_taken(*was) || *was == SLAB_SHUT_NEW ||
			!slab_claim_acquire(&lc->shut, was, slab_process_claim()))
		return false;
	if (is_left(pool, lc, *was))
		return true;
	slab_store_release(&lc->shut, *was);
	return false;
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

/*
 * What is wanted, or half of what there is if that is more: so others that starve leave each other
 * something.
 */
unsigned int
slab_lcore_take_claimed(struct slab_pool *pool, struct slab_lcore *lc, void **objs,
	unsigned int wanted)
{
	unsigned int half = (slab_load_relaxed(&lc->len) + 1) / 2, max = half > wanted ? half : wanted, n;

	max = max < SLAB_OBJECTS ? max : SLAB_OBJECTS;
	n = slab_lcore_pop_some_owner(pool, lc, objs, max);
	if (n == 0)
		n = slab_lcore_pop_aliens_owner(pool, lc, objs, SLAB_OBJECTS);
	return n != 0 ? n : slab_slabs_get_own(pool, slab_lcore_cache(pool, lc), objs);
}

/* A glance without a claim: what it misses is on its way somewhere anyhow. */
static bool
seems_empty(const struct slab_pool *pool, const struct slab_lcore *lc)
{
	return slab_load_relaxed(&lc->len) == 0 && slab_load_relaxed(&lc->aliens) == 0 &&
		(!slab_lcore_has_cache(lc) ||
		slab_load_relaxed(&slab_lcore_cache(pool, lc)->slabs) == 0);
}

unsigned int
slab_lcore_take(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int wanted)
{
	unsigned int n;
	uint64_t was;

	if (seems_empty(pool, lc) || !slab_lcore_claim(pool, lc, &was))
		return 0;
	n = slab_lcore_take_claimed(pool, lc, objs, wanted);
	slab_store_release(&lc->shut, was);
	return n;
}
