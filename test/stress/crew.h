/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef CREW_H
#define CREW_H

/*
 * What tests with several threads share: random numbers, marks on objects, a place to leave objects
 * for others, and one where all threads meet.
 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "../fast/fixture.h"

#define CREW 4

/*
 * What the threads are at, so that it can be repeated; printed when they find something wrong. One for
 * all files of a program.
 */
__attribute__((weak)) char crew_at[200];

#define MUST(what) do { \
	if (!(what)) \
		crew_fail(__FILE__, __LINE__, #what); \
} while (0)

static inline _Noreturn void
crew_fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s does not hold; %s\n", file, line, what, crew_at);
	abort();
}

/* A handler of SIGALRM. */
static inline void
crew_hung(int sig)
{
	char text[300];
	int n = snprintf(text, sizeof(text), "somebody waits: %s\n", crew_at);

	(void)sig;
	_exit(write(STDERR_FILENO, text, (size_t)n) == n ? 1 : 2);
}

static inline uint32_t
draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % below);
}

/* Small numbers as often as large ones: 1 to most. */
static inline uint32_t
draw_size(uint64_t *seed, uint32_t most)
{
	uint32_t bits = 32 - (uint32_t)__builtin_clz(most);

	return 1 + draw(seed, most >> draw(seed, bits));
}

/* A number from the environment, so that a run can be made shorter, longer, or repeated. */
static inline uint32_t
crew_setting(const char *name, uint32_t usual)
{
	const char *value = getenv(name);

	return value != NULL ? (uint32_t)strtoul(value, NULL, 10) : usual;
}

/*
 * The i-th way in which threads that are no lcores get and put. ThreadSanitizer does not see what
 * sequences hand from one thread to the next, and takes it for a race.
 */
static inline enum slab_thread_cache
crew_thread_cache(uint32_t i)
{
#ifdef __SANITIZE_THREAD__
	return i % 2 == 0 ? SLAB_THREADS_LOCK : SLAB_THREADS_OFF;
#else
	return i % 3;
#endif
}

/*
 * Who holds each object of 64 bytes, from MADE_UP on. Relaxed: marks shall not bring an order to
 * threads that the pool owes them.
 */
#define MARK_FREE 0
#define MARK_BOX 100
#define MARK_NONE 255 /* no object */

struct marks {
	uint32_t n;
	_Atomic(uint8_t) *who;
};

static inline void
marks_begin(struct marks *m, uint32_t n)
{
	*m = (struct marks){ .n = n, .who = calloc(n, sizeof(*m->who)) };
	MUST(m->who != NULL);
}

static inline void
marks_end(struct marks *m)
{
	free(m->who);
}

static inline void
mark(const struct marks *m, void *const *objs, uint32_t n, uint8_t from, uint8_t to)
{
	uint8_t before;
	uint32_t i;
	size_t k;

	for (i = 0; i < n; i++) {
		k = (size_t)((char *)objs[i] - MADE_UP) / 64;
		MUST(k < m->n && (char *)objs[i] == MADE_UP + k * 64);
		before = atomic_exchange_explicit(&m->who[k], to, memory_order_relaxed);
		if (before == from)
			continue;
		fprintf(stderr, "object %zu goes from %u to %u, held by %u\n", k, from, to, before);
		MUST(before == from);
	}
}

/* Where a thread leaves what it holds and takes what another left. */
struct box {
	pthread_mutex_t lock;
	uint32_t n;
	void **objs;
};

static inline void
box_begin(struct box *box, uint32_t most)
{
	pthread_mutex_init(&box->lock, NULL);
	box->n = 0;
	box->objs = calloc(most, sizeof(*box->objs));
	MUST(box->objs != NULL);
}

static inline void
box_end(struct box *box)
{
	pthread_mutex_destroy(&box->lock);
	free(box->objs);
}

/* The rows change places: all are as long as the longest. */
static inline void
box_swap(struct box *box, const struct marks *m, uint8_t self, void ***objs, uint32_t *n)
{
	void **others;
	uint32_t nr_others;

	pthread_mutex_lock(&box->lock);
	others = box->objs;
	nr_others = box->n;
	mark(m, *objs, *n, self, MARK_BOX);
	mark(m, others, nr_others, MARK_BOX, self);
	box->objs = *objs;
	box->n = *n;
	pthread_mutex_unlock(&box->lock);
	*objs = others;
	*n = nr_others;
}

/*
 * Where all threads of a crew meet. They wait awake: those that were put to sleep would find most
 * of what comes next done by the one that came last.
 */
struct meeting {
	uint32_t size;
	_Atomic(uint32_t) here, number;
	void (*last)(void *arg); /* called by whoever comes last, while the others rest; or NULL */
	void *arg;
};

static inline void
meet(struct meeting *m)
{
	uint32_t number = atomic_load(&m->number);

	if (atomic_fetch_add(&m->here, 1) + 1 == m->size) {
		if (m->last != NULL)
			m->last(m->arg);
		atomic_store(&m->here, 0);
		atomic_store(&m->number, number + 1);
	}
	while (atomic_load(&m->number) == number)
		sched_yield();
}

#endif /* CREW_H */
