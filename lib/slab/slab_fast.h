/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_FAST_H
#define SLAB_FAST_H

/*
 * The first steps of get and put, for whoever compiles them into its own functions: an lcore with
 * its cache at hand, and enough in the loaded magazine. They call nothing but in their last step,
 * so that the compiler saves no register before it.
 */

#include "slab_depot.h"
#include "slab_lcore.h"

/* As slab_get() and slab_put(), after slab_lcore_enter_owner(), on any path. */
int
slab_get_rest(struct slab_pool *pool, struct slab_lcore *lc, void **objs, unsigned int n);
void
slab_put_rest(struct slab_pool *pool, struct slab_lcore *lc, void *const *objs, unsigned int n);

/* The owner alone writes its counts, so a plain add will do. */
static inline void
slab_count_owner(const struct slab_pool *pool, slab_atomic64 *counter, uint64_t n)
{
	if (__builtin_expect(pool->stats, 0))
		slab_store_relaxed(counter, slab_load_relaxed(counter) + n);
}

static inline void
slab_count_get_owner(const struct slab_pool *pool, struct slab_lcore *lc, unsigned int n)
{
	slab_store_relaxed(&lc->fail_run, 0);
	slab_count_owner(pool, &lc->counters.get_bulks, 1);
	slab_count_owner(pool, &lc->counters.get_objs, n);
}

static inline void
slab_count_put_owner(const struct slab_pool *pool, struct slab_lcore *lc, unsigned int n)
{
	slab_count_owner(pool, &lc->counters.put_bulks, 1);
	slab_count_owner(pool, &lc->counters.put_objs, n);
}

static inline int
slab_get_fast(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	struct slab_lcore *lc = slab_lcore_at(pool, lcore);
	struct slab_magazine *m = slab_at(pool, slab_load_relaxed(&lc->loaded));
	uint32_t len;

	if (slab_lcore_enter_owner(lc) == SLAB_SHUT_NOT && n < SLAB_COPY_WIDE) {
		len = slab_load_relaxed(&m->len);
		if (n <= len) {
			slab_decode_few(objs, m->codes + len - n, n, slab_code_base(pool),
				pool->shift);
			slab_store_relaxed(&m->len, len - n);
			slab_count_get_owner(pool, lc, n);
			slab_lcore_leave_owner(lc);
			return 0;
		}
	}
	return slab_get_rest(pool, lc, objs, n);
}

static inline void
slab_put_fast(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	struct slab_lcore *lc = slab_lcore_at(pool, lcore);
	struct slab_magazine *m = slab_at(pool, slab_load_relaxed(&lc->loaded));
	uint32_t len;

	if (slab_lcore_enter_owner(lc) == SLAB_SHUT_NOT && n < SLAB_COPY_WIDE) {
		len = slab_load_relaxed(&m->len);
		if (n <= pool->magazine - len &&
				(slab_encode_few(m->codes + len, objs, n, slab_code_base(pool),
				pool->shift) & pool->beyond) == 0) {
			slab_store_relaxed(&m->len, len + n);
			slab_count_put_owner(pool, lc, n);
			slab_lcore_leave_owner(lc);
			return;
		}
	}
	slab_put_rest(pool, lc, objs, n);
}

#endif /* SLAB_FAST_H */
