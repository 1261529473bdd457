/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All cases: patterns times drivers times sizes. Those that cannot be run here are left out, and
 * why is said once for each reason, if the filter asked for them.
 */

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "bench.h"
#include "shim.h"

#define MAX_REASONS 64
#define MAX_PARTS 7
#define LARGE_OBJECTS 262144
#define SMALL_SIZE 256
/* Of lcores on a CPU, where the numbers double. */
#define MAX_BY_CPU 8

static const unsigned int sizes[] = {
	1, 2, 3, 4, 8, 16, 30, 32, 34, 48, 64, 128, 158, 250, 256, 512, 768, 1024
};
static const unsigned int caches[] = { 0, 256, 512 };
static const unsigned int touches[] = { 0, 2 };
static const unsigned int thread_sizes[] = { 8, 64, 16384 };

static struct {
	char text[256];
	unsigned int cases;
} reasons[MAX_REASONS];

/* Cases that differ by cache and burst only: those are Google Benchmark's arguments. */
struct family {
	struct bench_case cases[RTE_DIM(caches) * RTE_DIM(sizes)];
	unsigned int n;
	struct bench_family *registered;
};

bool
bench_case_has_threads(const struct bench_case *c)
{
	return c->pattern->threads && !(c->driver->limits & BENCH_ON_LCORES);
}

unsigned int
bench_case_lcores(const struct bench_case *c, unsigned int ids[RTE_MAX_LCORE])
{
	unsigned int by_cpu = c->lcores == 0 ? UINT_MAX : c->lcores / bench_lcores_cpus();

	return bench_lcores_list(c->pattern->lcores, by_cpu, ids);
}

/* The parts of a name behind pattern and driver; how many. */
static unsigned int
name_parts(const struct bench_case *c, const char *keys[MAX_PARTS], int64_t values[MAX_PARTS])
{
	const struct {
		const char *key;
		unsigned int value;
		bool shown;
	} parts[MAX_PARTS] = {
		{ "cache", c->cache, true },
		{ "n", c->n, true },
		{ "touch", c->lines, c->lines != 0 },
		{ c->pattern->hold_name, c->hold, c->hold != 0 && c->pattern->hold_name != NULL },
		{ "size", c->size, c->size != BENCH_SIZE },
		{ "objects", c->objects, c->objects != BENCH_OBJECTS },
		{ "lcores", c->lcores, c->lcores != 0 },
	};
	unsigned int n = 0;

	for (unsigned int i = 0; i < MAX_PARTS; i++) {
		if (!parts[i].shown)
			continue;
		keys[n] = parts[i].key;
		values[n++] = parts[i].value;
	}
	return n;
}

/* As Google Benchmark puts a name together. */
void
bench_case_name(const struct bench_case *c, char name[BENCH_NAME_SIZE])
{
	const char *keys[MAX_PARTS];
	int64_t values[MAX_PARTS];
	unsigned int n = name_parts(c, keys, values);
	size_t len;

	len = snprintf(name, BENCH_NAME_SIZE, "%s/%s", c->pattern->name, c->driver->name);
	for (unsigned int i = 0; i < n; i++)
		len += snprintf(name + len, BENCH_NAME_SIZE - len, "/%s:%" PRId64, keys[i],
			values[i]);
}

/* What lcores may keep to themselves at once; the others must still find a burst. */
static bool
is_too_large(const struct bench_case *c)
{
	unsigned int lcores[RTE_MAX_LCORE];
	unsigned int by_lcore = c->n + c->cache * 3 / 2;
	unsigned int needed = bench_case_lcores(c, lcores) * by_lcore + c->hold;

	if (c->pattern->lcores == BENCH_PAIR)
		needed += RTE_MAX(1024U, 4 * c->n);	/* underway */
	return needed > c->objects / 4 * 3;
}

/* Where objects of one bucket come back apart, most buckets are never full, and bucket runs dry. */
static bool
parts_neighbours(const struct bench_case *c)
{
	return c->pattern->share || (c->hold != 0 && !c->pattern->fifo) ||
		(c->pattern->lcores == BENCH_PAIR && c->cache != 0);
}

static const char *
find_reason_of_driver(const struct bench_case *c)
{
	const char *missing = bench_driver_missing(c->driver);
	unsigned int limits = c->driver->limits;

	if (missing != NULL)
		return missing;
	if ((limits & BENCH_ONE_LCORE) && (c->pattern->lcores != BENCH_ONE || c->pattern->threads))
		return "made for one lcore at a time";
	if ((limits & BENCH_NO_THREADS) && c->pattern->threads)
		return "crashes in threads that are no lcores";
	if ((limits & BENCH_WHOLE_BUCKETS) && parts_neighbours(c))
		return "runs dry when objects that lie side by side are not freed together";
	return NULL;
}

static const char *
find_reason_of_pattern(const struct bench_case *c)
{
	const char *misfit = bench_lcores_misfit(c->pattern->lcores);

	if (misfit != NULL)
		return misfit;
	if (c->pattern->loops[0] == bench_loop_trace && bench_opt.trace == NULL)
		return "needs a capture: --trace FILE";
	return is_too_large(c) ? "the pool is too small for bursts and caches" : NULL;
}

/* Who cannot do what, and why; NULL when the case can be run. */
static const char *
find_reason(const struct bench_case *c, const char **who)
{
	const char *why = find_reason_of_driver(c);

	*who = c->driver->name;
	if (why != NULL)
		return why;
	*who = c->pattern->name;
	return find_reason_of_pattern(c);
}

static void
leave_out(const char *name, const char *who, const char *why)
{
	char text[sizeof(reasons[0].text)];
	unsigned int i;

	if (!bench_shim_selects(name))
		return;
	snprintf(text, sizeof(text), "%s: %s", who, why);
	for (i = 0; i < MAX_REASONS - 1 && reasons[i].cases != 0; i++)
		if (strcmp(reasons[i].text, text) == 0)
			break;
	if (reasons[i].cases++ == 0)
		memcpy(reasons[i].text, text, sizeof(text));
}

/* Called by Google Benchmark for each of the family's. */
static void
run_one(struct bench_state *state, void *arg)
{
	struct family *f = arg;

	for (unsigned int i = 0; i < f->n; i++)
		if (f->cases[i].cache == bench_state_arg(state, 0) &&
				f->cases[i].n == bench_state_arg(state, 1))
			bench_run(state, &f->cases[i]);
}

static void
begin_family(struct family *f, const struct bench_case *c)
{
	const char *keys[MAX_PARTS];
	int64_t values[MAX_PARTS];
	unsigned int n = name_parts(c, keys, values);
	char name[BENCH_NAME_SIZE];

	snprintf(name, sizeof(name), "%s/%s", c->pattern->name, c->driver->name);
	f->registered = bench_shim_register(name, keys, n, run_one, f);
}

static void
add(struct family *f, const struct bench_case *c)
{
	const char *keys[MAX_PARTS], *who, *why = find_reason(c, &who);
	char name[BENCH_NAME_SIZE];
	int64_t values[MAX_PARTS];

	if (why != NULL) {
		bench_case_name(c, name);
		leave_out(name, who, why);
		return;
	}
	if (f->n == 0)
		begin_family(f, c);
	f->cases[f->n++] = *c;
	bench_shim_args(f->registered, values, name_parts(c, keys, values));
}

/* Threads that are no lcores have no rte_mempool cache. */
static bool
can_have_cache(const struct bench_case *c)
{
	return !(c->driver->limits & BENCH_NO_CACHE) && !c->pattern->threads;
}

static void
add_sizes(struct bench_case c)
{
	struct family *f = calloc(1, sizeof(*f));	/* for as long as the program runs */

	for (unsigned int i = 0; f != NULL && i < RTE_DIM(caches); i++) {
		if (caches[i] != 0 && !can_have_cache(&c))
			continue;
		c.cache = caches[i];
		for (unsigned int j = 0; j < RTE_DIM(sizes); j++) {
			c.n = sizes[j];
			add(f, &c);
		}
	}
}

/* All lcores, and where several share a CPU, fewer: named where they do not fit, to say why. */
static void
add_lcores(struct bench_case c)
{
	unsigned int by_cpu = bench_lcores_by_cpu();

	add_sizes(c);
	for (unsigned int k = 1; c.pattern->lcores == BENCH_OVER && k <= MAX_BY_CPU; k *= 2) {
		c.lcores = k * bench_lcores_cpus();
		if (by_cpu < 2 || k < by_cpu)
			add_sizes(c);
	}
}

static void
add_holds(struct bench_case c)
{
	for (unsigned int i = 0; i < RTE_DIM(c.pattern->holds); i++) {
		c.hold = c.pattern->holds[i];
		if (i == 0 || c.hold != 0)
			add_lcores(c);
	}
}

static void
add_touches(struct bench_case c)
{
	for (unsigned int i = 0; i < RTE_DIM(touches); i++) {
		c.lines = touches[i];
		if (i == 0 || c.pattern->touch)
			add_holds(c);
	}
}

/* Small objects are for the kernel's table, and show whether a pool's size matters. */
static void
add_pools(struct bench_case c)
{
	static const unsigned int small_pools[] = { 1024, BENCH_OBJECTS, 1 << 20 };

	c.size = BENCH_SIZE;
	c.objects = BENCH_OBJECTS;
	add_touches(c);
	c.objects = LARGE_OBJECTS;
	if (c.pattern->large)
		add_touches(c);
	c.size = SMALL_SIZE;
	for (unsigned int i = 0; c.pattern->small && i < RTE_DIM(small_pools); i++) {
		c.objects = small_pools[i];
		add_sizes(c);
	}
}

/* The sizes of the kernel's table, which its threads are compared with. */
static void
add_thread_pools(struct bench_case c)
{
	c.objects = BENCH_OBJECTS;
	for (unsigned int i = 0; i < RTE_DIM(thread_sizes); i++) {
		c.size = thread_sizes[i];
		add_sizes(c);
	}
}

static void
add_pattern(const struct bench_pattern *p)
{
	struct bench_case c = { .pattern = p };

	for (unsigned int i = 0; i < bench_nb_drivers; i++) {
		c.driver = &bench_drivers[i];
		if (!bench_driver_takes_part(c.driver, p->threads))
			continue;
		if (p->threads)
			add_thread_pools(c);
		else
			add_pools(c);
	}
}

static void
add_creations(void)
{
	const struct bench_driver *d;

	for (d = bench_drivers; d < bench_drivers + bench_nb_drivers; d++)
		if (bench_driver_takes_part(d, false) && !bench_driver_is_array(d) &&
				bench_driver_missing(d) == NULL)
			bench_create_register(d);
}

static void
say_what_is_left_out(void)
{
	for (unsigned int i = 0; i < MAX_REASONS && reasons[i].cases != 0; i++)
		bench_error("left out %u of %s", reasons[i].cases, reasons[i].text);
}

void
bench_cases_register(void)
{
	for (unsigned int i = 0; i < bench_nb_patterns; i++)
		add_pattern(&bench_patterns[i]);
	add_creations();
	say_what_is_left_out();
}
