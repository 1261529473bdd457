/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All cases: patterns times drivers times sizes. Those that cannot be run here are left out, and
 * why is said once for each reason, if the filter asked for them.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>

#include "bench.h"
#include "shim.h"

#define MAX_REASONS 64
#define MAX_PARTS 6
#define LARGE_OBJECTS 262144
#define SMALL_SIZE 256

static const unsigned int sizes[] = {
	1, 2, 3, 4, 8, 16, 30, 32, 34, 48, 64, 128, 158, 250, 256, 512, 768, 1024
};
static const unsigned int caches[] = { 0, 256, 512 };
static const unsigned int touches[] = { 0, 2 };

enum limits {
	ONE_LCORE = 1,		/* only one may get and put */
	NO_CACHE = 2,		/* there is no rte_mempool around it */
	WHOLE_BUCKETS = 4,	/* free objects of a bucket cannot be had before it is full */
};

static const struct driver {
	const char *name;
	unsigned int limits;
} drivers[] = {
	{ "slab" }, { "ring_mp_mc" }, { "ring_sp_sc", ONE_LCORE }, { "ring_mt_rts" },
	{ "ring_mt_hts" }, { "stack" }, { "lf_stack" }, { "bucket", WHOLE_BUCKETS },
	{ "array", ONE_LCORE | NO_CACHE },
};

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
bench_driver_is_array(const char *ops)
{
	return strcmp(ops, "array") == 0;
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

	len = snprintf(name, BENCH_NAME_SIZE, "%s/%s", c->pattern->name, c->ops);
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
	unsigned int needed = bench_lcores_list(c->pattern->lcores, lcores) * by_lcore + c->hold;

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

/* Who cannot do what, and why; NULL when the case can be run. */
static const char *
find_reason(const struct driver *d, const struct bench_case *c, const char **who)
{
	const char *misfit = bench_lcores_misfit(c->pattern->lcores);

	*who = d->name;
	if (!bench_pool_has_driver(d->name))
		return strcmp(d->name, "slab") == 0 ?
			"the driver is not loaded: -d librte_mempool_slab.so" :
			"no such mempool driver is loaded";
	if ((d->limits & ONE_LCORE) && c->pattern->lcores != BENCH_ONE)
		return "made for one lcore at a time";
	if ((d->limits & WHOLE_BUCKETS) && parts_neighbours(c))
		return "runs dry when objects that lie side by side are not freed together";
	*who = c->pattern->name;
	if (misfit != NULL)
		return misfit;
	if (c->pattern->loops[0] == bench_loop_trace && bench_opt.trace == NULL)
		return "needs a capture: --trace FILE";
	return is_too_large(c) ? "the pool is too small for bursts and caches" : NULL;
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

	snprintf(name, sizeof(name), "%s/%s", c->pattern->name, c->ops);
	f->registered = bench_shim_register(name, keys, n, run_one, f);
}

static void
add(struct family *f, const struct driver *d, const struct bench_case *c)
{
	const char *keys[MAX_PARTS], *who, *why = find_reason(d, c, &who);
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

static void
add_sizes(const struct driver *d, struct bench_case c)
{
	struct family *f = calloc(1, sizeof(*f));	/* for as long as the program runs */

	for (unsigned int i = 0; f != NULL && i < RTE_DIM(caches); i++) {
		if (caches[i] != 0 && (d->limits & NO_CACHE))
			continue;
		c.cache = caches[i];
		for (unsigned int j = 0; j < RTE_DIM(sizes); j++) {
			c.n = sizes[j];
			add(f, d, &c);
		}
	}
}

static void
add_holds(const struct driver *d, struct bench_case c)
{
	for (unsigned int i = 0; i < RTE_DIM(c.pattern->holds); i++) {
		c.hold = c.pattern->holds[i];
		if (i == 0 || c.hold != 0)
			add_sizes(d, c);
	}
}

static void
add_touches(const struct driver *d, struct bench_case c)
{
	for (unsigned int i = 0; i < RTE_DIM(touches); i++) {
		c.lines = touches[i];
		if (i == 0 || c.pattern->touch)
			add_holds(d, c);
	}
}

/* Small objects are for the kernel's table, and show whether a pool's size matters. */
static void
add_pools(const struct driver *d, struct bench_case c)
{
	static const unsigned int small_pools[] = { 1024, BENCH_OBJECTS, 1 << 20 };

	c.size = BENCH_SIZE;
	c.objects = BENCH_OBJECTS;
	add_touches(d, c);
	c.objects = LARGE_OBJECTS;
	if (c.pattern->large)
		add_touches(d, c);
	c.size = SMALL_SIZE;
	for (unsigned int i = 0; c.pattern->small && i < RTE_DIM(small_pools); i++) {
		c.objects = small_pools[i];
		add_sizes(d, c);
	}
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
		for (unsigned int j = 0; j < RTE_DIM(drivers); j++)
			add_pools(&drivers[j], (struct bench_case){
				.pattern = &bench_patterns[i], .ops = drivers[j].name });
	for (unsigned int j = 0; j < RTE_DIM(drivers); j++)
		if (!bench_driver_is_array(drivers[j].name) && bench_pool_has_driver(drivers[j].name))
			bench_create_register(drivers[j].name);
	say_what_is_left_out();
}
