/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MARKS_H
#define MARKS_H

/*
 * Objects that say who holds them, for tests with several threads. A new object is all zero, and
 * its header says whose it is. Whoever gets one writes his number to both of its ends, and finds it
 * there when he puts it back: else two have had it at once. All of this may run in signal
 * handlers.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_mempool.h>

#define WORDS 8
#define OBJECT_SIZE (WORDS * sizeof(uint64_t))

/* In any thread, where cmocka's own checks work in one alone. */
#define MUST(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #what); \
		abort(); \
	} \
} while (0)

static inline uint32_t
draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % below);
}

static inline void
mark(const struct rte_mempool *mp, void *const *objs, unsigned int n, uint64_t from, uint64_t to)
{
	unsigned int i;
	uint64_t *words;

	for (i = 0; i < n; i++) {
		words = objs[i];
		MUST(rte_mempool_from_obj(objs[i]) == mp);
		MUST(atomic_exchange_explicit((_Atomic(uint64_t) *)objs[i], to,
			memory_order_relaxed) == from);
		MUST(words[WORDS - 1] == from);
		words[WORDS - 1] = to;
	}
}

/*
 * The CPUs of this process: to be called before EAL pins its main thread to one of them, which the
 * threads that it starts would inherit.
 */
static cpu_set_t all_cpus;

static inline void
note_cpus(void)
{
	MUST(sched_getaffinity(0, sizeof(all_cpus), &all_cpus) == 0);
}

/* A thread that is no lcore of EAL, on any CPU. */
static inline pthread_t
start_thread(void *(*work)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	MUST(pthread_attr_setaffinity_np(&attr, sizeof(all_cpus), &all_cpus) == 0);
	MUST(pthread_create(&thread, &attr, work, arg) == 0);
	pthread_attr_destroy(&attr);
	return thread;
}

/* Someone who gets and puts. */
struct user {
	struct rte_mempool *mp;
	uint64_t number, seed, got;
	unsigned int held;
	void *objs[256];
};

static inline void
user_get(struct user *u, unsigned int n)
{
	if (u->held + n > RTE_DIM(u->objs) ||
			rte_mempool_get_bulk(u->mp, u->objs + u->held, n) != 0)
		return;
	mark(u->mp, u->objs + u->held, n, 0, u->number);
	u->held += n;
	u->got += n;
}

static inline void
user_put(struct user *u, unsigned int n)
{
	n = RTE_MIN(n, u->held);
	if (n == 0)
		return;
	u->held -= n;
	mark(u->mp, u->objs + u->held, n, u->number, 0);
	rte_mempool_put_bulk(u->mp, u->objs + u->held, n);
}

/* Few objects more often than many. */
static inline void
user_step(struct user *u, unsigned int most)
{
	unsigned int n = 1 + draw(&u->seed, 1 + draw(&u->seed, most));

	if (draw(&u->seed, 2) == 0)
		user_get(u, n);
	else
		user_put(u, n);
}

/* This thread alone gets all n objects, each once; back they go. */
static inline void
check_all_there(struct rte_mempool *mp, unsigned int n)
{
	void **objs = calloc(n, sizeof(*objs)), *more;
	unsigned int got;

	MUST(objs != NULL && rte_mempool_avail_count(mp) == n);
	for (got = 0; got < n && rte_mempool_get(mp, &objs[got]) == 0; got++)
		;
	MUST(got == n && rte_mempool_get(mp, &more) == -ENOBUFS);
	MUST(rte_mempool_avail_count(mp) == 0);
	mark(mp, objs, n, 0, UINT64_MAX);
	mark(mp, objs, n, UINT64_MAX, 0);
	rte_mempool_put_bulk(mp, objs, n);
	MUST(rte_mempool_avail_count(mp) == n);
	free(objs);
}

#endif /* MARKS_H */
