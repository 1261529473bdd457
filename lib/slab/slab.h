/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef SLAB_H
#define SLAB_H

/**
 * @file
 * A pool of equal objects in four layers: lcore caches, a depot of magazines, lists of partial
 * slabs, and slabs of 64 objects (Bonwick and Adams, "Magazines and Vmem", USENIX 2001; Linux
 * mm/slub.c for partial slabs, min_partial and their names).
 *
 * The library calls nothing but the C library. Memory, the node of each chunk, the node of each
 * lcore and the number of lcores come from the caller. The pool's own state is one block that
 * holds no address, only offsets from its start, so that several processes may map it, at
 * different addresses, as long as the objects move along with it.
 *
 * Which calls may run at once, on one pool:
 *
 *                        get, put   count, stats   add, room_give   tune   init
 *     get, put             yes¹         yes             yes          yes    no
 *     count, stats         yes          yes             yes          yes    no
 *     add, room_give       yes          yes             no           yes    no
 *     tune                 yes          yes             yes          yes    no
 *
 *     ¹ Each lcore number may be used by one thread at a time. SLAB_NO_LCORE is for any number
 *       of threads at once.
 *
 * Example, a pool of 1000 buffers of 2 KiB over malloc:
 *
 *     struct slab_conf conf = { .name = "demo", .objects = 1000, .stride = 2048, .align = 64,
 *                               .lcores = 4, .lcore_cache = true };
 *     void *state = aligned_alloc(SLAB_POOL_ALIGN, slab_pool_size(&conf));
 *     memset(state, 0, slab_pool_size(&conf));
 *     struct slab_pool *pool = slab_pool_init(state, &conf);
 *     struct slab_range all = { .base = aligned_alloc(64, 1000 * 2048), .count = 1000 };
 *     slab_pool_add(pool, &all);
 *
 *     void *burst[32];
 *     if (slab_get(pool, 0, burst, 32) == 0)
 *             slab_put(pool, 0, burst, 32);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Alignment in bytes of the block that holds a pool. */
#define SLAB_POOL_ALIGN 128
/** Objects in a slab: one bit each in one word. */
#define SLAB_OBJECTS 64
/** The largest pool, in objects. */
#define SLAB_MAX_OBJECTS (UINT32_C(1) << 31)
/**
 * The largest magazine, in objects, and the default one where the pool is large enough; without
 * lcore caches it is twice that.
 */
#define SLAB_MAX_MAGAZINE 4096
#define SLAB_DEFAULT_MAGAZINE 256
/** The largest number of partial slabs that an lcore takes at once. */
#define SLAB_MAX_LCORE_PARTIAL 64
/** The largest numbers of lcores, and of CPUs. */
#define SLAB_MAX_CPUS (UINT32_C(1) << 20)
/** The largest number of nodes. */
#define SLAB_MAX_NODES 32
/** The node of an lcore that will show by itself. */
#define SLAB_NODE_HERE UINT8_MAX
/** Let the library choose. */
#define SLAB_AUTO UINT32_MAX
/** The lcore of a thread that has no number of its own. */
#define SLAB_NO_LCORE UINT32_MAX
/** Bytes of a pool's name, with the final zero. */
#define SLAB_NAME_SIZE 32

struct slab_pool;

/** How threads that are no lcores get and put. */
enum slab_thread_cache {
	SLAB_THREADS_RSEQ, /**< Through a cache for each CPU, by restartable sequences, rseq(2), as the
			    *   C library registers them; in processes that lack them as LOCK. */
	SLAB_THREADS_LOCK, /**< Through a cache for each CPU; a thread that finds another one in it
			    *   does without. */
	SLAB_THREADS_OFF,  /**< Straight from and to depot and slabs. */
};

/** What a pool is made for. */
struct slab_conf {
	const char *name;          /**< For messages; cut at SLAB_NAME_SIZE - 1. NULL: none. */
	uint32_t objects;          /**< 1 to SLAB_MAX_OBJECTS. */
	uint32_t stride;           /**< Bytes from an object to the next, at least 1. */
	uint32_t align;            /**< Power of two that divides stride and every address. */
	uint32_t lcores;           /**< Lcore numbers are below this. */
	uint32_t active_lcores;    /**< Lcores expected to work; 0: one. */
	uint32_t nodes;            /**< 1 to SLAB_MAX_NODES; 0: one. */
	const uint8_t *lcore_node; /**< Node of each lcore; NULL or any that is not below
				    *   nodes: node 0. SLAB_NODE_HERE: that of the CPU where it
				    *   is when it first gets or puts. */
	const uint8_t *node_number; /**< What the operating system calls each node, for threads that
				    *   are no lcores; NULL: node i is i. */
	bool lcore_cache;          /**< Give each lcore a cache of two magazines' worth, if
				    *   slab_lcore_cache_possible() and the pool has at least 64
				    *   objects for each active lcore, or magazine is set. */
	uint32_t cpus;             /**< Threads that are no lcores have caches on CPUs below this, as
				    *   large as those of lcores, if the pool has at least 64 objects
				    *   for each active lcore, or magazine is set. */
	enum slab_thread_cache thread_cache; /**< How they use them. */
	bool stats;                /**< Count what each lcore does. */
	bool check;                /**< Look at each object at every get and put: is it one, and is it
				    *   free, or in use? Takes a byte for each object. */
	bool track;                /**< Note who got each object last; with check only. Takes 24 bytes
				    *   for each object. */
	uint32_t object_size;      /**< With check, in a program built with AddressSanitizer: bytes of an
				    *   object that may not be touched between a put and a get. */
	bool abort_on_fault;       /**< abort() when the handler of a fault returns. */
	uint32_t magazine;         /**< Objects in a magazine, 1 to SLAB_MAX_MAGAZINE; 0: choose. */
	uint32_t user_size;        /**< Bytes for the caller's own use, see slab_pool_user(). */
	uint32_t depot;            /**< Magazines that each node's depot holds; SLAB_AUTO. */
	uint32_t lcore_partial;    /**< Partial slabs that an lcore with a cache takes from its node at
				    *   once, to have the next at hand; 0: none. */
	uint32_t min_partial;      /**< Slabs' worth of free objects that a node keeps from the lcores
				    *   of others as long as those find any elsewhere; SLAB_AUTO. */
};

/** Objects that lie in a row. */
struct slab_range {
	void *base;        /**< The first object. */
	uint32_t count;    /**< Objects. */
	uint32_t per_page; /**< Objects in a page where none may cross a page; 0: no pages. */
	size_t page;       /**< Bytes from the first object in a page to the first in the next: a
			    *   power of two; ignored where per_page is 0. */
	uint32_t node;     /**< Node of the memory; node 0 where it is not below slab_conf.nodes. */
};

/** What one lcore did since the pool was made; objects unless said otherwise. */
struct slab_stats {
	uint64_t get_bulks;   /**< Gets that succeeded. */
	uint64_t get_objs;    /**< Objects that they got. */
	uint64_t get_fails;   /**< Gets that found too few objects. */
	uint64_t put_bulks;   /**< Puts. */
	uint64_t put_objs;    /**< Objects put. */
	uint64_t depot_gets;  /**< Magazines taken from a depot with objects in them. */
	uint64_t depot_puts;  /**< Magazines taken from a depot for their room. */
	uint64_t slab_gets;   /**< Slabs emptied into a get. */
	uint64_t slab_puts;   /**< Times that objects went to slabs because the depot was full. */
	uint64_t node_gets;   /**< Times that objects came from another node. */
	uint64_t node_puts;   /**< Times that objects went home to another node. */
	uint64_t takes;       /**< Times that objects were taken from another lcore's cache. */
};

/** What can be wrong with an object that is put, or that a get finds. */
enum slab_fault {
	SLAB_FAULT_FOREIGN, /**< Not in the memory of this pool's objects. */
	SLAB_FAULT_INSIDE,  /**< In an object's memory, or just before or behind it, but not its
			     *   first byte. */
	SLAB_FAULT_DOUBLE,  /**< Put, but free already. */
	SLAB_FAULT_IN_USE,  /**< Got, but in use already: it was put twice, by two threads at once or
			     *   before anybody looked. Only with slab_conf.check. */
};
/** How many there are. */
#define SLAB_FAULTS 4

/** What is wrong, as a few words to follow "is". */
const char *
slab_fault_text(enum slab_fault fault);

/**
 * Called in the process and the thread that came upon the bad object; the object is dropped. With
 * slab_conf.check that is the one that put it; otherwise it may be any that comes across it later.
 * Must not get from or put to the pool.
 *
 * @param nth
 *   How many faults of this kind the pool has seen, this one included.
 */
typedef void (*slab_fault_handler)(const struct slab_pool *pool, const void *obj,
	enum slab_fault fault, uint64_t nth);

/**
 * Set this process's handler of faults, for all pools; NULL brings back the default, which
 * writes one line to stderr. Not thread-safe.
 */
void
slab_set_fault_handler(slab_fault_handler handler);

/**
 * Let this process use no vectors wider than so many bits; 0: no limit, as at the start. Not to be
 * called while other threads get or put.
 */
void
slab_set_simd_bits(unsigned int bits);

/**
 * Whether lcores can have caches here. It takes the system call membarrier(2), by which a thread
 * that finds the pool empty gets at the caches of others; without it pools work without caches.
 */
bool
slab_lcore_cache_possible(void);

/**
 * The bytes that the state of a pool takes.
 *
 * @return
 *   Bytes, or 0 when the configuration is out of range or would take over 16 GiB.
 */
size_t
slab_pool_size(const struct slab_conf *conf);

/**
 * Make an empty pool.
 *
 * @param mem
 *   slab_pool_size() bytes, all zero, aligned to SLAB_POOL_ALIGN. The pool is there; the caller
 *   frees it when no thread uses the pool any more.
 * @return
 *   The pool, at the address mem, or NULL when the configuration is out of range.
 */
struct slab_pool *
slab_pool_init(void *mem, const struct slab_conf *conf);

/** First word of every pool; its low half is the version of the layout. */
#define SLAB_POOL_MAGIC UINT32_C(0x51ab0001)

/**
 * Whether this is a pool that this version of the library made. Reads the first 4 bytes only.
 */
static inline bool
slab_pool_valid(const void *pool)
{
	return *(const uint32_t *)pool == SLAB_POOL_MAGIC;
}

/**
 * The name from slab_conf.name, or an empty string.
 */
const char *
slab_pool_name(const struct slab_pool *pool);

/**
 * Objects in one magazine, magazines in each depot, and nodes: as chosen.
 */
uint32_t
slab_pool_magazine(const struct slab_pool *pool);
uint32_t
slab_pool_depot(const struct slab_pool *pool);
uint32_t
slab_pool_nodes(const struct slab_pool *pool);

/**
 * How the threads of this process that are no lcores get and put: slab_conf.thread_cache, or what is
 * left of it where the process has no restartable sequences, or the pool has no caches. Thread-safe.
 */
enum slab_thread_cache
slab_pool_thread_cache(const struct slab_pool *pool);

/**
 * Whether gets and puts look at each object, and note who got it.
 */
bool
slab_pool_checks(const struct slab_pool *pool);
bool
slab_pool_tracks(const struct slab_pool *pool);

/**
 * The slab_conf.user_size bytes that belong to the caller: aligned to 64, all zero at first, and
 * mapped with the pool.
 */
void *
slab_pool_user(const struct slab_pool *pool);

/**
 * Put a row of objects under the pool's care; at once they can be got by everybody.
 * One thread at a time; gets and puts may run. The memory of the objects is never touched.
 *
 * @return
 *   The number of objects added: less than range->count when the pool is for no more objects, or
 *   0 when it wants room first, see slab_pool_room_wanted().
 */
uint32_t
slab_pool_add(struct slab_pool *pool, const struct slab_range *range);

/**
 * Lay objects out in memory as rte_mempool does: one after the other, none across a page.
 *
 * @param out
 *   Receives up to two ranges, to be added in this order: the rest of the first page, and what
 *   begins at a page.
 * @param start
 *   First byte of the memory.
 * @param len
 *   Bytes of it.
 * @param stride
 *   Bytes that an object takes with all that surrounds it.
 * @param lead
 *   Bytes of them before the object itself.
 * @param page
 *   Bytes of a page, a power of two, or 0 when objects may lie across pages. Objects larger than
 *   a page always may.
 * @param max
 *   Objects at most.
 * @return
 *   Ranges written: 0 when nothing fits.
 */
unsigned int
slab_range_plan(struct slab_range out[2], void *start, size_t len, uint32_t stride, uint32_t lead,
	size_t page, uint32_t max);

/**
 * Address of an object of a range.
 *
 * @param i
 *   Below range->count.
 */
void *
slab_range_object(const struct slab_range *range, uint32_t stride, uint32_t i);

/**
 * The pool remembers each range in a record and has room for a few records to begin with.
 *
 * @return
 *   0 when the next slab_pool_add() finds room; otherwise the bytes to give first.
 */
size_t
slab_pool_room_wanted(const struct slab_pool *pool);

/**
 * Give the room that slab_pool_room_wanted() asked for: zeroed, aligned to SLAB_POOL_ALIGN, mapped
 * where the pool is mapped, and left there as long as the pool. One thread at a time; gets and
 * puts may run.
 */
void
slab_pool_room_give(struct slab_pool *pool, void *mem);

/**
 * The i-th room that was given, to free it after the pool's end.
 *
 * @return
 *   Its address, or NULL when fewer were given.
 */
void *
slab_pool_room(const struct slab_pool *pool, unsigned int i);

/**
 * Get n objects, those put last by this lcore first. Thread-safe as the table above says; needs
 * no other thread to go on.
 *
 * @param lcore
 *   The caller's lcore number; SLAB_NO_LCORE, or any number that is not below slab_conf.lcores,
 *   is for threads that have none: they use the cache of the CPU on which they run. Then it may
 *   be called in signal handlers as well, and while another get or put of the thread is
 *   interrupted.
 * @param objs
 *   Receives n addresses.
 * @param n
 *   Any number; 0 does nothing.
 * @return
 *   - 0: n objects were got.
 *   - -ENOBUFS: there are fewer; nothing was got. Objects that rest in the caches of other lcores
 *     are taken from there. An lcore inside a get or put is looked at for some microseconds, then
 *     passed over.
 */
int
slab_get(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n);

/**
 * Put n objects back. Never fails and never waits for another thread; needs no memory.
 * Thread-safe as the table above says. What is no object of this pool, or free already, is
 * reported to the fault handler and dropped, and the others are put. With slab_conf.check that is seen
 * here and now; without, always when it lies out of the pool's reach or off its alignment, otherwise
 * when it gets to its slab.
 *
 * @param lcore
 *   As in slab_get().
 * @return
 *   0.
 */
int
slab_put(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n);

/**
 * Get n blocks: each is SLAB_OBJECTS objects that lie in a row, stride by stride, none across a page
 * where the pool has pages. Each of their objects is put back as any other, alone or with others.
 * Thread-safe as get; needs no other thread to go on.
 *
 * Blocks are slabs with all objects free. If there are too few, all free objects first go back to
 * their slabs, from depots and lcore caches: this takes time in the order of the pool's size, and
 * after it every free slab can be had, whatever came before.
 *
 * @param lcore
 *   As in slab_get().
 * @param first
 *   Receives the address of the first object of each block.
 * @return
 *   0 when n blocks were got, or -ENOBUFS when there are fewer, and nothing was got.
 */
int
slab_get_blocks(struct slab_pool *pool, uint32_t lcore, void **first, unsigned int n);

/**
 * Whether any block can ever be had: some SLAB_OBJECTS objects that make a slab lie in a row.
 * Thread-safe.
 */
bool
slab_pool_has_blocks(const struct slab_pool *pool);

/** What can be set while the pool is in use; at first as slab_conf has it. */
enum slab_tunable {
	/**
	 * As slab_conf.min_partial: slabs' worth of free objects that a node keeps from the lcores
	 * of others. Slabs, 0 to SLAB_AUTO - 1.
	 */
	SLAB_TUNABLE_MIN_PARTIAL,
	/**
	 * Magazines that may be full in each node's depot. Magazines, 0 to slab_pool_depot(). What
	 * is over a lower limit goes to its slabs before the call returns; threads that put at
	 * that moment may still bring one magazine each.
	 */
	SLAB_TUNABLE_DEPOT,
	/**
	 * As slab_conf.lcore_partial: partial slabs that an lcore takes at once. Slabs, 0 to
	 * SLAB_MAX_LCORE_PARTIAL. What lcores have under a larger value they use up.
	 */
	SLAB_TUNABLE_LCORE_PARTIAL,
};

/**
 * The value of a tunable, and the largest that it can be set to. Thread-safe.
 */
uint32_t
slab_pool_tunable(const struct slab_pool *pool, enum slab_tunable which);
uint32_t
slab_pool_tunable_most(const struct slab_pool *pool, enum slab_tunable which);

/**
 * Set a tunable, in all processes that have the pool. Any number of threads at once, lcores or
 * not: one of their values stays. Makes nobody wait and waits for nobody. While objects go to their
 * slabs, up to a magazine of them is in this thread's hands, as in a put.
 *
 * @return
 *   - 0: set.
 *   - -ERANGE: value is above slab_pool_tunable_most(); nothing was changed.
 */
int
slab_pool_tune(struct slab_pool *pool, enum slab_tunable which, uint32_t value);

/**
 * After a process was killed while its threads got or put: get back what is in caches that it left shut
 * to others. Everybody may go on meanwhile. What was in its hands, between one place and
 * another, stays lost: slab_reclaim.c says how much that is. What it had got, it has.
 *
 * All processes that use the pool have to see each other in /proc, that is, be in one PID
 * namespace; without /proc nothing is got back. A process that runs is left alone.
 *
 * @param process
 *   The number of one that has ended; 0: of all that have.
 * @return
 *   Objects that can be had again.
 */
uint32_t
slab_pool_reclaim(struct slab_pool *pool, uint32_t process);

/**
 * Free objects, wherever they are. Exact when no thread gets, puts or tunes; else near.
 * Thread-safe. Takes time linear in the number of slabs.
 */
uint32_t
slab_pool_count(const struct slab_pool *pool);

/** Where free objects are. */
enum slab_place {
	SLAB_PLACE_SLABS, /**< Of a node. */
	SLAB_PLACE_DEPOT, /**< Of a node. */
	SLAB_PLACE_LCORE, /**< The cache of an lcore. */
	SLAB_PLACE_CPU,   /**< The cache of a CPU, for threads that are no lcores. */
};
/** How many there are. */
#define SLAB_PLACES 4

/** Where all objects are; each is counted once. */
struct slab_audit {
	uint32_t objects;           /**< Added. */
	uint32_t free[SLAB_PLACES]; /**< By place. */
	uint32_t out;               /**< In use. */
	uint32_t lost;              /**< Neither free in any place nor in use, as after a kill: they are
				     *   told from those in use by slab_conf.check only. */
	uint32_t twice;             /**< Found free in a second place as well. */
};

/** Who got an object last; with slab_conf.track, or all zero and SLAB_NO_LCORE. */
struct slab_getter {
	uint64_t caller;  /**< Address of the code that called, in its process. */
	uint64_t when;    /**< Nanoseconds of CLOCK_MONOTONIC, to some milliseconds. */
	uint32_t lcore;   /**< SLAB_NO_LCORE: a thread that is none. */
	uint32_t process; /**< Its number. */
};

/** Called for each place that has objects: which node, lcore or CPU, and how many. */
typedef void (*slab_audit_visit)(void *arg, enum slab_place place, uint32_t which, uint32_t n);

/** Called for each object that is in use. */
typedef void (*slab_audit_out)(void *arg, void *obj, const struct slab_getter *last);

/**
 * Look where each object is. Exact when no thread gets, puts, tunes or adds; else near: objects on
 * their way can be missed, and count as in use then, or as lost. Thread-safe. Takes time linear in the
 * number of objects, and a bit of memory for each.
 *
 * @param visit
 *   Or NULL.
 * @param visit_out
 *   Or NULL.
 * @return
 *   0, or -ENOMEM.
 */
int
slab_pool_audit(const struct slab_pool *pool, struct slab_audit *sum, slab_audit_visit visit,
	slab_audit_out visit_out, void *arg);

/**
 * Objects added so far, free or not. Thread-safe.
 */
uint32_t
slab_pool_added(const struct slab_pool *pool);

/**
 * Faults seen so far: all, or of one kind. Thread-safe.
 */
uint64_t
slab_pool_faults(const struct slab_pool *pool);
uint64_t
slab_pool_faults_of(const struct slab_pool *pool, enum slab_fault fault);

/**
 * How many gets failed one after the other, since the last that succeeded, on this lcore.
 * Thread-safe; exact for the lcore itself.
 *
 * @param lcore
 *   As in slab_get().
 */
uint64_t
slab_pool_fail_run(const struct slab_pool *pool, uint32_t lcore);

/**
 * Read the counts of one lcore. Thread-safe; all zero unless slab_conf.stats is set.
 *
 * @param lcore
 *   As in slab_get(). The threads that are no lcores share one set, in which counts that two of
 *   them make at the same moment may get lost.
 */
void
slab_pool_stats(const struct slab_pool *pool, uint32_t lcore, struct slab_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* SLAB_H */
