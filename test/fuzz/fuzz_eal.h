/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_EAL_H
#define FUZZ_EAL_H

#include <unistd.h>

#include <rte_eal.h>

#include "fuzz.h"

/* Without hugepages, and in a place of this process's own. */
static inline void
fuzz_start_eal(const char *more)
{
	static char line[300], *argv[32];
	int argc = 0;
	char *word, *rest;

	snprintf(line, sizeof(line), "fuzz --no-huge -m 64 --no-pci -l 0 --log-level=1 "
		"--file-prefix=slab_fuzz_%d %s", (int)getpid(), more);
	for (word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	MUST(rte_eal_init(argc, argv) >= 0);
}

#endif /* FUZZ_EAL_H */
