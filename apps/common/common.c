/* SPDX-License-Identifier: BSD-3-Clause */

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mempool.h>

#include "common.h"

int
apps_eal_args(int argc, char **argv)
{
	int n = 0;

	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	return n;
}

bool
apps_has_pool_driver(const char *name)
{
	for (unsigned int i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Behind what the user has there. In brackets, what has a comma stays one value: it is no option
 * more, and the driver says what is wrong with it.
 */
static int
add_nodes(const char *nodes)
{
	const char *before = getenv("MEMPOOL_SLAB");
	bool any = before != NULL && before[0] != '\0', comma = strchr(nodes, ',') != NULL;
	char *text;
	int ret;

	if (asprintf(&text, "%s%snodes=%s%s%s", any ? before : "", any ? "," : "",
			comma ? "[" : "", nodes, comma ? "]" : "") < 0)
		return -ENOMEM;
	ret = setenv("MEMPOOL_SLAB", text, 1);
	free(text);
	return ret == 0 ? 0 : -ENOMEM;
}

/* The driver reads its options when a pool is made. One object is enough to hear of a mistake. */
static int
try_slab(void)
{
	struct rte_mempool *mp;
	int ret;

	mp = rte_mempool_create_empty("nodes_check", 1, sizeof(void *), 0, 0, SOCKET_ID_ANY, 0);
	if (mp == NULL)
		return -rte_errno;
	ret = rte_mempool_set_ops_byname(mp, "slab", NULL);
	if (ret == 0)
		ret = rte_mempool_populate_default(mp);
	rte_mempool_free(mp);
	return ret < 0 ? ret : 0;
}

int
apps_slab_nodes(const char *nodes)
{
	int ret;

	if (nodes == NULL || !apps_has_pool_driver("slab"))
		return 0;
	ret = add_nodes(nodes);
	return ret == 0 ? try_slab() : ret;
}

void *
apps_slab_function(const char *name)
{
	void *plugin = dlopen("librte_mempool_slab.so", RTLD_LAZY | RTLD_NOLOAD), *found;

	if (plugin == NULL)
		return NULL;
	found = dlsym(plugin, name);
	dlclose(plugin);
	return found;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
apps_median(double *values, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++)
		if (!isnan(values[i]))
			values[kept++] = values[i];
	if (kept == 0)
		return NAN;
	qsort(values, kept, sizeof(*values), compare);
	return (values[(kept - 1) / 2] + values[kept / 2]) / 2;
}
