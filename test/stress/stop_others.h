/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef STOP_OTHERS_H
#define STOP_OTHERS_H

/* Those who go on, while somebody has been stopped in the middle of an operation, or killed. */

#include "step.h"
#include "stop.h"

#define WORKERS 2
#define LARGEST 70
#define MOST_HELD (2 * LARGEST)

struct worker {
	const struct stop *stop;
	pthread_t thread;
	uint32_t number, ops, held;
	_Atomic(uint32_t) done, failed;
	uint64_t seed;
	void *objs[MOST_HELD];
};

extern struct worker workers[WORKERS];

/* Up to two CPUs, and run on the first or the second. */
void
others_choose_cpus(void);
void
others_stay_on(unsigned int which);

/* The pool in which an operation begins, in memory that child processes share; one at a time. */
struct slab_pool *
others_make_pool(const struct operation *op);
void
others_free_pool(struct slab_pool *pool);
uint32_t
others_objects(const struct operation *op);

/* A new operation; and whether a loop of it comes by, after a load, where it has been stopped before. */
void
others_begin(void);
bool
others_come_again(const struct stopper *stopper);

/* So many gets and puts: by both, or by one of them. */
void
others_work(const struct stop *s, uint32_t seed, uint32_t ops, bool one);

/* The depot is to hold nothing, or as much as it can. */
void
others_limit_depot(struct slab_pool *pool, bool none);

/* All that can be had, one by one, each once; and back, as much as possible to the depot. */
uint32_t
others_look_for_all(const struct stop *s, uint32_t lcore);

#endif /* STOP_OTHERS_H */
