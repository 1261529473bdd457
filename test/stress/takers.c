/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lcores that starve at once, while one that rests has everything in its cache. They shall share it
 * out among them, not rob each other of it.
 *
 * A take brings up to 64 objects, so n objects that rest leave with n / 64 takes. The last of them
 * lie with those who starve, fewer than 64 with each; where a take leaves half of what it finds,
 * some takes for each of those who starve share them out. Twice n / 64 has room for that, and for
 * takes from somebody else while the cache that rests is in the hands of another taker.
 */

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "crew.h"

#define TAKERS 3
#define OBJECTS 8191
#define MOST_TAKES (2 * OBJECTS / SLAB_OBJECTS + TAKERS)

struct wave {
	struct slab_pool *pool;
	uint32_t resting;
	bool by_none; /* those who take are no lcores */
	_Atomic(uint32_t) got;
	struct marks marks;
	struct meeting meeting;
};

struct taker {
	struct wave *wave;
	pthread_t thread;
	uint32_t lcore;
};

/* The linker sends all of the library's system calls through here. */
static _Atomic(uint64_t) barriers;

long
__real_syscall(long number, ...);
long
__wrap_syscall(long number, ...);

long
__wrap_syscall(long number, ...)
{
	va_list args;
	long arg[3];

	va_start(args, number);
	arg[0] = va_arg(args, long);
	arg[1] = va_arg(args, long);
	arg[2] = va_arg(args, long);
	va_end(args);
	barriers += number == SYS_membarrier;
	return __real_syscall(number, arg[0], arg[1], arg[2]);
}

/* In bursts, since larger ones go past the cache. */
static void
fill_cache(struct slab_pool *pool, uint32_t lcore)
{
	void **objs = calloc(OBJECTS, sizeof(*objs));
	uint32_t i, k;

	assert_int_equal(slab_get(pool, lcore, objs, OBJECTS), 0);
	for (i = 0; i < OBJECTS; i += k) {
		k = OBJECTS - i < 64 ? OBJECTS - i : 64;
		slab_put(pool, lcore, objs + i, k);
	}
	free(objs);
}

static void
wave_begin(struct wave *w, uint32_t resting)
{
	struct slab_conf conf = plain_conf(OBJECTS);
	struct slab_range all = { .base = MADE_UP, .count = OBJECTS };

	conf.magazine = 4096;
	conf.depot = 0;
	conf.stats = true;
	conf.thread_cache = crew_thread_cache(0);
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	*w = (struct wave){ .pool = pool_make(&conf), .resting = resting,
		.meeting = { .size = TAKERS } };
	marks_begin(&w->marks, OBJECTS);
	assert_int_equal(pool_add(w->pool, &all), OBJECTS);
	fill_cache(w->pool, resting);
}

static void
wave_end(struct wave *w)
{
	marks_end(&w->marks);
	pool_free(w->pool);
}

static uint64_t
takes(const struct wave *w)
{
	struct slab_stats stats;
	uint64_t sum = 0;
	uint32_t lcore;

	for (lcore = 0; lcore <= CREW; lcore++) {
		slab_pool_stats(w->pool, lcore, &stats);
		sum += stats.takes;
	}
	return sum;
}

static bool
get_one(struct wave *w, uint32_t lcore)
{
	void *obj;

	if (slab_get(w->pool, lcore, &obj, 1) != 0)
		return false;
	mark(&w->marks, &obj, 1, MARK_FREE, MARK_BOX);
	w->got++;
	return true;
}

static void *
take(void *arg)
{
	struct taker *t = arg;
	uint32_t fails = 0;

	meet(&t->wave->meeting);
	while (t->wave->got != OBJECTS) {
		fails += !get_one(t->wave, t->lcore);
		MUST(fails < 100000); /* few: while another has the last of them in its hands */
		sched_yield(); /* or whoever runs empties the pool alone */
	}
	return NULL;
}

static void
take_at_once(struct wave *w)
{
	struct taker takers[TAKERS];
	uint32_t i, lcore;

	for (i = 0; i < TAKERS; i++) {
		lcore = w->by_none ? SLAB_NO_LCORE : i + (i >= w->resting);
		takers[i] = (struct taker){ .wave = w, .lcore = lcore };
		pthread_create(&takers[i].thread, NULL, take, &takers[i]);
	}
	for (i = 0; i < TAKERS; i++)
		pthread_join(takers[i].thread, NULL);
}

/* The same by one thread that plays them all: nothing is left to chance. */
static void
take_turns(struct wave *w)
{
	uint32_t i;

	for (i = 0; w->got != OBJECTS; i = (i + 1) % CREW)
		MUST(i == w->resting || get_one(w, i));
	assert_true(takes(w) >= OBJECTS / SLAB_OBJECTS);
}

/* A get that fails costs no system call and moves nothing. */
static void
check_exhausted(struct wave *w)
{
	uint64_t takes_before = takes(w), barriers_before = barriers;
	uint32_t lcore, n;
	void *objs[100];

	assert_int_equal(slab_pool_count(w->pool), 0);
	for (lcore = 0; lcore <= CREW; lcore++)
		for (n = 1; n <= 100; n++)
			assert_int_equal(slab_get(w->pool, lcore, objs, n), -ENOBUFS);
	assert_int_equal(takes(w), takes_before);
	assert_int_equal(barriers, barriers_before);
}

static void
check_wave(uint32_t resting, bool by_none, void (*drain_pool)(struct wave *w))
{
	struct wave w;

	wave_begin(&w, resting);
	w.by_none = by_none;
	drain_pool(&w);
	print_message("%s, lcore %u rests: %llu takes for %u objects\n",
		drain_pool == take_turns ? "in turn" : by_none ? "no lcores" : "at once", resting,
		(unsigned long long)takes(&w), OBJECTS);
	check_exhausted(&w);
	assert_true(takes(&w) <= MOST_TAKES);
	wave_end(&w);
}

static void
those_who_take_turns(void **state)
{
	uint32_t resting;

	(void)state;
	for (resting = 0; resting < CREW; resting++)
		check_wave(resting, false, take_turns);
}

static void
those_who_come_at_once(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < crew_setting("STRESS_WAVES", 40); i++)
		check_wave(i % CREW, i / CREW % 2, take_at_once);
}

/* There is too little for each: they shall not go on taking it from each other. */
static void
those_who_ask_for_too_much(void **state)
{
	void **objs = calloc(OBJECTS, sizeof(*objs));
	uint64_t takes_before;
	struct wave w;
	uint32_t i;

	(void)state;
	wave_begin(&w, 0);
	assert_int_equal(slab_get(w.pool, 1, objs, OBJECTS - 10), 0);
	takes_before = takes(&w);
	for (i = 0; i < 1000; i++)
		assert_int_equal(slab_get(w.pool, i % CREW, objs, 11), -ENOBUFS);
	print_message("%llu takes in 1000 gets that fail\n",
		(unsigned long long)(takes(&w) - takes_before));
	assert_true(takes(&w) - takes_before <= CREW);
	wave_end(&w);
	free(objs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_who_take_turns),
		cmocka_unit_test(those_who_come_at_once),
		cmocka_unit_test(those_who_ask_for_too_much),
	};

	if (!slab_lcore_cache_possible()) {
		print_message("skipped: this kernel lacks membarrier(2): lcores have no caches\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
