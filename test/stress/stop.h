/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef STOP_H
#define STOP_H

/* What is stopped: operations, and the state of the pool in which each begins. */

#include "crew.h"

#define STOP_MOST 2048 /* objects */

/* Lcores: the one that stops, two that go on, and one that looks what can be had. */
enum { VICTIM, WORKER, WORKER_2, LOOKER };

struct stop;

struct operation {
	const char *name;
	/* Both are called by the thread that stops, the first one before. */
	void (*prepare)(struct stop *s);
	void (*run)(struct stop *s);
	uint32_t n;        /* objects, or blocks, that it gets or puts */
	uint32_t bound;    /* objects that nobody else can have while it is stopped */
	uint32_t lost;     /* objects that nobody can have after it was killed, and reclaimed */

	/* The pool. */
	uint32_t objects;  /* 0: 1,024; half of them on each node, if there are two */
	uint32_t later;    /* further ones, which the operation adds */
	uint32_t magazine; /* 0: 64 */
	uint32_t nodes, lcore_partial;
	bool no_depot, stats;
	bool none;         /* the thread is no lcore: */
	enum slab_thread_cache thread_cache;
};

/* One operation, to be stopped once. */
struct stop {
	const struct operation *op;
	struct slab_pool *pool;
	uint32_t lcore;            /* that does it */
	bool stopped;              /* by now */
	uint32_t n;                /* objects that it has got, or is to put */
	void *objs[STOP_MOST];
	uint32_t nr_kept;          /* those that the others put back as soon as it has stopped */
	void *kept[STOP_MOST];
	/* Until all is over: whose cache is claimed by one who does not end; who does not end. */
	struct slab_lcore *claimed, *busy;
	uint64_t claimed_was;
};

extern const struct operation stop_operations[];
extern const unsigned int nr_stop_operations;

#endif /* STOP_H */
