/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "mempool_slab_private.h"

/*
 * Tunables of pools in use, by their names.
 *
 * /mempool_slab/tunables,<pool>             what they are set to, and the largest allowed
 * /mempool_slab/set,<pool>,<name>,<value>   sets one; answers with what is set then
 *
 * Both answer {"error": why} when they cannot.
 */

static const struct tunable {
	const char *name;
	enum slab_tunable which;
	const char *unit;
} tunables[] = {
	{ "depot", SLAB_TUNABLE_DEPOT, "magazines per node" },
	{ "lcore_partial", SLAB_TUNABLE_LCORE_PARTIAL, "slabs" },
	{ "min_partial", SLAB_TUNABLE_MIN_PARTIAL, "slabs" },
};
#define ALL_NAMES "depot, lcore_partial, min_partial"

/* What is wrong with a value: pool, tunable, value, what is allowed. */
#define NOT_ALLOWED "pool %s: tunable %s=%.16s: allowed: 0 to %" PRIu32 " %s"

static const struct tunable *
find(const char *name)
{
	const struct tunable *t;

	for (t = tunables; t < tunables + RTE_DIM(tunables); t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

int
mempool_slab_tunable_get(const struct rte_mempool *mp, const char *name, uint32_t *value)
{
	const struct tunable *t = find(name);

	if (t == NULL || !mempool_slab_is(mp))
		return -EINVAL;
	*value = slab_pool_tunable(mp->pool_data, t->which);
	return 0;
}

int
mempool_slab_tunable_set(struct rte_mempool *mp, const char *name, uint32_t value)
{
	const struct tunable *t = find(name);
	char text[16];
	int ret;

	if (t == NULL || !mempool_slab_is(mp))
		return -EINVAL;
	ret = slab_pool_tune(mp->pool_data, t->which, value);
	if (ret != 0) {
		snprintf(text, sizeof(text), "%" PRIu32, value);
		SLAB_LOG(ERR, NOT_ALLOWED, mp->name, t->name, text,
			slab_pool_tunable_most(mp->pool_data, t->which), t->unit);
	}
	return ret;
}

static int
answer_tunables(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const struct rte_mempool *mp = mempool_slab_answer_begin(params, data);
	const struct slab_pool *pool;
	const struct tunable *t;
	char most[32];

	RTE_SET_USED(cmd);
	if (mp == NULL)
		return 0;
	pool = mp->pool_data;
	for (t = tunables; t < tunables + RTE_DIM(tunables); t++) {
		snprintf(most, sizeof(most), "%s_max", t->name);
		rte_tel_data_add_dict_u64(data, t->name, slab_pool_tunable(pool, t->which));
		rte_tel_data_add_dict_u64(data, most, slab_pool_tunable_most(pool, t->which));
	}
	return 0;
}

/* Cut the text at its last comma, since a pool's name may have some; returns what stood behind. */
static char *
cut(char *text)
{
	char *comma = strrchr(text, ',');

	if (comma != NULL)
		*comma++ = '\0';
	return comma;
}

static int
set_by_text(struct rte_mempool *mp, const struct tunable *t, const char *value,
	struct rte_tel_data *data)
{
	const char *end = value;
	unsigned long number;

	if (!mempool_slab_read_number(&end, &number) || *end != '\0' || number > UINT32_MAX ||
			slab_pool_tune(mp->pool_data, t->which, (uint32_t)number) != 0)
		return mempool_slab_answer_error(data, NOT_ALLOWED, mp->name, t->name, value,
			slab_pool_tunable_most(mp->pool_data, t->which), t->unit);
	return rte_tel_data_add_dict_u64(data, t->name,
		slab_pool_tunable(mp->pool_data, t->which));
}

static int
answer_set(const char *cmd, const char *params, struct rte_tel_data *data)
{
	char text[RTE_TEL_MAX_STRING_LEN], *name, *value;
	const struct tunable *t;
	struct rte_mempool *mp;

	RTE_SET_USED(cmd);
	if (params == NULL || rte_strscpy(text, params, sizeof(text)) < 0 ||
			(value = cut(text)) == NULL || (name = cut(text)) == NULL)
		return mempool_slab_answer_error(data, "'%.32s': wanted: POOL,TUNABLE,VALUE",
			params != NULL ? params : "");
	mp = mempool_slab_answer_begin(text, data);
	if (mp == NULL)
		return 0;
	t = find(name);
	if (t == NULL)
		return mempool_slab_answer_error(data, "pool %s: no tunable '%.16s'; allowed: " ALL_NAMES,
			mp->name, name);
	return set_by_text(mp, t, value, data);
}

RTE_INIT(mempool_slab_tunables)
{
	mempool_slab_register_cmd("/mempool_slab/tunables", answer_tunables,
		"Returns what can be set in a slab pool, and how far. Parameters: string name");
	mempool_slab_register_cmd("/mempool_slab/set", answer_set,
		"Sets a tunable of a slab pool. Parameters: string name, string tunable, value");
}
