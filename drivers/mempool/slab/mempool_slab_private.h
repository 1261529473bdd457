/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MEMPOOL_SLAB_PRIVATE_H
#define MEMPOOL_SLAB_PRIVATE_H

#include <pthread.h>

#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mempool.h>
#include <rte_telemetry.h>

#include "mempool_slab.h"
#include "slab.h"

extern int mempool_slab_logtype;

#define SLAB_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, mempool_slab_logtype, "mempool_slab: " fmt "\n", ##__VA_ARGS__)

/* Put a code address into words: function and file, as far as they are known. */
void
mempool_slab_name_address(const void *address, char *text, size_t size);

/* Put into words who did something: an lcore, or else the thread. */
void
mempool_slab_name_thread(uint32_t lcore, uint32_t thread, char *text, size_t size);

/* Whether a pool is of this driver; and whether it has its state already. */
bool
mempool_slab_chosen(const struct rte_mempool *mp);
bool
mempool_slab_is(const struct rte_mempool *mp);

/* The pool of this driver that has a name; NULL if none has, or the name is NULL. */
struct rte_mempool *
mempool_slab_lookup(const char *name);

/*
 * Make a text fit for telemetry's answers: DPDK 22.11 puts a byte above 127 into JSON by what lies
 * before a table of its own.
 */
char *
mempool_slab_ascii(char *text);

/* As rte_telemetry_register_cmd(); no pool of this driver is freed while the answer is made. */
void
mempool_slab_register_cmd(const char *name, telemetry_cb answer, const char *help);

/* Freeing waits for answers, and they for it. */
extern pthread_mutex_t mempool_slab_freeing;

/* An answer in telemetry that says why there is none. */
int
mempool_slab_answer_error(struct rte_tel_data *data, const char *format, ...)
	__rte_format_printf(2, 3);

/* Begin an answer about the pool of that name, and return it; or NULL, after such an answer. */
struct rte_mempool *
mempool_slab_answer_begin(const char *name, struct rte_tel_data *data);

/* A line in the log for each of the first objects that are not back when the pool is freed. */
void
mempool_slab_log_leaks(const struct rte_mempool *mp);

/* Read decimal digits, and go on behind them: false if there are none, or too many. */
bool
mempool_slab_read_number(const char **text, unsigned long *value);

/*
 * Where the objects of a pool are to lie. Node i of the pool is EAL's socket[i], and has the objects
 * from until[i - 1] to until[i].
 */
struct mempool_slab_plan {
	bool asked_for;         /* or else one node, wherever rte_mempool has its memory */
	uint32_t nodes;
	uint8_t socket[SLAB_MAX_NODES];
	uint32_t until[SLAB_MAX_NODES];
	int asked;              /* mp->socket_id as the application set it */
	int now;                /* the node whose share is being placed; -1: none; nodes: refused */
};

/* What the driver keeps behind a pool, where all processes find it. */
#define MEMPOOL_SLAB_ORDER (RTE_MEMPOOL_MAX_OPS_IDX * (RTE_MEMPOOL_OPS_NAMESIZE + 5))
struct mempool_slab_user {
	struct mempool_slab_plan plan;
	char order[MEMPOOL_SLAB_ORDER]; /* of the drivers, in the process that made the pool */
};

static inline struct mempool_slab_user *
mempool_slab_user(const struct rte_mempool *mp)
{
	return slab_pool_user(mp->pool_data);
}

/* Write the drivers that this process has, with their numbers; MEMPOOL_SLAB_ORDER bytes. */
void
mempool_slab_order(char *text);

/* Make this driver known to DPDK; says so if it cannot be. */
void
mempool_slab_register(const struct rte_mempool_ops *ops);

/* Let all processes that have the driver find it for this pool, in whatever order they loaded it. */
void
mempool_slab_take_place(struct rte_mempool *mp);

/* -EINVAL, after one line about a pool that is of another driver. */
int
mempool_slab_refuse(const struct rte_mempool *mp);

/* Fill in a plan by the text of an option nodes=; -EINVAL after a line that says what is wrong. */
int
mempool_slab_plan_read(const struct rte_mempool *mp, const char *text,
	struct mempool_slab_plan *plan);

/* What mempool_slab_populate_nodes() was called with, or NULL. */
const char *
mempool_slab_nodes_asked(void);

/* The pool's node for a socket; 0 for one on which it has no objects. */
uint8_t
mempool_slab_plan_node(const struct mempool_slab_plan *plan, int socket);

/* The operation of rte_mempool: asks for the memory of one node after the other. */
ssize_t
mempool_slab_calc_mem_size(const struct rte_mempool *mp, uint32_t n, uint32_t pg_shift,
	size_t *min_chunk_size, size_t *align);

/* How many objects may lie in memory of this socket now; 0, after a line, if that is the wrong one. */
uint32_t
mempool_slab_plan_limit(const struct rte_mempool *mp, int socket);

/* All objects are placed, or no more will be; says if some are not. */
void
mempool_slab_plan_end(struct rte_mempool *mp);

/* The word of option thread_cache= for a value. */
const char *
mempool_slab_thread_cache_name(enum slab_thread_cache value);

/*
 * Read the options of the environment variable MEMPOOL_SLAB and then those of mp->pool_config,
 * which overrule them. -EINVAL, after one line that says what is wrong with which.
 */
int
mempool_slab_options(const struct rte_mempool *mp, struct slab_conf *conf,
	struct mempool_slab_plan *plan);

#endif /* MEMPOOL_SLAB_PRIVATE_H */
