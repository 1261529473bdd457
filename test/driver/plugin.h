/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef PLUGIN_H
#define PLUGIN_H

/* For tests in which EAL loads the plugin. */

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return (x > y) - (x < y);
}

/* What the plugin has beyond rte_mempool: EAL loaded it, so the program is not linked with it. */
static inline void *
of_plugin(const char *symbol)
{
	void *plugin = dlopen("librte_mempool_slab.so", RTLD_LAZY | RTLD_NOLOAD), *found;

	assert_non_null(plugin);
	found = dlsym(plugin, symbol);
	assert_non_null(found);
	dlclose(plugin);
	return found;
}

#endif /* PLUGIN_H */
