/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include "slab_slab.h"

const char *
slab_fault_text(enum slab_fault fault)
{
	return fault == SLAB_FAULT_DOUBLE ? "free already" : "no object of this pool";
}

static void
print_fault(const struct slab_pool *pool, const void *obj, enum slab_fault fault)
{
	fprintf(stderr, "slab pool %s: %p is %s; dropped\n", slab_pool_name(pool), obj,
		slab_fault_text(fault));
}

static slab_fault_handler handler_of_process = print_fault;

void
slab_set_fault_handler(slab_fault_handler handler)
{
	handler_of_process = handler != NULL ? handler : print_fault;
}

void
slab_fault_report(struct slab_pool *pool, const void *obj, enum slab_fault fault)
{
	slab_add_relaxed(&pool->faults, 1);
	handler_of_process(pool, obj, fault);
}
