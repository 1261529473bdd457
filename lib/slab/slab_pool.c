/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "slab_lcore.h"

/* Objects in the smallest magazine that a pool gets unasked: one line of codes. */
#define SLAB_LEAST_MAGAZINE 16

/* Where the parts of a pool lie, in units from its start; all lines are whole. */
struct layout {
	uint32_t magazine, depot, nodes, nr_slabs, magazine_units, cache_units;
	uint32_t lcore_caches, cpu_caches;
	uint64_t nodes_id, slabs_id, states_id, tracks_id, chunks_id, caches_id, user_id, depots_id, end;
};

static uint64_t
units(uint64_t bytes)
{
	return (bytes + SLAB_LINE - 1) / SLAB_LINE * (SLAB_LINE >> SLAB_UNIT_SHIFT);
}

/* Caches of the lcores that work shall not hold more than half of a small pool. */
static uint32_t
share_of_magazine(const struct slab_conf *conf)
{
	uint32_t active = conf->active_lcores == 0 ? 1 : conf->active_lcores;

	return conf->objects / (2 * SLAB_LCORE_MAGAZINES) / active;
}

static uint32_t
default_magazine(const struct slab_conf *conf)
{
	uint32_t share = share_of_magazine(conf);
	/* Without lcore caches bulks are large, and each magazine costs two exchanges. */
	uint32_t most = conf->lcore_cache ? SLAB_DEFAULT_MAGAZINE : 2 * SLAB_DEFAULT_MAGAZINE;

	if (share >= most)
		return most;
	return share < SLAB_LEAST_MAGAZINE ? SLAB_LEAST_MAGAZINE :
		share / SLAB_LEAST_MAGAZINE * SLAB_LEAST_MAGAZINE;
}

/*
 * A pool too small for magazines worth the name does without caches, unless it is asked for
 * magazines: its users count every object.
 */
static bool
wants_caches(const struct slab_conf *conf)
{
	return conf->magazine != 0 || share_of_magazine(conf) >= SLAB_LEAST_MAGAZINE;
}

/* All depots together hold every object, and a few magazines are partial. */
static uint32_t
default_depot(const struct slab_conf *conf, const struct layout *at)
{
	uint32_t full = (conf->objects + at->magazine - 1) / at->magazine;

	return (full + at->nodes - 1) / at->nodes + 4;
}

static bool
in_range(const struct slab_conf *conf)
{
	return conf->objects >= 1 && conf->objects <= SLAB_MAX_OBJECTS && conf->stride >= 1 &&
		conf->align >= 1 && (conf->align & (conf->align - 1)) == 0 &&
		conf->stride % conf->align == 0 && conf->lcores <= SLAB_MAX_CPUS && conf->cpus <= SLAB_MAX_CPUS &&
		conf->thread_cache <= SLAB_THREADS_OFF && conf->nodes <= SLAB_MAX_NODES &&
		conf->lcore_partial <= SLAB_MAX_LCORE_PARTIAL && conf->magazine <= SLAB_MAX_MAGAZINE &&
		(conf->check || !conf->track);
}

static bool
lay_out(const struct slab_conf *conf, struct layout *at)
{
	uint64_t numbers;

	if (!in_range(conf))
		return false;
	at->lcore_caches = conf->lcore_cache && slab_lcore_cache_possible() && wants_caches(conf) ?
		conf->lcores : 0;
	at->cpu_caches = conf->thread_cache != SLAB_THREADS_OFF && wants_caches(conf) ? conf->cpus : 0;
	at->nodes = conf->nodes == 0 ? 1 : conf->nodes;
	at->magazine = conf->magazine == 0 ? default_magazine(conf) : conf->magazine;
	at->depot = conf->depot == SLAB_AUTO ? default_depot(conf, at) : conf->depot;
	/* Where the chunks of one node end and those of another begin, part of a slab is lost. */
	at->nr_slabs = (conf->objects + SLAB_OBJECTS - 1) / SLAB_OBJECTS + 4 * (at->nodes - 1);
	numbers = (uint64_t)at->nr_slabs * SLAB_OBJECTS;
	at->magazine_units = (uint32_t)units(sizeof(struct slab_magazine) +
		at->magazine * sizeof(uint32_t));
	/* Of a cache, and of the aliens behind it. */
	at->cache_units = (uint32_t)units(sizeof(struct slab_cache) +
		(SLAB_LCORE_MAGAZINES + (at->nodes > 1)) * at->magazine * sizeof(uint64_t));
	at->nodes_id = units(sizeof(struct slab_pool)) +
		units(((uint64_t)conf->lcores + at->nodes + at->cpu_caches) *
			sizeof(struct slab_lcore));
	at->slabs_id = at->nodes_id + units(at->nodes * sizeof(struct slab_node));
	at->states_id = at->slabs_id + units(at->nr_slabs * sizeof(struct slab_slab));
	at->tracks_id = at->states_id + (conf->check ? units(numbers * sizeof(slab_atomic8)) : 0);
	at->chunks_id = at->tracks_id + (conf->track ? units(numbers * sizeof(struct slab_track)) : 0);
	at->caches_id = at->chunks_id + units(SLAB_FIRST_ROOM * sizeof(struct slab_chunk));
	at->user_id = at->caches_id +
		((uint64_t)at->lcore_caches + at->cpu_caches) * at->cache_units;
	at->depots_id = at->user_id + units(conf->user_size);
	at->end = at->depots_id + (uint64_t)at->nodes * at->depot * at->magazine_units;
	return at->end < UINT64_C(1) << 30;
}

size_t
slab_pool_size(const struct slab_conf *conf)
{
	struct layout at;

	if (!lay_out(conf, &at))
		return 0;
	/* A whole multiple of the alignment, as aligned_alloc() wants it. */
	return (((size_t)at.end << SLAB_UNIT_SHIFT) + SLAB_POOL_ALIGN - 1) &
		~(size_t)(SLAB_POOL_ALIGN - 1);
}

/* As Linux mm/slub.c: half the log2 of the size, within limits; bigger objects keep more. */
static uint32_t
default_min_partial(uint32_t stride)
{
	uint32_t half = (31 - (uint32_t)__builtin_clz(stride)) / 2;

	return half < 5 ? 5 : half > 10 ? 10 : half;
}

/* What gives 1 with an odd number, modulo 2^64: each of Newton's steps doubles the bits that do. */
static uint64_t
inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;
	int bits;

	for (bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

static void
init_nodes(struct slab_pool *pool, const struct slab_conf *conf, const struct layout *at)
{
	struct slab_node *node;
	uint32_t i;

	for (i = 0; i < pool->nodes; i++) {
		node = slab_node_at(pool, i);
		node->first = (uint32_t)at->depots_id + i * pool->depot * pool->magazine_units;
		node->number = conf->node_number != NULL ? conf->node_number[i] : (uint8_t)i;
	}
}

static void
init_lcores(struct slab_pool *pool, const struct slab_conf *conf)
{
	struct slab_lcore *lc;
	uint32_t i;

	for (i = 0; i < pool->lcores + pool->nodes + pool->cpus; i++) {
		lc = slab_lcores(pool) + i;
		slab_store_relaxed(&lc->shut, SLAB_SHUT_NEW);
		if (i >= pool->lcores)
			lc->node = slab_known_node(pool, i - pool->lcores);
		else if (conf->lcore_node != NULL)
			lc->node = pool->nodes > 1 && conf->lcore_node[i] == SLAB_NODE_HERE ?
				SLAB_NODE_HERE : slab_known_node(pool, conf->lcore_node[i]);
	}
}

struct slab_pool *
slab_pool_init(void *mem, const struct slab_conf *conf)
{
	struct slab_pool *pool = mem;
	struct layout at;

	if (!lay_out(conf, &at))
		return NULL;
	pool->magazine = at.magazine;
	pool->cache = SLAB_LCORE_MAGAZINES * at.magazine;
	pool->put_cache = at.nodes == 1 ? pool->cache : 0;
	pool->lcores = conf->lcores;
	pool->direct = conf->check ? 0 : conf->lcores;
	pool->nodes = at.nodes;
	pool->cpus = at.cpu_caches;
	pool->sequences = conf->thread_cache == SLAB_THREADS_RSEQ;
	pool->shift = (uint8_t)__builtin_ctz(conf->align);
	pool->beyond = ~((uint64_t)UINT32_MAX << pool->shift);
	pool->stats = conf->stats;
	pool->stride = conf->stride;
	pool->twos = (uint8_t)__builtin_ctz(conf->stride);
	pool->inverse = inverse_of(conf->stride >> pool->twos);
	pool->objects = conf->objects;
	pool->nr_slabs = at.nr_slabs;
	pool->depot = at.depot;
	pool->magazine_units = at.magazine_units;
	pool->nodes_id = (uint32_t)at.nodes_id;
	pool->slabs_id = (uint32_t)at.slabs_id;
	pool->user_id = (uint32_t)at.user_id;
	pool->states_id = conf->check ? (uint32_t)at.states_id : 0;
	pool->tracks_id = conf->track ? (uint32_t)at.tracks_id : 0;
	slab_store_relaxed(&pool->depot_most, at.depot);
	slab_store_relaxed(&pool->lcore_partial, conf->lcore_partial);
	slab_store_relaxed(&pool->min_partial, conf->min_partial == SLAB_AUTO ?
		default_min_partial(conf->stride) : conf->min_partial);
	pool->caches_id = (uint32_t)at.caches_id;
	pool->object_size = conf->object_size;
	pool->abort_on_fault = conf->abort_on_fault;
	pool->lcore_caches = at.lcore_caches != 0;
	pool->cache_units = at.cache_units;
	pool->rooms[0] = at.chunks_id << SLAB_UNIT_SHIFT;
	slab_store_relaxed(&pool->main_chunk, pool->rooms[0]);
	if (conf->name != NULL)
		strncpy(pool->name, conf->name, sizeof(pool->name) - 1);
	init_nodes(pool, conf, &at);
	init_lcores(pool, conf);
	pool->magic = SLAB_POOL_MAGIC;
	return pool;
}

const char *
slab_pool_name(const struct slab_pool *pool)
{
	return pool->name;
}

uint32_t
slab_pool_magazine(const struct slab_pool *pool)
{
	return pool->magazine;
}

uint32_t
slab_pool_depot(const struct slab_pool *pool)
{
	return pool->depot;
}

uint32_t
slab_pool_nodes(const struct slab_pool *pool)
{
	return pool->nodes;
}

bool
slab_pool_checks(const struct slab_pool *pool)
{
	return pool->states_id != 0;
}

bool
slab_pool_tracks(const struct slab_pool *pool)
{
	return pool->tracks_id != 0;
}

void *
slab_pool_user(const struct slab_pool *pool)
{
	return slab_at(pool, pool->user_id);
}

uint32_t
slab_pool_added(const struct slab_pool *pool)
{
	return slab_load_relaxed(&pool->added);
}

uint64_t
slab_pool_faults_of(const struct slab_pool *pool, enum slab_fault fault)
{
	return slab_load_relaxed(&pool->faults[fault]);
}

uint64_t
slab_pool_faults(const struct slab_pool *pool)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < SLAB_FAULTS; i++)
		sum += slab_load_relaxed(&pool->faults[i]);
	return sum;
}

uint64_t
slab_pool_fail_run(const struct slab_pool *pool, uint32_t lcore)
{
	return slab_load_relaxed(&slab_lcore_at(pool, lcore)->fail_run);
}

static void
add_stats(const struct slab_counters *c, struct slab_stats *stats)
{
	stats->get_bulks += slab_load_relaxed(&c->get_bulks);
	stats->get_objs += slab_load_relaxed(&c->get_objs);
	stats->get_fails += slab_load_relaxed(&c->get_fails);
	stats->put_bulks += slab_load_relaxed(&c->put_bulks);
	stats->put_objs += slab_load_relaxed(&c->put_objs);
	stats->depot_gets += slab_load_relaxed(&c->depot_gets);
	stats->depot_puts += slab_load_relaxed(&c->depot_puts);
	stats->slab_gets += slab_load_relaxed(&c->slab_gets);
	stats->slab_puts += slab_load_relaxed(&c->slab_puts);
	stats->node_gets += slab_load_relaxed(&c->node_gets);
	stats->node_puts += slab_load_relaxed(&c->node_puts);
	stats->takes += slab_load_relaxed(&c->takes);
}

void
slab_pool_stats(const struct slab_pool *pool, uint32_t lcore, struct slab_stats *stats)
{
	const struct slab_lcore *lc = slab_lcore_at(pool, lcore);
	uint32_t n = lcore < pool->lcores ? 1 : pool->nodes + pool->cpus;

	*stats = (struct slab_stats){ 0 };
	for (; n != 0; n--)
		add_stats(&lc++->counters, stats);
}

/* Objects in a row of magazines. */
static uint64_t
count_magazines(const struct slab_pool *pool, uint32_t first, uint32_t n)
{
	const struct slab_magazine *m;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		m = slab_at(pool, first + i * pool->magazine_units);
		sum += slab_load_relaxed(&m->len);
	}
	return sum;
}

static uint64_t
count_caches(const struct slab_pool *pool)
{
	uint32_t open = slab_lcores_open(pool), i;
	const struct slab_lcore *lc;
	uint64_t sum = 0;

	for (i = 0; i < open; i++) {
		lc = slab_lcore_open_at(pool, i);
		sum += slab_load_relaxed(&lc->len) + slab_load_relaxed(&lc->aliens);
	}
	return sum;
}

static uint64_t
count_slabs(const struct slab_pool *pool)
{
	uint32_t n = (slab_load_relaxed(&pool->numbers) + SLAB_OBJECTS - 1) / SLAB_OBJECTS, i;
	uint64_t sum = 0;

	for (i = 0; i < n; i++)
		sum += (unsigned int)__builtin_popcountll(
			slab_load_relaxed(&slab_slab_at(pool, i)->word));
	return sum;
}

uint32_t
slab_pool_count(const struct slab_pool *pool)
{
	uint64_t sum = count_slabs(pool) + count_caches(pool);
	uint32_t added = slab_pool_added(pool), used, i;
	const struct slab_node *node;

	for (i = 0; i < pool->nodes; i++) {
		node = slab_node_at(pool, i);
		used = slab_load_relaxed(&node->fresh);
		sum += count_magazines(pool, node->first, used < pool->depot ? used : pool->depot);
	}
	/* Objects on their way from one layer to the other may have been seen twice. */
	return sum < added ? (uint32_t)sum : added;
}
