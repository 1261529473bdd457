/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MEMPOOL_SLAB_INTERNAL_H
#define MEMPOOL_SLAB_INTERNAL_H

#include <rte_log.h>
#include <rte_mempool.h>

#include "slab.h"

extern int mempool_slab_logtype;

#define SLAB_LOG(level, fmt, ...) \
	rte_log(RTE_LOG_##level, mempool_slab_logtype, "mempool_slab: " fmt "\n", ##__VA_ARGS__)

/*
 * Read the options of the environment variable MEMPOOL_SLAB and then those of mp->pool_config,
 * which overrule them, into conf. -EINVAL, after one line that says what is wrong with which.
 */
int
mempool_slab_options(const struct rte_mempool *mp, struct slab_conf *conf);

#endif /* MEMPOOL_SLAB_INTERNAL_H */
