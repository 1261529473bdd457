/* SPDX-License-Identifier: BSD-3-Clause */

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "mempool_slab_private.h"

/* What is said of a bad object: which, of which pool, what is wrong, and who did it from where. */

#define FRAMES 16
#define TEXT 128

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

void
mempool_slab_name_address(const void *address, char *text, size_t size)
{
	Dl_info info;

	if (dladdr(address, &info) == 0)
		snprintf(text, size, "%p", address);
	else if (info.dli_sname != NULL)
		snprintf(text, size, "%s+%#tx in %s", info.dli_sname,
			(const char *)address - (const char *)info.dli_saddr,
			base_name(info.dli_fname));
	else
		snprintf(text, size, "%s+%#tx", base_name(info.dli_fname),
			(const char *)address - (const char *)info.dli_fbase);
}

static const void *
file_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* The innermost function that is not of this file; NULL if the driver is linked into all of them. */
static const void *
caller(void)
{
	static const char here;
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES), i;

	for (i = 0; i < n; i++)
		if (file_of(frames[i]) != file_of(&here))
			return frames[i];
	return NULL;
}

void
mempool_slab_name_thread(uint32_t lcore, uint32_t thread, char *text, size_t size)
{
	if (lcore < RTE_MAX_LCORE)
		snprintf(text, size, "lcore %" PRIu32, lcore);
	else
		snprintf(text, size, "thread %" PRIu32, thread);
}

/* A search for the pool whose memory an address lies in. */
struct search {
	const char *address;
	const struct rte_mempool *found;
};

static void
look_in_chunk(struct rte_mempool *mp, void *arg, struct rte_mempool_memhdr *chunk, unsigned int i)
{
	struct search *s = arg;

	RTE_SET_USED(i);
	if ((uintptr_t)s->address - (uintptr_t)chunk->addr < chunk->len)
		s->found = mp;
}

static void
look_in_pool(struct rte_mempool *mp, void *search)
{
	rte_mempool_mem_iter(mp, look_in_chunk, search);
}

static void
describe(const struct slab_pool *pool, const void *obj, enum slab_fault fault, char *text,
	size_t size)
{
	struct search s = { .address = obj };

	if (fault == SLAB_FAULT_FOREIGN)
		rte_mempool_walk(look_in_pool, &s);
	if (s.found == NULL || s.found->pool_data == pool)
		snprintf(text, size, "%s", slab_fault_text(fault));
	else
		snprintf(text, size, "of another pool, %s", s.found->name);
}

static void
report(const struct slab_pool *pool, const void *obj, enum slab_fault fault, uint64_t nth)
{
	char what[TEXT], where[TEXT], who[32];

	/*
	 * The first, second, fourth, eighth ... of its kind: a loop of faults does not flood, and
	 * the list of pools, which has a lock, is looked through as seldom.
	 */
	if ((nth & (nth - 1)) != 0)
		return;
	describe(pool, obj, fault, what, sizeof(what));
	mempool_slab_name_thread(rte_lcore_id(), (uint32_t)gettid(), who, sizeof(who));
	mempool_slab_name_address(caller(), where, sizeof(where));
	SLAB_LOG(ERR, "pool %s: %s %s %p, which is %s; dropped (number %" PRIu64 " of these); "
		"called from %s", slab_pool_name(pool), who,
		fault == SLAB_FAULT_IN_USE ? "got" : "put", obj, what, nth, where);
}

RTE_INIT(mempool_slab_fault)
{
	/* The first backtrace loads a library, which is better done now than in the middle of a put. */
	caller();
	slab_set_fault_handler(report);
}
