/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_TYPES_H
#define SLAB_TYPES_H

/*
 * All that a pool keeps, in one block:
 *
 *     struct slab_pool
 *     struct slab_lcore      [lcores + nodes + cpus]
 *                            lcores first; then for threads that are none, one for each node and
 *                            one for each CPU
 *     struct slab_node       [nodes]
 *     struct slab_slab       [slabs]
 *     slab_atomic8           [slabs x 64], with checks: states of objects, by number
 *     struct slab_track      [slabs x 64], with tracks
 *     struct slab_chunk      [SLAB_FIRST_ROOM]
 *     struct slab_cache      for each lcore and each CPU that may have one
 *     bytes of the user
 *     struct slab_magazine   [nodes x depot]
 *
 * Within the block things are named by their id: bytes from the start of the block, in units of
 * 16. The pool itself is what id 0 would name, so 0 means none. Addresses of objects and of
 * rooms are kept as bytes from the block's start too, modulo 2^64.
 *
 * An object's number counts objects in the order in which they were added; 64 consecutive numbers
 * make a slab, whichever chunks they lie in. Between chunks of different nodes the rest of a slab
 * stays unused.
 *
 * An alien is an object of another node than the lcore that puts it.
 *
 * An object's offset is its address less slab_pool.base; its code is the offset in units of the
 * alignment: 32 bits. Caches of lcores hold offsets, since what is put is often got again at once
 * and a conversion would lie in between; magazines hold codes, since those travel from one
 * processor's caches to another's. Objects beyond the reach of a code never get into either.
 *
 * Identities, when no thread is inside an operation:
 *
 *     added = free + out
 *     free  = sum over slabs of the bits set in their words + sum over magazines, lcores and CPUs
 *             of len + sum over lcores of aliens
 *     nr_partial of a node = slabs on its lists
 *                          = slabs of the node with a word that is not 0, but for those of lcores
 *     nr_full of a node = magazines on its depot's list of full ones
 *
 * Invariants that the code relies on:
 *
 *     I1  A slab's word is not 0 if and only if the slab is on one list of its node or of one
 *         lcore, or in the hands of one thread between the two steps of a put or a get.
 *     I2  A magazine is on one list of one depot, or in the hands of one thread; only its holder
 *         touches len and codes. The holder of an lcore's cache is the lcore while it is busy, or
 *         else the thread that has claimed it; that of a CPU's cache is the thread that has claimed
 *         it, or else the one that runs there, until its sequence ends or is broken off.
 *     I3  A magazine on the list "full" has len = magazine, on "partial" 0 < len < magazine, on
 *         "empty" len = 0.
 *     I4  next of anything that was ever on a list stays readable as long as the pool.
 */

#include "slab.h"
#include "slab_atomic.h"

#define SLAB_UNIT_SHIFT 4
#define SLAB_LINE 64
/* Records of chunks in the pool's own block; each further room has twice as many. */
#define SLAB_FIRST_ROOM 16
#define SLAB_ROOMS 27
#define SLAB_CHUNK_LEVELS 8
/* Magazines' worth of objects in the cache of an lcore: one comes and goes, one stays. */
#define SLAB_LCORE_MAGAZINES 2

/*
 * How often a taker looks whether an lcore has ended what it is doing: some microseconds in all,
 * since the interrupt of membarrier may have stopped it there. And how often a get looks for
 * objects everywhere: in between they may move to where it has looked before.
 */
#ifndef SLAB_BUSY_LOOKS
#define SLAB_BUSY_LOOKS 500
#define SLAB_GET_ROUNDS 8
#endif

/* What stands first in everything that can be on a list. */
struct slab_link {
	slab_atomic32 next; /* id; read by anybody at any time (I4), so always atomic */
};

struct slab_slab {
	struct slab_link link;
	uint32_t chunk;      /* record of the first object; set before the first bit is */
	slab_atomic64 word;  /* a bit set: this object is free and in the slab (I1) */
};

/* Loaded codes are codes[0] to codes[len - 1]; the last is the one put last. */
struct slab_magazine {
	struct slab_link link;
	slab_atomic32 len; /* written by the holder only (I2); read by counts */
	_Alignas(SLAB_LINE) uint32_t codes[];
};

struct slab_counters {
	slab_atomic64 get_bulks, get_objs, get_fails;
	slab_atomic64 put_bulks, put_objs;
	slab_atomic64 depot_gets, depot_puts;
	slab_atomic64 slab_gets, slab_puts;
	slab_atomic64 node_gets, node_puts;
	slab_atomic64 takes;
};

/*
 * Who may not use the cache of an lcore, or of a CPU. Larger values: slab_cpu.h. A claim says in its low
 * half of which process the thread is.
 */
#define SLAB_SHUT_NOT UINT64_C(0)   /* the lcore itself may */
#define SLAB_SHUT_NEW UINT64_C(2)   /* there is none, or nobody needed it yet */
#define SLAB_SHUT_ALL UINT64_C(3)   /* a CPU's: who claims it may */
#define SLAB_SHUT_TAKEN (UINT64_C(1) << 62) /* another thread has claimed it, or tries to */

static inline bool
slab_shut_is_taken(uint64_t shut)
{
	return shut >> 62 == SLAB_SHUT_TAKEN >> 62;
}

/* The cache of an lcore, which its holder alone touches (I2). */
struct slab_cache {
	slab_atomic32 slabs; /* id of the first of its own partial slabs, or 0; others take it as a hint */
	/* len of them, the last of which is the one put last; from slab_pool.cache on, the aliens. */
	_Alignas(SLAB_LINE) uint64_t offsets[];
};

/* What a state says. Who has the object in his hands writes it, and so it needs no order of its own. */
#define SLAB_STATE_OUT 1
#define SLAB_STATE_FREE 2

/* Who got an object last; a note for people, which nothing relies on. */
struct slab_track {
	slab_atomic64 caller, when; /* an address in the process; nanoseconds */
	slab_atomic32 lcore, process;
};

/* Written by its lcore only, all but shut, len and aliens, and so on lines of its own. */
struct slab_lcore {
	_Alignas(2 * SLAB_LINE) slab_atomic32 len; /* written by the cache's holder only (I2) */
	slab_atomic32 busy;     /* the process whose lcore is inside, or the thread on the CPU */
	slab_atomic64 shut;     /* SLAB_SHUT_..., or a process's key */
	slab_atomic32 cache;    /* id, or 0: no cache (yet) */
	slab_atomic32 aliens;   /* as len, of aliens */
	slab_atomic32 fail_run; /* gets that failed since the last that did not, at most 2^32 - 1 */
	uint32_t node;          /* SLAB_NODE_HERE: not known before the lcore comes */
	struct slab_counters counters;
};

/*
 * A depot's three lists share a line: one operation takes from one and gives to another. The
 * node's lists of slabs have another, apart from those who need no slab.
 */
struct slab_node {
	_Alignas(SLAB_LINE) slab_atomic64 full;
	slab_atomic64 partial;
	slab_atomic64 empty;
	slab_atomic32 nr_full;
	slab_atomic32 fresh;      /* magazines of this depot that were used at some time */
	uint32_t first;           /* id of the depot's first magazine */
	_Alignas(SLAB_LINE) slab_atomic64 slabs[2]; /* free in part, for all that is known */
	slab_atomic64 whole;      /* blocks: all of them free, and in one row */
	slab_atomic32 nr_partial;
	/* All chunks of the node lie from low to high, as bytes from the pool's start, mod 2^64. */
	_Alignas(SLAB_LINE) slab_atomic64 low;
	slab_atomic64 high;
	uint8_t number;           /* the operating system's */
};

/*
 * One row of objects: object i of it lies at
 * base + ((i / per_page) << page_shift) + (i % per_page) * stride.
 * Without pages per_page is UINT32_MAX and page_shift 63.
 */
struct slab_chunk {
	uint64_t base;
	uint32_t first;           /* number of its first object */
	slab_atomic32 count;      /* objects; grows when the next chunk continues this one */
	uint32_t per_page;
	uint8_t page_shift;
	uint8_t node;
	slab_atomic32 next[SLAB_CHUNK_LEVELS]; /* skip list by base: record + 1, or 0 */
	uint32_t pad[2];
};

struct slab_pool {
	/* What get and put read; nobody writes it after the first add. */
	_Alignas(SLAB_POOL_ALIGN) uint32_t magic;
	uint32_t magazine;        /* objects in a magazine */
	uint32_t cache;           /* objects in the cache of an lcore, at most */
	uint32_t put_cache;       /* the same, or 0 when puts have to look for aliens first */
	uint32_t lcores;
	uint32_t direct;          /* those below go straight to their caches: 0 with checks */
	uint64_t base;            /* where offsets count from */
	uint64_t beyond;          /* bits that no offset with a code has */
	uint32_t nodes;
	uint32_t cpus;            /* those below have caches for threads that are no lcores */
	uint8_t shift;            /* log2 of the alignment */
	bool stats;
	bool sequences;           /* threads use them by restartable sequences where they can */

	/* Slow paths. */
	_Alignas(SLAB_LINE) uint32_t stride;
	uint8_t twos;             /* it is 2^twos times an odd number, */
	uint64_t inverse;         /* and that times this is 1, modulo 2^64 */
	slab_atomic64 main_chunk; /* the one with the most objects, as bytes from the pool's start */
	uint32_t objects;         /* what the pool is for */
	uint32_t nr_slabs;
	uint32_t depot;           /* magazines in each depot */
	uint32_t magazine_units;  /* units that one takes */
	uint32_t nodes_id, slabs_id, user_id;
	uint32_t states_id;       /* 0: without checks */
	uint32_t tracks_id;       /* 0: nobody keeps track */
	uint32_t caches_id;       /* of the first cache */
	uint32_t cache_units;
	uint32_t object_size;     /* what is poisoned of it while it is free */
	bool abort_on_fault;
	bool lcore_caches;        /* those of lcores come first; otherwise lcores have none */
	slab_atomic32 added;      /* objects */
	slab_atomic32 numbers;    /* numbers given, those that stay unused included */
	slab_atomic32 nr_chunks;
	slab_atomic32 lcores_open; /* no lcore from this number on has a cache yet */
	slab_atomic32 cpus_open;  /* and no CPU from this one on */
	slab_atomic32 depot_most; /* full magazines that a depot may have at present */
	slab_atomic32 min_partial;
	slab_atomic32 lcore_partial; /* slabs that an lcore takes from its node's list at once */
	slab_atomic32 mixed;      /* chunks of different nodes lie between one another */
	slab_atomic64 faults[SLAB_FAULTS];
	slab_atomic32 by_base[SLAB_CHUNK_LEVELS]; /* heads of the skip list */
	uint64_t rooms[SLAB_ROOMS];
	char name[SLAB_NAME_SIZE];
};

_Static_assert(sizeof(struct slab_slab) == 1 << SLAB_UNIT_SHIFT, "a slab is one unit");
_Static_assert(sizeof(struct slab_chunk) == SLAB_LINE, "a chunk's record is one line");
_Static_assert(sizeof(struct slab_lcore) == 2 * SLAB_LINE, "an lcore has a pair of lines");
_Static_assert(SLAB_MAX_NODES <= UINT8_MAX, "a node fits in a byte");

static inline void *
slab_at(const struct slab_pool *pool, uint32_t id)
{
	return (char *)(uintptr_t)pool + ((size_t)id << SLAB_UNIT_SHIFT);
}

static inline uint32_t
slab_id(const struct slab_pool *pool, const void *what)
{
	return (uint32_t)(((uintptr_t)what - (uintptr_t)pool) >> SLAB_UNIT_SHIFT);
}

/* The address that offset 0 stands for. */
static inline uintptr_t
slab_base(const struct slab_pool *pool)
{
	return (uintptr_t)pool + (uintptr_t)pool->base;
}

static inline struct slab_lcore *
slab_lcores(const struct slab_pool *pool)
{
	return slab_at(pool, sizeof(*pool) >> SLAB_UNIT_SHIFT);
}

/* For threads that are no lcores the one of the first node stands for all of theirs. */
static inline struct slab_lcore *
slab_lcore_at(const struct slab_pool *pool, uint32_t lcore)
{
	return slab_lcores(pool) + (lcore < pool->lcores ? lcore : pool->lcores);
}

static inline struct slab_lcore *
slab_no_lcore_at(const struct slab_pool *pool, uint32_t node)
{
	return slab_lcore_at(pool, SLAB_NO_LCORE) + node;
}

static inline struct slab_lcore *
slab_cpu_at(const struct slab_pool *pool, uint32_t cpu)
{
	return slab_no_lcore_at(pool, pool->nodes) + cpu;
}

static inline struct slab_node *
slab_node_at(const struct slab_pool *pool, uint32_t node)
{
	return (struct slab_node *)slab_at(pool, pool->nodes_id) + node;
}

/* What has no node of the pool counts as of the first one. */
static inline uint32_t
slab_known_node(const struct slab_pool *pool, uint32_t node)
{
	return node < pool->nodes ? node : 0;
}

static inline struct slab_slab *
slab_slab_at(const struct slab_pool *pool, uint32_t slab)
{
	return slab_at(pool, pool->slabs_id + slab);
}

#endif /* SLAB_TYPES_H */
