/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * slab-bench: what its files share.
 *
 * A case is one benchmark by name: a pattern, a driver, and sizes. To measure a case is to take
 * its pool, bring it into a known state, set the lcores to work on it, and read the clock on
 * them. Everything that is counted, but for the clock, is counted in a run of its own.
 *
 *     cases.c      names, and what is left out     run.c, table*.c who asks for figures
 *     patterns.c   what is done with objects       measure.c       one case from start to figures
 *     drivers.c    and by which pools              rows.c, calls.c more figures of some patterns
 *     loops.c, pipeline.c, trace.c   the loops     work.c, crew.c  lcores that run them
 *     pools.c, arena.c, reset.c      the pools     count.c, visits.c, clock.c   the counting
 *     create.c     making pools
 */

#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_mempool.h>
#include <rte_memzone.h>
#include <rte_ring.h>

#include "common.h"

#define BENCH_MAX_N 1024
#define BENCH_MAX_HOLD 8192
#define BENCH_LINE 64

/* The sizes that a name mentions only where they differ. */
#define BENCH_OBJECTS 16384
#define BENCH_SIZE 2176

/* options.c */

struct bench_options {
	int (*table)(void);	/* prints it; NULL: benchmarks */
	const char *nodes;	/* over which pools of slab lie, or NULL */
	const char *trace;	/* a capture, or NULL */
	uint64_t gap_us;	/* packets further apart are not of one burst */
};

extern struct bench_options bench_opt;

/* Takes this program's own options out of argv; -1 after an error line. */
int bench_options_parse(int *argc, char **argv);
void bench_usage(void);

/* One line on stderr, after the program's name; always returns -1. */
int bench_error(const char *format, ...) __rte_format_printf(1, 2);
/* The last such line. */
const char *bench_last_error(void);

/* lcores.c */

enum bench_lcores {
	BENCH_ONE,		/* the main lcore */
	BENCH_PAIR,		/* the main lcore and another, each on its own CPU */
	BENCH_ALL,		/* all, each on its own CPU */
	BENCH_OVER,		/* several on each CPU, on each as many */
	BENCH_LCORES_KINDS
};

/* Why the lcores that EAL was given do not fit, and how to start; NULL when they do. */
const char *bench_lcores_misfit(enum bench_lcores kind);
/* On how many CPUs lcores are. */
unsigned int bench_lcores_cpus(void);
/* How many are on each; 0 when that differs, or when some have more than one CPU. */
unsigned int bench_lcores_by_cpu(void);
/* Lcores that work, the main lcore first, no more than so many on a CPU; how many. */
unsigned int bench_lcores_list(enum bench_lcores kind, unsigned int by_cpu,
	unsigned int ids[RTE_MAX_LCORE]);

/* calls.c: how long single calls take. */

/* Slots are a sixteenth as wide as what they count: 16 for each power of two from 16 on. */
#define BENCH_SLOTS 976

struct bench_histogram {
	uint64_t slots[BENCH_SLOTS];
	uint64_t n, max;
};

/* crew.c, loops.c, pipeline.c, trace.c, rows.c */

/* How a loop comes by its objects. */
enum bench_access {
	BENCH_NONE,		/* not at all: what is left is the loop's own cost */
	BENCH_ARRAY,
	BENCH_POOL,
	BENCH_METERED,		/* a pool, with the clock read around some calls */
	BENCH_TIMED,		/* a pool, with each call timed by itself */
	BENCH_COUNTED,		/* a pool or an array, with everything counted */
};

struct bench_meter {
	uint64_t calls, timed, objects, cycles;
};

struct bench_worker;

/*
 * Gets and puts so many objects, or a burst more; returns how many. Less when a get failed, which
 * bench_crew_fail() was told.
 */
typedef uint64_t bench_loop(struct bench_worker *w, enum bench_access how, uint64_t objects);

/* One lcore's part. Only that lcore touches it while a phase lasts. */
struct bench_worker {
	struct rte_mempool *mp;
	struct bench_array *array;
	struct rte_ring *ring;
	bench_loop *loop;
	unsigned int n, lines, hold, row;
	bool fifo;
	unsigned int holding;		/* objects held; 0 or hold, unless a get failed */
	unsigned int oldest;		/* of what is held, where it leaves in order */
	uint64_t random;
	uint64_t ticket;		/* objects of a turn */
	uint32_t burst, left, at;	/* where in the trace it is */

	/* Of the last phase. */
	uint64_t start, end, objects;
	struct bench_meter get, put;
	uint64_t bulks, left_cache;

	void *objs[BENCH_MAX_N] __rte_cache_aligned;
	void *held[BENCH_MAX_HOLD];
	struct bench_histogram calls;	/* of the last phase in which they were timed */
} __rte_cache_aligned;

extern struct bench_worker bench_workers[RTE_MAX_LCORE];

bench_loop bench_loop_bulk, bench_loop_single, bench_loop_trace;
bench_loop bench_loop_getter, bench_loop_putter, bench_loop_rows;

/*
 * A call on the main lcore, or else on a thread that has its CPU and is no lcore: the lcore sleeps
 * until it is over. -1 after an error line.
 */
int bench_crew_call(bool thread, void (*call)(void *arg), void *arg);
/*
 * Sets lcores to wait for phases, or threads on their CPUs that are none; the first is the caller.
 * Their workers are filled in before. -1 after an error line.
 */
int bench_crew_start(const unsigned int *lcores, unsigned int n, bool threads);
/* One phase: all workers run the task; returns when all are done, -1 when one failed. */
int bench_crew_run(void (*task)(struct bench_worker *w));
void bench_crew_stop(void);
/* Ends the phase for all; may be called by any worker. */
void bench_crew_fail(void);
bool bench_crew_failed(void);

/* work.c */

struct bench_case;
struct bench_pool;

/* The part of the i-th worker; the ring of a pair, or NULL. */
void bench_work_give(struct bench_worker *w, unsigned int i, const struct bench_case *c,
	const struct bench_pool *pool, struct rte_ring *ring);
/* Back to where its random numbers, its hold and its trace begin. */
void bench_work_rewind(struct bench_worker *w, unsigned int i);
/* One phase of about so many objects; -1 after an error line. */
int bench_work_run(const struct bench_case *c, enum bench_access how, uint64_t objects);
/* Tasks: get the objects to hold, and put them back, also those underway when a pair failed. */
void bench_work_hold(struct bench_worker *w);
void bench_work_return(struct bench_worker *w);

/* patterns.c */

struct bench_pattern {
	const char *name;
	enum bench_lcores lcores;
	bench_loop *loops[2];		/* of the first and of the second lcore */
	bool share;			/* lcores take turns at one heap of work */
	bool threads;			/* threads on the CPUs of the lcores do it in their place */
	bool shuffled;			/* objects lie in the pool in random order at first */
	bool fifo;			/* what is held leaves in order, else at random */
	bool touch;			/* there are variants that write objects */
	bool large;			/* and some with a large pool */
	bool small;			/* and some with small objects */
	const char *hold_name;		/* what the held objects are called in the name, or NULL */
	unsigned int holds[2];		/* objects held; 0 only in the first place */
};

extern const struct bench_pattern bench_patterns[];
extern const unsigned int bench_nb_patterns;

const struct bench_pattern *bench_pattern_find(const char *name);

/* drivers.c */

enum bench_limits {
	BENCH_ONE_LCORE = 1,		/* only one may get and put */
	BENCH_NO_CACHE = 2,		/* there is no rte_mempool around it */
	BENCH_WHOLE_BUCKETS = 4,	/* objects cannot be had before their neighbours are free */
	BENCH_NO_THREADS = 8,		/* threads that are no lcores crash in it */
	BENCH_ON_LCORES = 16,		/* lcores do it also where the pattern has threads */
	BENCH_LCORES_ONLY = 32,		/* not in patterns of threads that are no lcores, */
	BENCH_THREADS_ONLY = 64,	/* or only there */
};

struct bench_driver {
	const char *name;	/* in names of benchmarks */
	const char *ops;	/* in DPDK */
	const char *options;	/* what its pools are made with, or NULL */
	unsigned int limits;
};

extern const struct bench_driver bench_drivers[];
extern const unsigned int bench_nb_drivers;

const struct bench_driver *bench_driver_find(const char *name);
bool bench_driver_is(const struct bench_driver *d, const char *ops);
bool bench_driver_is_array(const struct bench_driver *d);
/* Why there are no pools of it; NULL when there are. */
const char *bench_driver_missing(const struct bench_driver *d);
/* Whether it is in names of patterns of lcores, or of threads that are none. */
bool bench_driver_takes_part(const struct bench_driver *d, bool threads);

struct bench_counts {
	bool done;
	double left_cache, distinct;
	bool has_visits;
	double depot, slab;		/* per 1000 objects */
};

struct bench_case {
	const struct bench_pattern *pattern;
	const struct bench_driver *driver;
	unsigned int cache, n, lines, hold, objects, size;
	unsigned int lcores;		/* how many of those the pattern has; 0: all */
	struct bench_counts counts;
};

/* cases.c */

#define BENCH_NAME_SIZE 128

void bench_case_name(const struct bench_case *c, char name[BENCH_NAME_SIZE]);
/* Whether threads do it that are no lcores. */
bool bench_case_has_threads(const struct bench_case *c);
/* Its lcores, or those on whose CPUs its threads are; how many. */
unsigned int bench_case_lcores(const struct bench_case *c, unsigned int ids[RTE_MAX_LCORE]);

/* Registers what can be run and says what cannot. */
void bench_cases_register(void);

/* array.c: pointers in a row; the last in is the first out. */

struct bench_array {
	int (*get)(struct bench_array *a, void **objs, unsigned int n);
	int (*put)(struct bench_array *a, void *const *objs, unsigned int n);
	unsigned int len;
	void *objs[] __rte_cache_aligned;
};

struct bench_array *bench_array_create(unsigned int objects);

/* arena.c: the memory of objects, under all pools that have them alike. */

struct bench_arena {
	unsigned int objects, size;
	const struct rte_memzone *mz;	/* NULL: the pool's own memory */
	size_t page;
	void **in_order, **shuffled;
	uintptr_t sum;			/* of all addresses */
	uintptr_t base, last;		/* addresses of the first and the last in memory */
	size_t stride, slots;		/* (address - base) / stride is below slots */
};

/* NULL after an error line. */
struct bench_arena *bench_arena_get(unsigned int objects, unsigned int size);
/* Of a pool that has memory of its own; NULL after an error line. */
struct bench_arena *bench_arena_of(struct rte_mempool *mp);
/* Lists the first n in random order, too. */
void bench_arena_shuffle(struct bench_arena *arena, unsigned int n);
int bench_arena_populate(const struct bench_arena *arena, struct rte_mempool *mp);

/* pools.c, reset.c */

struct bench_pool {
	const struct bench_driver *driver;
	unsigned int cache, objects, size;
	bool stats;			/* slab counts what it does */
	char options[64];		/* of the driver; must stay */
	char why[256];			/* it cannot be used; empty when it can */
	struct rte_mempool *mp;
	struct bench_array *array;
	struct bench_arena *arena;
};

/* The one pool of this kind, made at its first use; NULL when it cannot be, after an error line. */
struct bench_pool *bench_pool_get(const struct bench_case *c, bool stats);
/* One line that this pool cannot be had, and why; returns -1. */
int bench_pool_refused(const struct bench_pool *pool, int error);
/* All objects back, in the same places as each time; -1 after an error line. */
int bench_pool_reset(struct bench_pool *pool, bool shuffled);

/* clock.c */

/* Measures what the clock costs; to be called once. */
void bench_clock_init(void);
/* Cycles that pass between two readings with nothing in between. */
double bench_clock_cost(void);
int bench_metered_get(struct bench_worker *w, void **objs, unsigned int n);
void bench_metered_put(struct bench_worker *w, void *const *objs, unsigned int n);
void bench_meter_add(struct bench_meter *m, unsigned int n, uint64_t cycles);
/* Cycles by object in the calls that were timed, the clock's own taken off. */
double bench_metered_cycles(const struct bench_meter *m);

/* count.c, visits.c */

int bench_counted_get(struct bench_worker *w, void **objs, unsigned int n);
void bench_counted_put(struct bench_worker *w, void *const *objs, unsigned int n);
int bench_count_begin(const struct bench_pool *pool);
/* How many different objects were got. */
unsigned int bench_count_end(const struct bench_pool *pool);

struct bench_visits {
	uint64_t depot, slab;
};

/* What the slab driver counted in a pool that has stats; -1 when it cannot be had. */
int bench_visits_read(const struct rte_mempool *mp, struct bench_visits *visits);

/* measure.c */

struct bench_result {
	double cycles;			/* by object, net */
	double loop;			/* by object, what the loop costs without a pool */
	double worst;			/* of the lcore that was slowest */
	double rate;			/* objects in a second, all lcores together */
	double pool;			/* by object, in get and put; of pairs only */
	double get, put;		/* by object, many in a row; of threads only */
	double p50, p99, p9999, max;	/* by call; where lcores share CPUs */
};

/* From begin to end the lcores are at work on this case; -1 after an error line. */
int bench_measure_begin(struct bench_case *c);
int bench_measure_run(struct bench_case *c, uint64_t objects);
int bench_measure_end(struct bench_case *c, struct bench_result *result);
/* All of it, on the main lcore, or on a thread that is none if the case is for such. */
int bench_measure(struct bench_case *c, uint64_t objects, struct bench_result *result);
/* Fills in the case's counts. Not between begin and end. */
int bench_measure_counts(struct bench_case *c);

/*
 * rows.c, calls.c: in a run of its own right after the measurement, by so many workers. -1 after an
 * error line.
 */
int bench_rows_measure(const struct bench_case *c, unsigned int workers, uint64_t objects,
	struct bench_result *result);
int bench_calls_measure(const struct bench_case *c, unsigned int workers, uint64_t objects,
	struct bench_result *result);
int bench_timed_get(struct bench_worker *w, void **objs, unsigned int n);
void bench_timed_put(struct bench_worker *w, void *const *objs, unsigned int n);

/* run.c, table.c, table_threads.c */

struct bench_state;

void bench_run(struct bench_state *state, struct bench_case *c);
/* Ends the benchmark with the last error line, and the program with a status that is not 0. */
void bench_run_fail(struct bench_state *state);
bool bench_run_failed(void);

/* Tables; 0, or -1 after an error line. */
int bench_table_bulk(void);
int bench_table_threads(void);
int bench_table_check(void);
/* Percent. */
double bench_table_saved(double before, double after);

/* create.c */

/* A benchmark of its own, which has no pattern. */
void bench_create_register(const struct bench_driver *driver);

/* trace.c */

int bench_trace_load(const char *file, uint64_t gap_us);
void bench_trace_describe(char *text, size_t size);

#endif /* BENCH_H */
