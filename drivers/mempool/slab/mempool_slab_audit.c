/* SPDX-License-Identifier: BSD-3-Clause */

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include <rte_telemetry.h>

#include "mempool_slab_private.h"

/*
 * Where the objects of a pool are, and who has those that are in use:
 *
 * /mempool_slab/audit,<pool>   how many in each place, by cache; and a line for each of the first few
 *                              that are in use
 */

/* Objects that are told of one by one. */
#define FEW 16
#define TEXT 256

static const char *const place_names[SLAB_PLACES] = {
	[SLAB_PLACE_SLABS] = "slabs",
	[SLAB_PLACE_DEPOT] = "depots",
	[SLAB_PLACE_LCORE] = "lcore_caches",
	[SLAB_PLACE_CPU] = "cpu_caches",
};
static const char *const owner_names[SLAB_PLACES] = { "node", "node", "lcore", "cpu" };

static double
seconds_since(uint64_t when)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)((int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec - (int64_t)when) /
		1e9;
}

/* An address is code of this process, or of that one: then nobody here knows its name. */
static void
name_caller(const struct slab_getter *last, char *text, size_t size)
{
	if (last->process == (uint32_t)getpid())
		mempool_slab_name_address((const void *)(uintptr_t)last->caller, text, size);
	else
		snprintf(text, size, "%#" PRIx64, last->caller);
}

static void
name_getter(const void *obj, const struct slab_getter *last, char *text, size_t size)
{
	char caller[TEXT / 2], who[32] = "a thread that is no lcore";

	if (last->when == 0) {
		snprintf(text, size, "%p", obj);
		return;
	}
	if (last->lcore != SLAB_NO_LCORE)
		snprintf(who, sizeof(who), "lcore %" PRIu32, last->lcore);
	name_caller(last, caller, sizeof(caller));
	snprintf(text, size, "%p: got by %s of process %" PRIu32 " %.2f s ago, from %s", obj, who,
		last->process, seconds_since(last->when), caller);
}

/* What mempool caches hold is free, but to the driver it is in use. */
static void
subtract_caches(const struct rte_mempool *mp, struct mempool_slab_audit *audit)
{
	uint32_t free = rte_mempool_avail_count(mp), counted = slab_pool_count(mp->pool_data);
	uint32_t cached = free > counted ? free - counted : 0;

	audit->in_mempool_caches = RTE_MIN(cached, audit->out);
	audit->out -= audit->in_mempool_caches;
}

static int
look(const struct rte_mempool *mp, struct mempool_slab_audit *audit, slab_audit_visit visit,
	slab_audit_out visit_out, void *arg)
{
	struct slab_audit sum;
	int ret = slab_pool_audit(mp->pool_data, &sum, visit, visit_out, arg);

	if (ret != 0)
		return ret;
	*audit = (struct mempool_slab_audit){
		.objects = sum.objects,
		.in_slabs = sum.free[SLAB_PLACE_SLABS],
		.in_depots = sum.free[SLAB_PLACE_DEPOT],
		.in_lcore_caches = sum.free[SLAB_PLACE_LCORE],
		.in_cpu_caches = sum.free[SLAB_PLACE_CPU],
		.out = sum.out,
		.lost = sum.lost,
		.twice = sum.twice,
	};
	subtract_caches(mp, audit);
	return 0;
}

/* Where those in use are written to. */
struct list {
	FILE *f;
	unsigned int n;
};

static void
print_out(void *arg, void *obj, const struct slab_getter *last)
{
	struct list *list = arg;
	char text[TEXT];

	if (list->f == NULL || list->n++ >= FEW)
		return;
	name_getter(obj, last, text, sizeof(text));
	fprintf(list->f, "  in use: %s\n", text);
}

static void
print_place(void *arg, enum slab_place place, uint32_t which, uint32_t n)
{
	const struct list *list = arg;

	if (list->f != NULL)
		fprintf(list->f, "  %s of %s %" PRIu32 ": %" PRIu32 "\n", place_names[place],
			owner_names[place], which, n);
}

int
mempool_slab_audit(const struct rte_mempool *mp, struct mempool_slab_audit *audit, FILE *f)
{
	struct list list = { .f = f };

	return mempool_slab_is(mp) ? look(mp, audit, print_place, print_out, &list) : -EINVAL;
}

/* Getters that are rte_mempool_free() itself do not count: it got all that were free. */
struct leaks {
	const struct rte_mempool *mp;
	const void *mempool_library;
	unsigned int n;
};

static void
log_leak(void *arg, void *obj, const struct slab_getter *last)
{
	struct leaks *leaks = arg;
	char text[TEXT];
	Dl_info info;

	if (last->when == 0 || leaks->n >= FEW || (last->process == (uint32_t)getpid() &&
			dladdr((const void *)(uintptr_t)last->caller, &info) != 0 &&
			info.dli_fbase == leaks->mempool_library))
		return;
	leaks->n++;
	name_getter(obj, last, text, sizeof(text));
	SLAB_LOG(ERR, "pool %s: missing: %s", leaks->mp->name, text);
}

void
mempool_slab_log_leaks(const struct rte_mempool *mp)
{
	struct leaks leaks = { .mp = mp };
	struct slab_audit sum;
	Dl_info info;

	if (dladdr((const void *)(uintptr_t)rte_mempool_free, &info) != 0)
		leaks.mempool_library = info.dli_fbase;
	if (slab_pool_tracks(mp->pool_data))
		slab_pool_audit(mp->pool_data, &sum, NULL, log_leak, &leaks);
}

/* The caches by their number, and the first objects in use. */
struct answer {
	struct rte_tel_data *caches[SLAB_PLACES], *out;
	unsigned int n;
};

static void
add_place(void *arg, enum slab_place place, uint32_t which, uint32_t n)
{
	struct answer *a = arg;
	char name[16];

	snprintf(name, sizeof(name), "%" PRIu32, which);
	if (a->caches[place] != NULL)
		rte_tel_data_add_dict_u64(a->caches[place], name, n);
}

static void
add_out(void *arg, void *obj, const struct slab_getter *last)
{
	struct answer *a = arg;
	char text[RTE_TEL_MAX_STRING_LEN];

	if (a->out == NULL || a->n++ >= FEW)
		return;
	name_getter(obj, last, text, sizeof(text));
	rte_tel_data_add_array_string(a->out, text);
}

static void
begin_lists(struct answer *a)
{
	int i;

	for (i = 0; i < SLAB_PLACES; i++) {
		a->caches[i] = rte_tel_data_alloc();
		if (a->caches[i] != NULL)
			rte_tel_data_start_dict(a->caches[i]);
	}
	a->out = rte_tel_data_alloc();
	if (a->out != NULL)
		rte_tel_data_start_array(a->out, RTE_TEL_STRING_VAL);
}

/* The answer has them from now on, or nobody. */
static void
add_list(struct rte_tel_data *data, const char *name, struct rte_tel_data *list)
{
	if (list != NULL && rte_tel_data_add_dict_container(data, name, list, 0) != 0)
		rte_tel_data_free(list);
}

static void
end_lists(struct rte_tel_data *data, const struct answer *a)
{
	char name[32];
	int i;

	for (i = 0; i < SLAB_PLACES; i++) {
		snprintf(name, sizeof(name), "%s_by_%s", place_names[i], owner_names[i]);
		add_list(data, name, a->caches[i]);
	}
	add_list(data, "first_in_use", a->out);
}

static void
free_lists(const struct answer *a)
{
	int i;

	for (i = 0; i < SLAB_PLACES; i++)
		rte_tel_data_free(a->caches[i]);
	rte_tel_data_free(a->out);
}

static int
answer_audit(const char *cmd, const char *params, struct rte_tel_data *data)
{
	const struct rte_mempool *mp = mempool_slab_answer_begin(params, data);
	struct mempool_slab_audit audit;
	struct answer a = { .n = 0 };

	RTE_SET_USED(cmd);
	if (mp == NULL)
		return 0;
	begin_lists(&a);
	if (look(mp, &audit, add_place, add_out, &a) != 0) {
		free_lists(&a);
		return rte_tel_data_add_dict_string(data, "error", "no memory to look with");
	}
	rte_tel_data_add_dict_u64(data, "objects", audit.objects);
	rte_tel_data_add_dict_u64(data, "slabs", audit.in_slabs);
	rte_tel_data_add_dict_u64(data, "depots", audit.in_depots);
	rte_tel_data_add_dict_u64(data, "lcore_caches", audit.in_lcore_caches);
	rte_tel_data_add_dict_u64(data, "cpu_caches", audit.in_cpu_caches);
	rte_tel_data_add_dict_u64(data, "mempool_caches", audit.in_mempool_caches);
	rte_tel_data_add_dict_u64(data, "in_use", audit.out);
	rte_tel_data_add_dict_u64(data, "lost", audit.lost);
	rte_tel_data_add_dict_u64(data, "twice", audit.twice);
	end_lists(data, &a);
	return 0;
}

RTE_INIT(mempool_slab_audit_register)
{
	mempool_slab_register_cmd("/mempool_slab/audit", answer_audit,
		"Returns where the objects of a slab pool are. Parameters: string name");
}
