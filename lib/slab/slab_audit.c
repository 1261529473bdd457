/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include "slab_check.h"
#include "slab_chunk.h"
#include "slab_depot.h"
#include "slab_lcore.h"

/*
 * Where every object is. All places are looked through as they are, while others may go on: then
 * an object can be seen twice or missed, and what is read is taken as a hint that has to make sense.
 */

struct audit {
	const struct slab_pool *pool;
	struct slab_audit *sum;
	uint64_t *seen; /* a bit for each number */
	slab_audit_visit visit;
	void *arg;
};

/* Objects of one place. With checks, what is in use is not free, whatever lies where. */
static bool
see(struct audit *a, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << number % SLAB_OBJECTS;
	uint64_t *seen = &a->seen[number / SLAB_OBJECTS];

	if (number == SLAB_NO_NUMBER || (a->pool->states_id != 0 &&
			slab_load_relaxed(&slab_states(a->pool)[number]) == SLAB_STATE_OUT))
		return false;
	if (*seen & bit) {
		a->sum->twice++;
		return false;
	}
	*seen |= bit;
	return true;
}

static void
tell(struct audit *a, enum slab_place place, uint32_t which, uint32_t n)
{
	a->sum->free[place] += n;
	if (n != 0 && a->visit != NULL)
		a->visit(a->arg, place, which, n);
}

static uint32_t
see_slab(struct audit *a, uint32_t slab)
{
	uint64_t word = slab_load_relaxed(&slab_slab_at(a->pool, slab)->word);
	uint32_t n = 0;

	for (; word != 0; word &= word - 1)
		n += see(a, slab * SLAB_OBJECTS + (uint32_t)__builtin_ctzll(word));
	return n;
}

static void
see_slabs(struct audit *a)
{
	uint32_t nr = (slab_load_acquire(&a->pool->numbers) + SLAB_OBJECTS - 1) / SLAB_OBJECTS;
	uint32_t of_node[SLAB_MAX_NODES] = { 0 }, i;

	for (i = 0; i < nr; i++)
		of_node[slab_chunk_at(a->pool, slab_slab_at(a->pool, i)->chunk)->node] +=
			see_slab(a, i);
	for (i = 0; i < a->pool->nodes; i++)
		tell(a, SLAB_PLACE_SLABS, i, of_node[i]);
}

static uint32_t
see_offsets(struct audit *a, const uint64_t *offsets, uint32_t len)
{
	uint32_t n = 0;

	while (len-- != 0)
		n += see(a, slab_chunk_number(a->pool,
			(void *)(slab_base(a->pool) + (uintptr_t)*offsets++)));
	return n;
}

static uint32_t
see_magazine(struct audit *a, const struct slab_magazine *m)
{
	uint32_t len = slab_load_relaxed(&m->len), n = 0, i;
	uint64_t offset;

	for (i = 0; i < len && i < a->pool->magazine; i++) {
		offset = (uint64_t)m->codes[i] << a->pool->shift;
		n += see_offsets(a, &offset, 1);
	}
	return n;
}

static void
see_depots(struct audit *a)
{
	const struct slab_pool *pool = a->pool;
	const struct slab_node *node;
	uint32_t i, k, used, n;

	for (i = 0; i < pool->nodes; i++) {
		node = slab_node_at(pool, i);
		used = slab_load_relaxed(&node->fresh);
		used = used < pool->depot ? used : pool->depot;
		for (k = n = 0; k < used; k++)
			n += see_magazine(a, slab_at(pool, node->first + k * pool->magazine_units));
		tell(a, SLAB_PLACE_DEPOT, i, n);
	}
}

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void
see_cache(struct audit *a, const struct slab_lcore *lc, enum slab_place place, uint32_t which)
{
	const struct slab_pool *pool = a->pool;
	uint32_t n;

	if (!slab_lcore_has_cache(lc))
		return;
	n = see_offsets(a, slab_lcore_offsets(pool, lc),
		least(slab_load_relaxed(&lc->len), pool->cache));
	if (pool->nodes > 1)
		n += see_offsets(a, slab_lcore_aliens(pool, lc),
			least(slab_load_relaxed(&lc->aliens), pool->magazine));
	tell(a, place, which, n);
}

static void
see_caches(struct audit *a)
{
	uint32_t i;

	for (i = 0; i < a->pool->lcores; i++)
		see_cache(a, slab_lcores(a->pool) + i, SLAB_PLACE_LCORE, i);
	for (i = 0; i < a->pool->cpus; i++)
		see_cache(a, slab_cpu_at(a->pool, i), SLAB_PLACE_CPU, i);
}

static bool
is_lost(const struct slab_pool *pool, uint32_t number)
{
	return pool->states_id != 0 &&
		slab_load_relaxed(&slab_states(pool)[number]) == SLAB_STATE_FREE;
}

static struct slab_getter
last_getter(const struct slab_pool *pool, uint32_t number)
{
	const struct slab_track *track;

	if (pool->tracks_id == 0)
		return (struct slab_getter){ .lcore = SLAB_NO_LCORE };
	track = slab_track_at(pool, number);
	return (struct slab_getter){
		.caller = slab_load_relaxed(&track->caller),
		.when = slab_load_relaxed(&track->when),
		.lcore = slab_load_relaxed(&track->lcore),
		.process = slab_load_relaxed(&track->process),
	};
}

/* What was seen nowhere. */
static void
see_rest(struct audit *a, slab_audit_out visit_out)
{
	const struct slab_pool *pool = a->pool;
	uint32_t chunks = slab_load_acquire(&pool->nr_chunks), i, number, end;
	const struct slab_chunk *chunk;
	struct slab_getter last;
	void *obj;

	for (i = 0; i < chunks; i++) {
		chunk = slab_chunk_at(pool, i);
		end = chunk->first + slab_load_relaxed(&chunk->count);
		a->sum->objects += end - chunk->first;
		for (number = chunk->first; number < end; number++) {
			if (a->seen[number / SLAB_OBJECTS] >> number % SLAB_OBJECTS & 1)
				continue;
			if (is_lost(pool, number)) {
				a->sum->lost++;
				continue;
			}
			a->sum->out++;
			slab_chunk_expand(pool, number / SLAB_OBJECTS,
				UINT64_C(1) << number % SLAB_OBJECTS, &obj);
			last = last_getter(pool, number);
			if (visit_out != NULL)
				visit_out(a->arg, obj, &last);
		}
	}
}

int
slab_pool_audit(const struct slab_pool *pool, struct slab_audit *sum, slab_audit_visit visit,
	slab_audit_out visit_out, void *arg)
{
	struct audit a = { .pool = pool, .sum = sum, .visit = visit, .arg = arg,
		.seen = calloc(pool->nr_slabs, sizeof(*a.seen)) };

	if (a.seen == NULL)
		return -ENOMEM;
	*sum = (struct slab_audit){ 0 };
	see_slabs(&a);
	see_depots(&a);
	see_caches(&a);
	see_rest(&a, visit_out);
	free(a.seen);
	return 0;
}
