/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef WAYS_H
#define WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include <rte_mempool.h>

/** What a pool is asked to be. */
struct wish {
	const char *name;
	unsigned int n;
	const char *options;  /**< Or NULL. Ways that cannot pass them do without. */
};

/**
 * A way in which applications make pools of the driver. Where that fails they free what there is,
 * as they have to.
 */
struct way {
	const char *name;
	unsigned int n;       /**< Objects that show all of its steps. */
	const char *options;  /**< The same. */
	size_t limit;         /**< Bytes of the largest memzone that it is to find; 0: any. */
	bool mute;            /**< It does not tell why it failed. */

	/**
	 * @param code
	 *   0, or what the application is told: negative; 0 where it is told nothing.
	 * @return
	 *   The pool, with all its objects; or NULL.
	 */
	struct rte_mempool *(*make)(const struct wish *wish, int *code);
};

extern const struct way ways[];
extern const unsigned int nr_ways;

struct rte_mempool *
make(const struct way *way, const char *name, int *code);

/** Memory for the ways that bring their own. */
void
ways_init(void);

#endif /* WAYS_H */
