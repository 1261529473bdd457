/* SPDX-License-Identifier: BSD-3-Clause */

/* Where a pool's buffers are when forwarding has ended: slab alone can say it. */

#include <stdio.h>

#include "l2fwd.h"
#include "mempool_slab.h"

static char line[256];

void
l2fwd_audit(const struct rte_mempool *mp, bool missing)
{
	/* The plugin is loaded by EAL, if at all: this program is not linked with it. */
	__typeof__(&mempool_slab_audit) audit = apps_slab_function("mempool_slab_audit");
	struct mempool_slab_audit a;

	if (audit == NULL || audit(mp, &a, missing ? stderr : NULL) != 0)
		return;
	snprintf(line, sizeof(line), "Buffers of slab at the end: %u of %u free (%u in slabs, "
		"%u in depots, %u in lcore caches, %u in CPU caches, %u in mempool caches), "
		"%u in use", a.objects - a.out - a.lost, a.objects, a.in_slabs, a.in_depots,
		a.in_lcore_caches, a.in_cpu_caches, a.in_mempool_caches, a.out);
}

void
l2fwd_audit_report(FILE *f)
{
	if (line[0] != '\0')
		fprintf(f, "%s\n", line);
}
