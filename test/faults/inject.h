/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef INJECT_H
#define INJECT_H

/*
 * Steps that fail on request. The program defines what DPDK's libraries and the plugin call to get
 * memory, and shows it to the loader, so that they all come here; each call goes on to the true
 * function, or fails. Only calls of the thread that began count.
 */

#include <stdbool.h>
#include <stddef.h>

#define INJECT_NAME 64
#define INJECT_MAX_CALLS 2048

/** Which call is to fail. */
struct inject {
	unsigned int nth;  /**< 1 is the first; 0: none. */
	bool on;           /**< All that follow it as well. */
	int error;         /**< The errno of memzones that are refused. */
	size_t limit;      /**< Bytes of the largest memzone that can be had; 0: any. Those over it
			    *   are no calls that count. */
};

void
inject_begin(struct inject what);

/** Calls since inject_begin(); from now on nothing fails. */
unsigned int
inject_end(void);

/** What the i-th call, from 1 on, was: the function, and what it was for or who called it. */
const char *
inject_name(unsigned int i);

/** Blocks of malloc() that nobody has freed; bytes of rte_mem_map() that nobody has unmapped. */
long
inject_libc_blocks(void);
long
inject_mapped(void);

#endif /* INJECT_H */
