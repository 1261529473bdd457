/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Objects by the billion through pools that check, on four threads: bursts, single objects, objects
 * held at random, handed from one thread to another, blocks, and pools that run dry. Whoever puts an
 * object fills it with words that tell of each other, whoever gets it next finds them untouched. One
 * pool after the other, of each shape; SOAK_OBJECTS is how many objects are to be got in all.
 */

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "crew.h"

#define OBJECTS 8191
#define WORDS 8
#define MOST_HELD 2000
#define LARGEST 1024
#define TURNS 2000 /* of a thread on a pool */

struct shape {
	const char *name;
	uint32_t magazine, depot, nodes, lcore_partial;
	enum slab_thread_cache thread_cache;
	bool lcores[CREW]; /* the others are threads that are none */
	bool no_caches;
};

static const struct shape shapes[] = {
	{ "lcores", 0, SLAB_AUTO, 1, 0, SLAB_THREADS_RSEQ, { true, true, true, true }, false },
	{ "lcores, small magazines", 16, 4, 1, 0, SLAB_THREADS_RSEQ, { true, true, true, true },
		false },
	{ "lcores, slabs of their own", 64, 0, 1, 8, SLAB_THREADS_RSEQ,
		{ true, true, true, true }, false },
	{ "lcores of two nodes", 64, SLAB_AUTO, 2, 2, SLAB_THREADS_RSEQ,
		{ true, true, true, true }, false },
	{ "lcores and threads", 64, 8, 1, 0, SLAB_THREADS_RSEQ, { true, true, false, false },
		false },
	{ "threads", 0, SLAB_AUTO, 1, 0, SLAB_THREADS_RSEQ, { false }, false },
	{ "threads with locks", 64, SLAB_AUTO, 2, 0, SLAB_THREADS_LOCK, { true }, false },
	{ "no caches", 0, SLAB_AUTO, 1, 0, SLAB_THREADS_OFF, { true, true }, true },
	{ "slabs alone", 1, 0, 1, 0, SLAB_THREADS_OFF, { true, true }, true },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct soaker {
	struct soak *soak;
	uint32_t number, lcore, held;
	uint64_t seed, got;
	void **objs; /* MOST_HELD + LARGEST */
};

struct soak {
	const struct shape *shape;
	struct slab_pool *pool;
	struct box box;
	struct meeting meeting;
	struct soaker soakers[CREW];
};

static uint64_t *memory;

/* All words follow from the first, and none is as it was before. */
static void
fill(uint64_t *obj, uint64_t with)
{
	uint64_t first = (with ^ (uintptr_t)obj) * UINT64_C(0x9e3779b97f4a7c15), i;

	for (i = 0; i < WORDS; i++)
		obj[i] = first + i * (uintptr_t)obj;
}

static void
check_filled(const uint64_t *obj)
{
	uint64_t wrong = 0, i;

	for (i = 1; i < WORDS; i++)
		wrong |= obj[i] ^ (obj[0] + i * (uintptr_t)obj);
	MUST(wrong == 0);
}

static bool
get(struct soaker *s, uint32_t n)
{
	void **objs = s->objs + s->held;
	uint32_t i;

	if (slab_get(s->soak->pool, s->lcore, objs, n) != 0)
		return false;
	for (i = 0; i < n; i++)
		check_filled(objs[i]);
	s->held += n;
	s->got += n;
	return true;
}

static void
put(struct soaker *s, uint32_t n)
{
	uint32_t i;

	s->held -= n;
	for (i = 0; i < n; i++)
		fill(s->objs[s->held + i], s->seed + i);
	slab_put(s->soak->pool, s->lcore, s->objs + s->held, n);
}

static void
bursts(struct soaker *s)
{
	uint32_t n = draw_size(&s->seed, LARGEST), times;

	for (times = 1 + 4096 / n; times != 0; times--)
		if (get(s, n))
			put(s, n);
}

/* One by one, in the order in which they were got. */
static void
singles(struct soaker *s)
{
	uint32_t n = draw(&s->seed, 64), i;
	void *first;

	for (i = 0; i < n; i++)
		get(s, 1);
	for (; n != 0 && s->held != 0; n--) {
		first = s->objs[0];
		s->objs[0] = s->objs[s->held - 1];
		s->objs[s->held - 1] = first;
		put(s, 1);
	}
}

/* Exchange some for others that are held. */
static void
scatter(struct soaker *s)
{
	uint32_t n = draw_size(&s->seed, 64), i, k;
	void *other;

	if (s->held + n > MOST_HELD || !get(s, n))
		n = n < s->held ? n : s->held;
	for (i = s->held - n; i < s->held; i++) {
		k = draw(&s->seed, s->held);
		other = s->objs[k];
		s->objs[k] = s->objs[i];
		s->objs[i] = other;
	}
	put(s, n);
}

/* What it holds for what another one held. */
static void
hand_over(struct soaker *s)
{
	void **theirs;
	uint32_t n;

	pthread_mutex_lock(&s->soak->box.lock);
	theirs = s->soak->box.objs;
	n = s->soak->box.n;
	s->soak->box.objs = s->objs;
	s->soak->box.n = s->held;
	pthread_mutex_unlock(&s->soak->box.lock);
	s->objs = theirs;
	s->held = n;
}

static void
blocks(struct soaker *s)
{
	void *first;
	uint32_t i;

	if (s->held + SLAB_OBJECTS > MOST_HELD ||
			slab_get_blocks(s->soak->pool, s->lcore, &first, 1) != 0)
		return;
	for (i = 0; i < SLAB_OBJECTS; i++) {
		s->objs[s->held++] = (uint64_t *)first + (size_t)i * WORDS;
		check_filled(s->objs[s->held - 1]);
	}
	s->got += SLAB_OBJECTS;
	put(s, SLAB_OBJECTS);
}

static void
run_dry(struct soaker *s)
{
	uint32_t n = draw_size(&s->seed, 64);

	while (s->held + n <= MOST_HELD && get(s, n))
		;
	put(s, s->held);
}

static void
turn(struct soaker *s)
{
	uint32_t what = draw(&s->seed, 1000);

	if (what < 400)
		bursts(s);
	else if (what < 600)
		singles(s);
	else if (what < 900)
		scatter(s);
	else if (what < 980)
		hand_over(s);
	else if (what < 990)
		run_dry(s);
	else if (what < 995)
		blocks(s);
	else
		slab_pool_tune(s->soak->pool, SLAB_TUNABLE_DEPOT, draw(&s->seed, 2) *
			slab_pool_tunable_most(s->soak->pool, SLAB_TUNABLE_DEPOT));
}

/* Nobody holds anything: all objects are there, each once, as they were left. */
static void
check_all(void *arg)
{
	struct soak *k = arg;
	struct soaker *s = &k->soakers[0];
	struct slab_audit sum;
	uint32_t n = 0;

	put(s, s->held);
	if (k->box.n != 0) {
		hand_over(s);
		put(s, s->held);
	}
	MUST(slab_pool_audit(k->pool, &sum, NULL, NULL, NULL) == 0);
	MUST(sum.out == 0 && sum.lost == 0 && sum.twice == 0 && sum.objects == OBJECTS);
	for (; get(s, 1); s->held--)
		n++;
	MUST(n == OBJECTS);
	MUST(slab_pool_faults(k->pool) == 0);
}

static void *
soak_thread(void *arg)
{
	struct soaker *s = arg;
	uint32_t turns;

	for (turns = 0; turns < TURNS; turns++)
		turn(s);
	put(s, s->held);
	meet(&s->soak->meeting);
	return NULL;
}

static void
make_pool(struct soak *k)
{
	static const uint8_t lcore_node[CREW] = { 0, 1, 0, 1 };
	struct slab_range half = { .base = memory, .count = OBJECTS / 2 };
	struct slab_conf conf = plain_conf(OBJECTS);

	conf.magazine = k->shape->magazine;
	conf.depot = k->shape->depot;
	conf.nodes = k->shape->nodes;
	conf.lcore_node = lcore_node;
	conf.lcore_partial = k->shape->lcore_partial;
	conf.lcore_cache = !k->shape->no_caches;
	conf.thread_cache = k->shape->thread_cache;
	conf.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	conf.check = true;
	k->pool = pool_make(&conf);
	MUST(pool_add(k->pool, &half) == half.count);
	half.base = memory + (size_t)half.count * WORDS;
	half.count = OBJECTS - half.count;
	half.node = k->shape->nodes - 1;
	MUST(pool_add(k->pool, &half) == half.count);
}

/* Returns how many objects were got. */
static uint64_t
soak_one(const struct shape *shape, uint64_t seed)
{
	struct soak k = { .shape = shape, .meeting = { .size = CREW, .last = check_all, .arg = &k } };
	pthread_t threads[CREW];
	uint64_t sum = 0;
	uint32_t i;

	snprintf(crew_at, sizeof(crew_at), "%s, pool %" PRIu64, shape->name, seed);
	make_pool(&k);
	box_begin(&k.box, MOST_HELD + LARGEST);
	for (i = 0; i < CREW; i++) {
		k.soakers[i] = (struct soaker){ .soak = &k, .number = i,
			.lcore = shape->lcores[i] ? i : SLAB_NO_LCORE, .seed = seed * CREW + i,
			.objs = calloc(MOST_HELD + LARGEST, sizeof(void *)) };
		MUST(k.soakers[i].objs != NULL);
	}
	for (i = 0; i < CREW; i++)
		MUST(pthread_create(&threads[i], NULL, soak_thread, &k.soakers[i]) == 0);
	for (i = 0; i < CREW; i++) {
		pthread_join(threads[i], NULL);
		sum += k.soakers[i].got;
		free(k.soakers[i].objs);
	}
	box_end(&k.box);
	pool_free(k.pool);
	return sum;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(void)
{
	const char *value = getenv("SOAK_OBJECTS");
	uint64_t wanted = value != NULL ? strtoull(value, NULL, 10) : UINT64_C(100000000);
	uint64_t of_shape[SHAPES] = { 0 }, sum = 0, pools = 0, got;
	double begin = seconds();
	uint32_t i;

	memory = aligned_alloc(64, (size_t)OBJECTS * WORDS * sizeof(*memory));
	MUST(memory != NULL);
	for (i = 0; i < OBJECTS; i++)
		fill(memory + (size_t)i * WORDS, i);
	for (; sum < wanted || pools < SHAPES; pools++) {
		got = soak_one(&shapes[pools % SHAPES], pools);
		of_shape[pools % SHAPES] += got;
		sum += got;
	}
	for (i = 0; i < SHAPES; i++)
		printf("%-28s%15" PRIu64 " objects\n", shapes[i].name, of_shape[i]);
	printf("%" PRIu64 " objects got in all, from %" PRIu64 " pools, in %.0f s; none was touched "
		"while it was free\n", sum, pools, seconds() - begin);
	free(memory);
	return 0;
}
