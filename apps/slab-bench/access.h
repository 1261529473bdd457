/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What loops do with objects. Each loop is compiled once for each kind of access, so that none
 * of them asks at run time which it is.
 */

#ifndef BENCH_ACCESS_H
#define BENCH_ACCESS_H

#include "bench.h"

static __rte_always_inline int
bench_get(struct bench_worker *w, enum bench_access how, void **objs, unsigned int n)
{
	switch (how) {
	case BENCH_NONE:
		__asm__ volatile("" : : "r"(objs), "r"(n) : "memory");
		return 0;
	case BENCH_ARRAY:
		return w->array->get(w->array, objs, n);
	case BENCH_POOL:
		return rte_mempool_get_bulk(w->mp, objs, n);
	case BENCH_METERED:
		return bench_metered_get(w, objs, n);
	case BENCH_TIMED:
		return bench_timed_get(w, objs, n);
	default:
		return bench_counted_get(w, objs, n);
	}
}

static __rte_always_inline void
bench_put(struct bench_worker *w, enum bench_access how, void *const *objs, unsigned int n)
{
	switch (how) {
	case BENCH_NONE:
		__asm__ volatile("" : : "r"(objs), "r"(n) : "memory");
		return;
	case BENCH_ARRAY:
		w->array->put(w->array, objs, n);
		return;
	case BENCH_POOL:
		rte_mempool_put_bulk(w->mp, objs, n);
		return;
	case BENCH_METERED:
		bench_metered_put(w, objs, n);
		return;
	case BENCH_TIMED:
		bench_timed_put(w, objs, n);
		return;
	default:
		bench_counted_put(w, objs, n);
	}
}

static __rte_always_inline void
bench_write(void *obj, unsigned int lines, uint64_t value)
{
	for (unsigned int i = 0; i < lines; i++)
		*(volatile uint64_t *)((char *)obj + (size_t)i * BENCH_LINE) = value;
}

static __rte_always_inline void
bench_read(const void *obj, unsigned int lines)
{
	for (unsigned int i = 0; i < lines; i++)
		(void)*(const volatile uint64_t *)((const char *)obj + (size_t)i * BENCH_LINE);
}

/* A number below limit; xorshift is random enough to mix objects, and costs little. */
static inline unsigned int
bench_random(uint64_t *state, unsigned int limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned int)(((*state >> 32) * limit) >> 32);
}

/* Each object for one of those held. */
static __rte_always_inline void
bench_exchange(struct bench_worker *w, void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned int j = w->fifo ? w->oldest : bench_random(&w->random, w->hold);
		void *obj = w->held[j];

		w->held[j] = objs[i];
		objs[i] = obj;
		if (w->fifo)
			w->oldest = w->oldest + 1 == w->hold ? 0 : w->oldest + 1;
	}
}

#define BENCH_LOOP(name, body) \
uint64_t \
name(struct bench_worker *w, enum bench_access how, uint64_t objects) \
{ \
	switch (how) { \
	case BENCH_NONE: \
		return body(w, BENCH_NONE, objects); \
	case BENCH_ARRAY: \
		return body(w, BENCH_ARRAY, objects); \
	case BENCH_POOL: \
		return body(w, BENCH_POOL, objects); \
	case BENCH_METERED: \
		return body(w, BENCH_METERED, objects); \
	case BENCH_TIMED: \
		return body(w, BENCH_TIMED, objects); \
	default: \
		return body(w, BENCH_COUNTED, objects); \
	} \
}

#endif /* BENCH_ACCESS_H */
