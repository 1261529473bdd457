/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab_cpu.h"
#include "slab_fast.h"
#include "slab_node.h"
#include "slab_rseq.h"

/*
 * Under a debugger that steps through a sequence it never ends. After so many attempts the cache is
 * claimed instead.
 */
#define ATTEMPTS 8

/* What stands in "shut" when this process's threads may come in. */
static uint64_t
own_key(const struct slab_pool *pool)
{
	return pool->sequences && slab_process.key != SLAB_NO_KEY ? slab_process.key : SLAB_SHUT_ALL;
}

static uint32_t
cpu_here(void)
{
	uint32_t cpu, node;

	if (slab_process.key != SLAB_NO_KEY)
		return slab_rseq_cpu();
	return slab_process_where(&cpu, &node) ? cpu : UINT32_MAX;
}

/* The cache of the CPU where the thread is; NULL if that has none. */
static struct slab_lcore *
cache_here(const struct slab_pool *pool)
{
	uint32_t cpu = pool->cpus == 0 ? UINT32_MAX : cpu_here();

	return cpu < pool->cpus ? slab_cpu_at(pool, cpu) : NULL;
}

struct slab_lcore *
slab_cpu_here(const struct slab_pool *pool)
{
	struct slab_lcore *lc = cache_here(pool);

	if (lc != NULL && slab_lcore_has_cache(lc))
		return lc;
	return slab_no_lcore_at(pool, slab_node_here(pool));
}

enum slab_thread_cache
slab_pool_thread_cache(const struct slab_pool *pool)
{
	if (pool->cpus == 0)
		return SLAB_THREADS_OFF;
	return own_key(pool) == SLAB_SHUT_ALL ? SLAB_THREADS_LOCK : SLAB_THREADS_RSEQ;
}

/* The first thread that comes; the cache is of the node where it finds itself on that CPU. */
static bool
open(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint64_t new = SLAB_SHUT_NEW;
	uint32_t cpu, number;

	/* Sequences begin with the base at hand, which the first chunk brings. */
	if (slab_load_acquire(&pool->nr_chunks) == 0 ||
			!slab_claim_acquire(&lc->shut, &new, slab_process_claim()))
		return false;
	if (!slab_process_where(&cpu, &number) || lc != slab_cpu_at(pool, cpu)) {
		slab_store_release(&lc->shut, SLAB_SHUT_NEW);
		return false;
	}
	lc->node = slab_node_numbered(pool, number);
	slab_lcore_give_cache(pool, lc, &pool->cpus_open, cpu);
	return true;
}

/* Claim the cache, unless a thread of another process stands in the middle of it. */
static bool
enter(struct slab_pool *pool, struct slab_lcore *lc)
{
	uint64_t shut = slab_load_relaxed(&lc->shut);

	if (shut == SLAB_SHUT_NEW)
		return open(pool, lc);
	return (shut == slab_process.key || slab_load_relaxed(&lc->busy) == 0) &&
		slab_lcore_claim(pool, lc, &shut);
}

static void
leave(struct slab_pool *pool, struct slab_lcore *lc)
{
	slab_store_release(&lc->shut, own_key(pool));
}

/*
 * The sequence did not get to its end. What it wrote to the row is behind it when the mark goes:
 * release pairs with acquire of who sees that nobody is inside.
 */
static __attribute__((cold, noinline)) void
clear_mark(struct slab_lcore *lc)
{
	uint32_t self = slab_thread(), mark = self;

	while (mark == self && !slab_cas_release(&lc->busy, &mark, 0))
		;
}

/* The cache of this CPU, if this process's sequences may use it. */
static struct slab_lcore *
open_here(const struct slab_pool *pool, uint32_t *cpu)
{
	struct slab_lcore *lc;

	*cpu = slab_rseq_cpu();
	lc = slab_cpu_at(pool, *cpu);
	return *cpu < pool->cpus && slab_load_acquire(&lc->shut) == slab_process.key ? lc : NULL;
}

static bool
has_room(const struct slab_pool *pool, const struct slab_lcore *lc, unsigned int n)
{
	return (uint64_t)slab_load_relaxed(&lc->len) + n <= pool->cache;
}

/* One sequence: how many objects it moved, or why none. */
#define BROKEN_OFF (-1)
#define NOT_OPEN (-2)

static inline __attribute__((always_inline)) int64_t
pop_by_sequence(const struct slab_pool *pool, void **objs, unsigned int max)
{
	uint32_t cpu;
	struct slab_lcore *lc = open_here(pool, &cpu);
	int64_t n;

	if (lc == NULL)
		return NOT_OPEN;
	n = slab_rseq_pop(pool, lc, cpu, slab_lcore_offsets(pool, lc), objs, max);
	if (__builtin_expect(n < 0, 0))
		clear_mark(lc);
	return n;
}

static inline __attribute__((always_inline)) int64_t
push_by_sequence(const struct slab_pool *pool, void *const *objs, unsigned int n)
{
	uint32_t cpu;
	struct slab_lcore *lc = open_here(pool, &cpu);
	int64_t k;

	if (lc == NULL)
		return NOT_OPEN;
	if (!has_room(pool, lc, n))
		return 0;
	k = slab_rseq_push(pool, lc, cpu, slab_lcore_offsets(pool, lc), objs, n);
	if (__builtin_expect(k < 0, 0))
		clear_mark(lc);
	return k;
}

unsigned int
slab_cpu_pop(struct slab_pool *pool, void **objs, unsigned int max)
{
	int64_t n = BROKEN_OFF;
	struct slab_lcore *lc;
	int i;

	for (i = 0; i < ATTEMPTS && n == BROKEN_OFF; i++)
		n = pop_by_sequence(pool, objs, max);
	if (n >= 0)
		return (unsigned int)n;
	lc = cache_here(pool);
	if (lc == NULL || !enter(pool, lc))
		return 0;
	n = slab_lcore_pop_some_owner(pool, lc, objs, max);
	leave(pool, lc);
	return (unsigned int)n;
}

bool
slab_cpu_push(struct slab_pool *pool, void *const *objs, unsigned int n)
{
	int64_t k = BROKEN_OFF;
	struct slab_lcore *lc;
	bool done;
	int i;

	for (i = 0; i < ATTEMPTS && k == BROKEN_OFF; i++)
		k = push_by_sequence(pool, objs, n);
	if (k >= 0)
		return k != 0;
	lc = cache_here(pool);
	if (lc == NULL || !enter(pool, lc))
		return false;
	done = has_room(pool, lc, n) && slab_lcore_push_owner(pool, lc, objs, n);
	leave(pool, lc);
	return done;
}

/* Something has to be counted, or a run of gets that failed ends. */
static bool
has_to_count(const struct slab_pool *pool)
{
	return pool->stats || slab_load_relaxed(&slab_no_lcore_at(pool, 0)->fail_run) != 0;
}

int
slab_get_thread(struct slab_pool *pool, void **objs, unsigned int n)
{
	int64_t have = pop_by_sequence(pool, objs, n);

	if (__builtin_expect(have == (int64_t)n && !has_to_count(pool), 1))
		return 0;
	return slab_get_thread_rest(pool, objs, have < 0 ? 0 : (unsigned int)have, n);
}

/* Where a pool has several nodes, objects are looked at before they get into a cache. */
int
slab_put_thread(struct slab_pool *pool, void *const *objs, unsigned int n)
{
	if (__builtin_expect(pool->put_cache != 0 && !pool->stats, 1) &&
			__builtin_expect(push_by_sequence(pool, objs, n) > 0, 1))
		return 0;
	return slab_put_thread_rest(pool, objs, n);
}
