/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The floor: pointers copied from and to the end of a row, by one lcore, unchecked but for the
 * count. A call through a pointer like that into a mempool driver, and nothing else.
 */

#include <errno.h>

#include <rte_malloc.h>

#include "bench.h"

static int
array_get(struct bench_array *a, void **objs, unsigned int n)
{
	void *const *from;

	if (unlikely(n > a->len))
		return -ENOBUFS;
	a->len -= n;
	from = a->objs + a->len;
	for (unsigned int i = 0; i < n; i++)
		objs[i] = from[i];
	return 0;
}

static int
array_put(struct bench_array *a, void *const *objs, unsigned int n)
{
	void **to = a->objs + a->len;

	for (unsigned int i = 0; i < n; i++)
		to[i] = objs[i];
	a->len += n;
	return 0;
}

struct bench_array *
bench_array_create(unsigned int objects)
{
	struct bench_array *a;

	a = rte_zmalloc("bench_array", sizeof(*a) + objects * sizeof(a->objs[0]),
		RTE_CACHE_LINE_SIZE);
	if (a != NULL) {
		a->get = array_get;
		a->put = array_put;
	}
	return a;
}
