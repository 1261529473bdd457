/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "slab_check.h"
#include "slab_chunk.h"
#include "slab_fast.h"

/* Past the checks. */
static inline int
get_unchecked(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n)
{
	return lcore < pool->lcores ? slab_get_lcore(pool, slab_lcores(pool) + lcore, objs, n) :
		slab_get_thread(pool, objs, n);
}

static inline int
put_unchecked(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	return lcore < pool->lcores ? slab_put_lcore(pool, slab_lcores(pool) + lcore, objs, n) :
		slab_put_thread(pool, objs, n);
}

static inline bool
turn_one(slab_atomic8 *state, uint8_t was, uint8_t now)
{
	if (__builtin_expect(slab_load_relaxed(state) != was, 0))
		return false;
	slab_store_relaxed(state, now);
	return true;
}

/* Wherever it lies. */
static __attribute__((noinline)) bool
turn_anywhere(const struct slab_pool *pool, const void *obj, uint8_t was, uint8_t now)
{
	uint32_t number = slab_chunk_number(pool, obj);

	return number != SLAB_NO_NUMBER && turn_one(&slab_states(pool)[number], was, now);
}

/*
 * Turn objects from one state to another, up to the first that is none of the pool or not in that
 * state; returns how many. Most pools have nearly all their objects in one chunk.
 */
static inline __attribute__((always_inline)) unsigned int
turn_in_grid(const struct slab_pool *pool, const struct slab_chunk *chunk, struct slab_grid grid,
	void *const *objs, unsigned int n, uint8_t was, uint8_t now, bool pages)
{
	uintptr_t states = (uintptr_t)(slab_states(pool) + chunk->first);
	unsigned int i;
	uint64_t at;

	for (i = 0; i < n; i++) {
		at = slab_grid_index(grid, objs[i], pages);
		if (__builtin_expect(at < grid.count, 1) ?
				!turn_one((slab_atomic8 *)(states + at), was, now) :
				!turn_anywhere(pool, objs[i], was, now))
			break;
	}
	return i;
}

static inline __attribute__((always_inline)) unsigned int
turn(const struct slab_pool *pool, void *const *objs, unsigned int n, uint8_t was, uint8_t now)
{
	const struct slab_chunk *chunk = slab_chunk_main(pool);
	struct slab_grid grid = slab_chunk_grid(pool, chunk);

	return slab_grid_has_pages(grid) ?
		turn_in_grid(pool, chunk, grid, objs, n, was, now, true) :
		turn_in_grid(pool, chunk, grid, objs, n, was, now, false);
}

static inline unsigned int
turn_out(const struct slab_pool *pool, void *const *objs, unsigned int n)
{
	return turn(pool, objs, n, SLAB_STATE_FREE, SLAB_STATE_OUT);
}

static inline unsigned int
turn_free(const struct slab_pool *pool, void *const *objs, unsigned int n)
{
	return turn(pool, objs, n, SLAB_STATE_OUT, SLAB_STATE_FREE);
}

/*
 * Of the program's runtime, if that is built with AddressSanitizer; what is poisoned keeps its
 * contents.
 */
void __asan_poison_memory_region(const volatile void *at, size_t size) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *at, size_t size) __attribute__((weak));

static void
poison(const struct slab_pool *pool, void *const *objs, unsigned int n)
{
	for (; __asan_poison_memory_region != NULL && n != 0; n--)
		__asan_poison_memory_region(*objs++, pool->object_size);
}

static void
unpoison(const struct slab_pool *pool, void *const *objs, unsigned int n)
{
	for (; __asan_unpoison_memory_region != NULL && n != 0; n--)
		__asan_unpoison_memory_region(*objs++, pool->object_size);
}

static void
report(struct slab_pool *pool, const void *obj, enum slab_fault wrong_state)
{
	bool is_one = slab_chunk_number(pool, obj) != SLAB_NO_NUMBER;

	slab_fault_report(pool, obj, is_one ? wrong_state : slab_fault_of_stranger(pool, obj));
}

static uint64_t
nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void
keep_track(const struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n,
	const void *caller)
{
	uint32_t process = (uint32_t)getpid();
	uint64_t when = nanoseconds();
	struct slab_track *track;

	for (; n != 0; n--) {
		track = slab_track_at(pool, slab_chunk_number(pool, *objs++));
		slab_store_relaxed(&track->caller, (uintptr_t)caller);
		slab_store_relaxed(&track->when, when);
		slab_store_relaxed(&track->lcore, lcore < pool->lcores ? lcore : SLAB_NO_LCORE);
		slab_store_relaxed(&track->process, process);
	}
}

/* All n objects, or none: others are got for those that are not free, as long as there are any. */
static __attribute__((noinline)) int
replace(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int done, unsigned int n)
{
	for (; done < n; done += turn_out(pool, objs + done, n - done)) {
		report(pool, objs[done], SLAB_FAULT_IN_USE);
		if (get_unchecked(pool, lcore, objs + done, 1) != 0) {
			put_unchecked(pool, lcore, objs + done + 1, n - done - 1);
			turn_free(pool, objs, done);
			put_unchecked(pool, lcore, objs, done);
			return -ENOBUFS;
		}
	}
	return 0;
}

/* The first are done, and what follows them is bad. */
static __attribute__((noinline)) void
put_others(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int done,
	unsigned int n)
{
	while (done < n) {
		report(pool, objs[done], SLAB_FAULT_DOUBLE);
		objs += done + 1;
		n -= done + 1;
		done = turn_free(pool, objs, n);
		poison(pool, objs, done);
		put_unchecked(pool, lcore, objs, done);
	}
}

int
slab_get_aside(struct slab_pool *pool, uint32_t lcore, void **objs, unsigned int n,
	const void *caller)
{
	unsigned int done;
	int ret;

	if (pool->states_id == 0)
		return slab_get_thread(pool, objs, n);
	ret = get_unchecked(pool, lcore, objs, n);
	if (ret != 0)
		return ret;
	done = turn_out(pool, objs, n);
	if (__builtin_expect(done < n, 0))
		ret = replace(pool, lcore, objs, done, n);
	if (ret != 0)
		return ret;
	unpoison(pool, objs, n);
	if (pool->tracks_id != 0)
		keep_track(pool, lcore, objs, n, caller);
	return 0;
}

int
slab_put_aside(struct slab_pool *pool, uint32_t lcore, void *const *objs, unsigned int n)
{
	unsigned int done;

	if (pool->states_id == 0)
		return slab_put_thread(pool, objs, n);
	done = turn_free(pool, objs, n);
	poison(pool, objs, done);
	put_unchecked(pool, lcore, objs, done);
	if (__builtin_expect(done < n, 0))
		put_others(pool, lcore, objs, done, n);
	return 0;
}

void
slab_check_add(struct slab_pool *pool, uint32_t first, uint32_t count)
{
	uint32_t i;

	for (i = 0; pool->states_id != 0 && i < count; i++)
		slab_store_relaxed(&slab_states(pool)[first + i], SLAB_STATE_FREE);
}

static void
expand(const struct slab_pool *pool, void *first, void *objs[SLAB_OBJECTS])
{
	unsigned int i;

	for (i = 0; i < SLAB_OBJECTS; i++)
		objs[i] = (char *)first + (size_t)i * pool->stride;
}

unsigned int
slab_check_blocks(struct slab_pool *pool, uint32_t lcore, void *const *first, unsigned int n,
	const void *caller)
{
	void *objs[SLAB_OBJECTS];
	unsigned int i, k;

	for (i = 0; pool->states_id != 0 && i < n; i++) {
		expand(pool, first[i], objs);
		k = turn_out(pool, objs, SLAB_OBJECTS);
		if (k < SLAB_OBJECTS) {
			report(pool, objs[k], SLAB_FAULT_IN_USE);
			turn_free(pool, objs, k);
			slab_slabs_put(pool, objs, k);
			slab_slabs_put(pool, objs + k + 1, SLAB_OBJECTS - k - 1);
			return i;
		}
		unpoison(pool, objs, SLAB_OBJECTS);
		if (pool->tracks_id != 0)
			keep_track(pool, lcore, objs, SLAB_OBJECTS, caller);
	}
	return n;
}

void
slab_check_put_blocks(const struct slab_pool *pool, void *const *first, unsigned int n)
{
	void *objs[SLAB_OBJECTS];

	for (; pool->states_id != 0 && n != 0; n--) {
		expand(pool, *first++, objs);
		turn_free(pool, objs, SLAB_OBJECTS);
		poison(pool, objs, SLAB_OBJECTS);
	}
}
