/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MODEL_H
#define MODEL_H

/*
 * The core under a model checker, relacy. The sources of lib/slab are compiled as they ship, as C:
 * the atomics that slab_atomic.h names turn into calls of the engine (engine.cpp), and so do the
 * plain accesses to a pool, by what the compiler inserts for -fsanitize=thread. Behind an address
 * that several threads touch the engine keeps an atomic of relacy, or a variable whose races
 * relacy detects. relacy then chooses who runs next and which value a load sees, as far as C11
 * allows it.
 *
 * What relacy does not try: it never puts a store before one that another thread executed
 * earlier. For links that matters, so the engine asks more of them than C11 does: two stores to
 * a link must be ordered by happens-before.
 *
 * A mutant weakens one step of the code, named by function and location. The checker that does
 * not find it checks nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum model_order {
	MODEL_RELAXED,
	MODEL_ACQUIRE,
	MODEL_RELEASE,
	MODEL_ACQ_REL,
};

enum model_op {
	MODEL_LOAD,
	MODEL_STORE,
	MODEL_ADD,
	MODEL_OR,
	MODEL_EXCHANGE,
	MODEL_CAS,
	MODEL_FENCE,
};

/* A step of the code: the location as the source writes it. */
struct model_site {
	const char *func;
	const char *what;
	const char *file;
	unsigned int line;
};

enum model_twist {
	TWIST_RELAXED = 1,  /* the order is relaxed; of a cas, that of success */
	TWIST_FAIL_RELAXED, /* the order of a cas that fails is relaxed */
	TWIST_ACQUIRE,      /* the order is acquire */
	TWIST_RELEASE,      /* the order is release */
	TWIST_ZERO,         /* the result looks like 0 */
	TWIST_SPLIT,        /* a load and a store instead of one step */
	TWIST_UNTAGGED,     /* the new head of a list keeps its id only */
	TWIST_TWICE,        /* shut is looked at twice: first if it is set, then to what */
	TWIST_SKIP,         /* it does not take place */
	TWIST_PLAIN,        /* it is no atomic access */
};

struct model_mutant {
	const char *name;
	const char *func; /* NULL: any function */
	const char *what; /* NULL: any location */
	enum model_op op;
	enum model_twist twist;
};

#define MODEL_MAX_MUTANTS 12

struct model_scenario {
	const char *name;
	unsigned int threads; /* 2 or 3 */
	unsigned int objects; /* that model_hold() knows */
	/* membarrier as a fence in the taker and one in the lcore, not as one for everybody. */
	bool fence_pair;
	void (*setup)(void);            /* once: make the pool and name what threads share */
	void (*thread)(unsigned int i);
	void (*after)(void);            /* nobody else is left */
	/* Told of each atomic step with the value it found; may be NULL. */
	void (*seen)(const struct model_site *site, enum model_op op, uint64_t old);
	struct model_mutant mutants[MODEL_MAX_MUTANTS]; /* up to the first without a name */
};

/* Each program defines its own, up to the first without a name. */
extern const struct model_scenario model_scenarios[];

enum model_search {
	MODEL_RANDOM,
	MODEL_BOUND,
	MODEL_FULL,
};

struct model_effort {
	enum model_search search;
	uint64_t iterations; /* of random search */
	unsigned int bound;  /* switches of a thread that could go on, in bounded search */
};

/* Check a scenario, with a mutant or NULL. True if nothing was found; done counts executions. */
bool
model_check(const struct model_scenario *scenario, const struct model_mutant *mutant,
	const struct model_effort *effort, uint64_t *done);

/* What the last check that found something has to say. */
const char *
model_history(void);

/* For scenarios. */

/* The block to make the pool in: zeroed. */
void *
model_block(uint64_t size);

/* Name what threads share. */
enum model_kind {
	MODEL_ATOMIC,
	MODEL_LINK,  /* an atomic that links a list */
	MODEL_COUNT, /* an atomic that decides nothing: exact, and without a step of its own */
	MODEL_PLAIN, /* no atomic: checked for races */
};

#define model_share(p, kind) model_share_at((p), sizeof(*(p)), kind, #p)
void
model_share_at(const void *at, unsigned int size, enum model_kind kind, const char *name);

/*
 * The memory of an object, by number: who gets it takes hold, and whoever was the holder before
 * must have let go before, visibly.
 */
void
model_hold(unsigned int object);
void
model_let_go(unsigned int object);

unsigned int
model_rand(unsigned int limit);

#define model_assert(cond) model_assert_that((cond), #cond, __func__, __FILE__, __LINE__)
void
model_assert_that(bool cond, const char *what, const char *func, const char *file,
	unsigned int line);

/* For model_atomic.h. */
uint64_t
model_load(const void *at, unsigned int size, enum model_order order,
	const struct model_site *site);
void
model_store(void *at, unsigned int size, uint64_t value, enum model_order order,
	const struct model_site *site);
uint64_t
model_rmw(void *at, unsigned int size, enum model_op op, uint64_t value, enum model_order order,
	const struct model_site *site);
bool
model_cas(void *at, unsigned int size, uint64_t *expected, uint64_t value, bool weak,
	enum model_order order, enum model_order failure, const struct model_site *site);
void
model_barrier(const struct model_site *site);

#ifdef __cplusplus
}
#endif

#endif /* MODEL_H */
