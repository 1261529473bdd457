/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_string_fns.h>
#include <rte_telemetry.h>

#include "mempool_slab_private.h"

/*
 * /mempool_slab/reclaim,<pool>             gets back what killed processes have left in caches
 * /mempool_slab/reclaim,<pool>,<process>   of one of them, by its number
 *
 * Answers with how many objects that were.
 */

int
mempool_slab_reclaim(struct rte_mempool *mp, uint32_t process)
{
	return mempool_slab_is(mp) ? (int)slab_pool_reclaim(mp->pool_data, process) : -EINVAL;
}

/* A number behind the last comma is the process's, unless all together is a pool's name. */
static uint32_t
cut_process(char *text)
{
	char *comma = strrchr(text, ',');
	unsigned long number;
	const char *end;

	if (comma == NULL || mempool_slab_lookup(text) != NULL)
		return 0;
	end = comma + 1;
	if (!mempool_slab_read_number(&end, &number) || *end != '\0' || number > UINT32_MAX)
		return 0;
	*comma = '\0';
	return (uint32_t)number;
}

static int
answer_reclaim(const char *cmd, const char *params, struct rte_tel_data *data)
{
	char text[RTE_TEL_MAX_STRING_LEN] = "";
	struct rte_mempool *mp;
	uint32_t process;

	RTE_SET_USED(cmd);
	if (params != NULL)
		rte_strscpy(text, params, sizeof(text));
	process = cut_process(text);
	mp = mempool_slab_answer_begin(text, data);
	if (mp == NULL)
		return 0;
	return rte_tel_data_add_dict_u64(data, "objects",
		slab_pool_reclaim(mp->pool_data, process));
}

RTE_INIT(mempool_slab_reclaim_register)
{
	mempool_slab_register_cmd("/mempool_slab/reclaim", answer_reclaim,
		"Gets back what killed processes left in caches of a slab pool. "
		"Parameters: string name, optionally int process");
}
