/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FAULTS_H
#define FAULTS_H

/*
 * What the programs of this directory share: how much memory is in use, so that what a failure
 * leaves behind shows, and whether a pool is whole.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include "../driver/plugin.h"

/** All that the making of a pool may take. */
struct ledger {
	unsigned int blocks;  /**< Of EAL's heaps, on all sockets; memzones are some of them. */
	size_t bytes;
	unsigned int memzones;
	unsigned int mempools;
	long mapped;          /**< Bytes that rte_mempool_populate_anon() mapped. */
	long libc_blocks;
};

struct ledger
ledger_take(void);

/** Fails the test where something is left, or gone, since the ledger was taken. */
void
ledger_check(const struct ledger *before, const char *after_what);

/** Calls rte_eal_init(), and takes the log from it; ends the program where that fails. */
void
faults_init(int argc, char **argv);

/** What was logged since the last log_clear(), as far as there is room for it. */
void
log_clear(void);
const char *
log_text(void);

/**
 * The pool hands out n objects, each once, and no more; all that was written to one is there when
 * all have been written to; then they are back.
 */
void
check_whole(struct rte_mempool *mp, unsigned int n);

/** Hold all n objects of a pool, each with this number in all its words; or check and give back. */
void **
hold_all(struct rte_mempool *mp, unsigned int n, uint64_t number);
void
give_all(struct rte_mempool *mp, void **objs, unsigned int n, uint64_t number);

#endif /* FAULTS_H */
