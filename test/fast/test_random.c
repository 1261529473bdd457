/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"

/*
 * Random operations of several lcores, one after the other, against the plainest model there is:
 * which objects are out. Nobody is inside an operation when another begins, so every free object
 * has to be within reach of each. Pools with checks are put what is wrong as well, in between; it has to
 * be told, each by its kind, and to change nothing.
 */

#define MOST 4000
#define STEPS 20000

struct model {
	struct slab_pool *pool;
	uint32_t stride, n, nr_out;
	char *base;
	bool is_out[MOST];
	void *out[MOST]; /* those that are out, in no order */
	uint64_t faults[SLAB_FAULTS];
	uint64_t seed;
};

static uint32_t
draw(struct model *m, uint32_t below)
{
	m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((m->seed >> 33) % below);
}

static uint32_t
number(const struct model *m, const void *obj)
{
	size_t off = (size_t)((const char *)obj - m->base);

	assert_int_equal(off % m->stride, 0);
	assert_true(off / m->stride < m->n);
	return (uint32_t)(off / m->stride);
}

static void
get(struct model *m, uint32_t lcore, uint32_t n)
{
	void **objs = m->out + m->nr_out;
	void *space[MOST + 100];
	uint32_t i;

	if (n > m->n - m->nr_out) {
		assert_int_not_equal(slab_get(m->pool, lcore, space, n), 0);
		return;
	}
	assert_int_equal(slab_get(m->pool, lcore, objs, n), 0);
	for (i = 0; i < n; i++) {
		assert_false(m->is_out[number(m, objs[i])]);
		m->is_out[number(m, objs[i])] = true;
	}
	m->nr_out += n;
}

/* What is wrong at this moment; NULL is as good as any when there is nothing of a kind. */
static void *
bad_object(struct model *m)
{
	char *obj = m->base + (size_t)draw(m, m->n) * m->stride;

	switch (draw(m, 4)) {
	case 0:
		m->faults[SLAB_FAULT_INSIDE]++;
		return obj + 1 + draw(m, m->stride - 1);
	case 1:
		m->faults[SLAB_FAULT_FOREIGN]++;
		return draw(m, 2) ? m->base - m->stride : m->base + (size_t)m->n * m->stride;
	case 2:
		if (!m->is_out[number(m, obj)]) {
			m->faults[SLAB_FAULT_DOUBLE]++;
			return obj;
		}
	}
	m->faults[SLAB_FAULT_FOREIGN]++;
	return NULL;
}

static void
put(struct model *m, uint32_t lcore, uint32_t n)
{
	void *objs[2 * MOST];
	uint32_t i, k, nr = 0;

	n = n < m->nr_out ? n : m->nr_out;
	for (i = 0; i < n; i++) {
		k = draw(m, m->nr_out);
		objs[nr++] = m->out[k];
		m->is_out[number(m, m->out[k])] = false;
		m->out[k] = m->out[--m->nr_out];
		if (slab_pool_checks(m->pool) && draw(m, 64) == 0)
			objs[nr++] = bad_object(m);
	}
	slab_put(m->pool, lcore, objs, nr);
}

static uint32_t
burst(struct model *m)
{
	static const uint32_t usual[] = { 1, 1, 2, 8, 32, 32, 64, 256, 544, 768 };

	return draw(m, 4) == 0 ? draw(m, 100) : usual[draw(m, 10)];
}

static void
run(struct model *m)
{
	uint32_t step, lcore, bias = 50;

	for (step = 0; step < STEPS; step++) {
		lcore = draw(m, 6) < 5 ? draw(m, 4) : SLAB_NO_LCORE;
		if (step % 1000 == 0)
			bias = 30 + draw(m, 41);
		if (draw(m, 100) < bias)
			get(m, lcore, burst(m));
		else
			put(m, lcore, burst(m));
		if (step % 100 == 0)
			assert_int_equal(slab_pool_count(m->pool), m->n - m->nr_out);
	}
}

static void
shape(struct model *m, struct slab_conf *conf, unsigned int i)
{
	static const uint32_t counts[] = { 1, 5, 64, 65, 384, 1000, 1023, MOST };
	static const uint32_t magazines[] = { 0, 1, 7, 64, 300 };
	static const uint32_t depots[] = { SLAB_AUTO, 0, 1, 4 };

	*m = (struct model){ .seed = i, .base = MADE_UP, .stride = 192, .n = counts[i % 8] };
	*conf = plain_conf(m->n);
	conf->stride = m->stride;
	conf->magazine = magazines[draw(m, 5)];
	conf->depot = depots[draw(m, 4)];
	conf->lcore_cache = draw(m, 3) != 0;
	conf->stats = draw(m, 2);
	conf->nodes = 1 + draw(m, 3);
	conf->lcore_partial = draw(m, 2) * draw(m, 6);
	conf->check = draw(m, 2);
	conf->track = conf->check && draw(m, 2);
}

static void
check_faults(const struct model *m)
{
	int i;

	for (i = 0; i < SLAB_FAULTS; i++) {
		assert_int_equal(faults[i], m->faults[i]);
		assert_int_equal(slab_pool_faults_of(m->pool, (enum slab_fault)i), m->faults[i]);
	}
}

/* The objects come in several chunks, with operations in between. */
static void
populate(struct model *m, uint32_t all, uint32_t nodes)
{
	struct slab_range part = { 0 };

	while (m->n < all) {
		part.base = m->base + (size_t)m->n * m->stride;
		part.count = 1 + draw(m, all - m->n);
		part.node = draw(m, nodes);
		assert_int_equal(pool_add(m->pool, &part), part.count);
		m->n += part.count;
		get(m, draw(m, 4), draw(m, m->n - m->nr_out + 1));
		put(m, draw(m, 4), draw(m, m->nr_out + 1));
	}
}

static void
random_histories(void **state)
{
	static const uint8_t nodes[4] = { 0, 1, 1, 2 };
	struct model *m = malloc(sizeof(*m));
	struct slab_conf conf;
	unsigned int i;

	print_message("lcores %s caches\n", slab_lcore_cache_possible() ? "have" : "go without");
	for (i = 0; i < 40; i++) {
		shape(m, &conf, i);
		faults_begin(state);
		conf.lcore_node = nodes;
		m->pool = pool_make(&conf);
		m->n = 0;
		populate(m, conf.objects, conf.nodes);
		run(m);
		put(m, 0, MOST);
		assert_int_equal(slab_pool_count(m->pool), m->n);
		check_faults(m);
		pool_free(m->pool);
	}
	free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_histories) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
