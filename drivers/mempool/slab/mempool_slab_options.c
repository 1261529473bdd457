/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_kvargs.h>

#include "mempool_slab_private.h"

/* A value is one of the words, whose place in the list is what it means, or a number. */
struct option {
	const char *key;
	const char *words[3];
	unsigned long min, max;
	const char *allowed;
	void (*set)(struct slab_conf *conf, uint32_t value);
};

static void
set_magazine(struct slab_conf *conf, uint32_t value)
{
	conf->magazine = value;
}

static void
set_depot(struct slab_conf *conf, uint32_t value)
{
	conf->depot = value;
}

static void
set_min_partial(struct slab_conf *conf, uint32_t value)
{
	conf->min_partial = value;
}

static void
set_stats(struct slab_conf *conf, uint32_t value)
{
	conf->stats = value != 0;
}

static void
set_lcore_partial(struct slab_conf *conf, uint32_t value)
{
	conf->lcore_partial = value;
}

static void
set_thread_cache(struct slab_conf *conf, uint32_t value)
{
	conf->thread_cache = (enum slab_thread_cache)value;
}

static void
set_check(struct slab_conf *conf, uint32_t value)
{
	conf->check = value != 0;
}

static void
set_track(struct slab_conf *conf, uint32_t value)
{
	conf->track = value != 0;
}

static void
set_on_fault(struct slab_conf *conf, uint32_t value)
{
	conf->abort_on_fault = value != 0;
}

#define THREAD_CACHES { [SLAB_THREADS_RSEQ] = "rseq", [SLAB_THREADS_LOCK] = "lock", \
	[SLAB_THREADS_OFF] = "off" }

const char *
mempool_slab_thread_cache_name(enum slab_thread_cache value)
{
	static const char *const names[] = THREAD_CACHES;

	return names[value];
}

static const struct option options[] = {
	{ "magazine", .min = 1, .max = SLAB_MAX_MAGAZINE, .set = set_magazine,
		.allowed = "1 to 4096 objects" },
	{ "depot", .min = 0, .max = UINT32_MAX - 1, .set = set_depot,
		.allowed = "0 to 4294967294 magazines per node" },
	{ "min_partial", .min = 0, .max = UINT32_MAX - 1, .set = set_min_partial,
		.allowed = "0 to 4294967294 slabs" },
	{ "lcore_partial", .min = 0, .max = SLAB_MAX_LCORE_PARTIAL, .set = set_lcore_partial,
		.allowed = "0 to 64 slabs" },
	{ "thread_cache", .words = THREAD_CACHES, .set = set_thread_cache,
		.allowed = "rseq, lock or off" },
	{ "check", .words = { "off", "on" }, .set = set_check, .allowed = "on or off" },
	{ "track", .words = { "off", "on" }, .set = set_track, .allowed = "on or off" },
	{ "on_fault", .words = { "report", "abort" }, .set = set_on_fault,
		.allowed = "report or abort" },
	{ "stats", .words = { "off", "on" }, .set = set_stats, .allowed = "on or off" },
};

struct parsing {
	const struct rte_mempool *mp;
	struct slab_conf *conf;
	struct mempool_slab_plan *plan;
};

static bool
read_value(const struct option *o, const char *text, uint32_t *value)
{
	unsigned long number;
	char *end;

	for (*value = 0; o->words[0] != NULL; (*value)++) {
		if (*value == RTE_DIM(o->words) || o->words[*value] == NULL)
			return false;
		if (strcmp(o->words[*value], text) == 0)
			return true;
	}
	errno = 0;
	number = strtoul(text, &end, 10);
	*value = (uint32_t)number;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
		number >= o->min && number <= o->max;
}

static int
take_option(const char *key, const char *value, void *arg)
{
	const struct parsing *p = arg;
	const struct option *o;
	uint32_t number;

	if (strcmp(key, "nodes") == 0)
		return mempool_slab_plan_read(p->mp, value != NULL ? value : "", p->plan);
	for (o = options; o < options + RTE_DIM(options); o++) {
		if (strcmp(o->key, key) != 0)
			continue;
		if (value != NULL && read_value(o, value, &number)) {
			o->set(p->conf, number);
			return 0;
		}
		SLAB_LOG(ERR, "pool %s: option %s=%s: allowed: %s", p->mp->name, key,
			value != NULL ? value : "", o->allowed);
		return -EINVAL;
	}
	SLAB_LOG(ERR, "pool %s: option %s=%s: no such key; allowed: "
		"magazine, depot, min_partial, lcore_partial, thread_cache, check, track, on_fault, "
		"stats, nodes", p->mp->name, key,
		value != NULL ? value : "");
	return -EINVAL;
}

static int
parse(struct parsing *p, const char *source, const char *text)
{
	struct rte_kvargs *kvlist;
	int ret;

	if (text == NULL || text[0] == '\0')
		return 0;
	kvlist = rte_kvargs_parse(text, NULL);
	if (kvlist == NULL) {
		SLAB_LOG(ERR, "pool %s: options '%s' in %s: allowed: at most %d of key=value, "
			"with commas in between", p->mp->name, text, source, RTE_KVARGS_MAX);
		return -EINVAL;
	}
	ret = rte_kvargs_process(kvlist, NULL, take_option, p);
	rte_kvargs_free(kvlist);
	return ret < 0 ? -EINVAL : 0;
}

int
mempool_slab_options(const struct rte_mempool *mp, struct slab_conf *conf,
	struct mempool_slab_plan *plan)
{
	struct parsing p = { .mp = mp, .conf = conf, .plan = plan };
	int ret = parse(&p, "the environment variable MEMPOOL_SLAB", getenv("MEMPOOL_SLAB"));

	if (ret == 0)
		ret = parse(&p, "pool_config", mp->pool_config);
	if (ret == 0 && mempool_slab_nodes_asked() != NULL)
		ret = mempool_slab_plan_read(mp, mempool_slab_nodes_asked(), plan);
	if (ret == 0 && conf->track && !conf->check) {
		SLAB_LOG(ERR, "pool %s: option track=on: allowed: with check=on", mp->name);
		ret = -EINVAL;
	}
	return ret;
}
