/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "mempool_slab_private.h"

/*
 * /mempool_slab/list             names of this process's slab pools
 * /mempool_slab/info,<pool>      how a pool is made
 * /mempool_slab/stats,<pool>     what all lcores did together; zero but for a pool with stats=on
 *
 * Called in the telemetry thread; only reads, and waits for nobody who gets or puts. What is wrong with a
 * question is answered by {"error": why}. Further commands are in mempool_slab_tunables.c,
 * mempool_slab_audit.c and mempool_slab_reclaim.c.
 */

pthread_mutex_t mempool_slab_freeing = PTHREAD_MUTEX_INITIALIZER;

static struct {
	const char *name;
	telemetry_cb answer;
} commands[16];

static int
answer_locked(const char *cmd, const char *params, struct rte_tel_data *data)
{
	int ret = -EINVAL, i;

	pthread_mutex_lock(&mempool_slab_freeing);
	for (i = 0; commands[i].name != NULL; i++)
		if (strcmp(commands[i].name, cmd) == 0)
			ret = commands[i].answer(cmd, params, data);
	pthread_mutex_unlock(&mempool_slab_freeing);
	return ret;
}

void
mempool_slab_register_cmd(const char *name, telemetry_cb answer, const char *help)
{
	int i = 0;

	while (commands[i].name != NULL)
		i++;
	commands[i].name = name;
	commands[i].answer = answer;
	rte_telemetry_register_cmd(name, answer_locked, help);
}

bool
mempool_slab_chosen(const struct rte_mempool *mp)
{
	return strcmp(rte_mempool_ops_table.ops[mp->ops_index].name, "slab") == 0;
}

bool
mempool_slab_is(const struct rte_mempool *mp)
{
	return mempool_slab_chosen(mp) && mp->pool_data != NULL && slab_pool_valid(mp->pool_data);
}

char *
mempool_slab_ascii(char *text)
{
	char *at;

	for (at = text; *at != '\0'; at++)
		if ((unsigned char)*at > 127)
			*at = '?';
	return text;
}

static void
list_pool(struct rte_mempool *mp, void *data)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!mempool_slab_is(mp))
		return;
	rte_strscpy(name, mp->name, sizeof(name));
	rte_tel_data_add_array_string(data, mempool_slab_ascii(name));
}

static int
list(const char *cmd, const char *params, struct rte_tel_data *data)
{
	RTE_SET_USED(cmd);
	RTE_SET_USED(params);
	rte_tel_data_start_array(data, RTE_TEL_STRING_VAL);
	rte_mempool_walk(list_pool, data);
	return 0;
}

struct rte_mempool *
mempool_slab_lookup(const char *name)
{
	struct rte_mempool *mp = name == NULL ? NULL : rte_mempool_lookup(name);

	return mp != NULL && mempool_slab_is(mp) ? mp : NULL;
}

int
mempool_slab_answer_error(struct rte_tel_data *data, const char *format, ...)
{
	char text[RTE_TEL_MAX_STRING_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rte_tel_data_start_dict(data);
	return rte_tel_data_add_dict_string(data, "error", mempool_slab_ascii(text));
}

struct rte_mempool *
mempool_slab_answer_begin(const char *name, struct rte_tel_data *data)
{
	struct rte_mempool *mp = mempool_slab_lookup(name);
	char text[RTE_MEMPOOL_NAMESIZE];

	if (mp == NULL) {
		mempool_slab_answer_error(data, "pool '%.32s': there is no such pool of slab",
			name != NULL ? name : "");
		return NULL;
	}
	rte_strscpy(text, mp->name, sizeof(text));
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "name", mempool_slab_ascii(text));
	return mp;
}

static int
info(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const struct rte_mempool *mp = mempool_slab_answer_begin(params, data);
	const struct slab_pool *pool;

	RTE_SET_USED(cmd);
	if (mp == NULL)
		return 0;
	pool = mp->pool_data;
	rte_tel_data_add_dict_u64(data, "objects", slab_pool_added(pool));
	rte_tel_data_add_dict_u64(data, "free", slab_pool_count(pool));
	rte_tel_data_add_dict_u64(data, "object_size", mp->elt_size);
	rte_tel_data_add_dict_u64(data, "cache_size", mp->cache_size);
	rte_tel_data_add_dict_u64(data, "magazine", slab_pool_magazine(pool));
	rte_tel_data_add_dict_u64(data, "depot", slab_pool_depot(pool));
	rte_tel_data_add_dict_u64(data, "nodes", slab_pool_nodes(pool));
	rte_tel_data_add_dict_string(data, "thread_cache",
		mempool_slab_thread_cache_name(slab_pool_thread_cache(pool)));
	rte_tel_data_add_dict_string(data, "check", slab_pool_checks(pool) ? "on" : "off");
	rte_tel_data_add_dict_string(data, "track", slab_pool_tracks(pool) ? "on" : "off");
	rte_tel_data_add_dict_u64(data, "faults", slab_pool_faults(pool));
	return 0;
}

static const char *const fault_names[SLAB_FAULTS] = {
	[SLAB_FAULT_FOREIGN] = "faults_foreign",
	[SLAB_FAULT_INSIDE] = "faults_inside",
	[SLAB_FAULT_DOUBLE] = "faults_double",
	[SLAB_FAULT_IN_USE] = "faults_in_use",
};

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define FIELD(name) { #name, offsetof(struct slab_stats, name) }
	FIELD(get_bulks), FIELD(get_objs), FIELD(get_fails), FIELD(put_bulks), FIELD(put_objs),
	FIELD(depot_gets), FIELD(depot_puts), FIELD(slab_gets), FIELD(slab_puts),
	FIELD(node_gets), FIELD(node_puts), FIELD(takes),
#undef FIELD
};

static uint64_t *
field(struct slab_stats *of, unsigned int i)
{
	return (uint64_t *)((char *)of + fields[i].offset);
}

/* Over all lcores; the number that is no lcore's stands for all other threads. */
static struct slab_stats
sum(const struct slab_pool *pool)
{
	struct slab_stats all = { 0 }, one;
	unsigned int i;
	uint32_t lcore;

	for (lcore = 0; lcore <= RTE_MAX_LCORE; lcore++) {
		slab_pool_stats(pool, lcore, &one);
		for (i = 0; i < RTE_DIM(fields); i++)
			*field(&all, i) += *field(&one, i);
	}
	return all;
}

static int
stats(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const struct rte_mempool *mp = mempool_slab_answer_begin(params, data);
	struct slab_stats all;
	unsigned int i;

	RTE_SET_USED(cmd);
	if (mp == NULL)
		return 0;
	all = sum(mp->pool_data);
	for (i = 0; i < RTE_DIM(fields); i++)
		rte_tel_data_add_dict_u64(data, fields[i].name, *field(&all, i));
	rte_tel_data_add_dict_u64(data, "faults", slab_pool_faults(mp->pool_data));
	for (i = 0; i < SLAB_FAULTS; i++)
		rte_tel_data_add_dict_u64(data, fault_names[i],
			slab_pool_faults_of(mp->pool_data, (enum slab_fault)i));
	return 0;
}

RTE_INIT(mempool_slab_telemetry)
{
	mempool_slab_register_cmd("/mempool_slab/list", list,
		"Returns the names of the slab pools. Takes no parameters");
	mempool_slab_register_cmd("/mempool_slab/info", info,
		"Returns how a slab pool is made. Parameters: string name");
	mempool_slab_register_cmd("/mempool_slab/stats", stats,
		"Returns what was done to a slab pool made with stats=on. Parameters: string name");
}
