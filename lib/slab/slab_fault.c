/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "slab_chunk.h"
#include "slab_slab.h"

const char *
slab_fault_text(enum slab_fault fault)
{
	static const char *const texts[SLAB_FAULTS] = {
		[SLAB_FAULT_FOREIGN] = "no object of this pool",
		[SLAB_FAULT_INSIDE] = "inside of an object, not its start",
		[SLAB_FAULT_DOUBLE] = "free already",
		[SLAB_FAULT_IN_USE] = "in use already",
	};

	return texts[fault];
}

enum slab_fault
slab_fault_of_stranger(const struct slab_pool *pool, const void *what)
{
	return slab_chunk_surrounds(pool, what) ? SLAB_FAULT_INSIDE : SLAB_FAULT_FOREIGN;
}

static void
print_fault(const struct slab_pool *pool, const void *obj, enum slab_fault fault, uint64_t nth)
{
	fprintf(stderr, "slab pool %s: %p is %s; dropped (number %" PRIu64 ")\n",
		slab_pool_name(pool), obj, slab_fault_text(fault), nth);
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
	handler_of_process(pool, obj, fault, slab_add_relaxed(&pool->faults[fault], 1) + 1);
	if (pool->abort_on_fault)
		abort();
}
