/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The driver through rte_mempool's interface, in one process of EAL. How memory is had (pages or
 * not, legacy or not, IOVA as VA or PA) is up to EAL's options: the same program runs with each.
 */

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mempool.h>

#include "driver.h"
#include "mempool_slab.h"

static const unsigned int counts[] = { 1, 2, 31, 32, 33, 63, 64, 65, 1000, 8191 };
static const unsigned int sizes[] = { 1, 32, 64, 128, 1000, 2176, 9216, 70000 };

static struct rte_mempool *
empty_pool(unsigned int n, unsigned int size, unsigned int cache, unsigned int flags,
	const char *options)
{
	struct rte_mempool *mp = rte_mempool_create_empty("a_name_of_25_characters__", n, size,
		cache, 0, SOCKET_ID_ANY, flags);

	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", (void *)(uintptr_t)options), 0);
	return mp;
}

/* The pool hands out n objects that do not overlap and belong to it, one more fails, all return. */
static void
check_obtainable(struct rte_mempool *mp, unsigned int n)
{
	unsigned int step = RTE_MIN(32u, n), got = 0, i;
	size_t size = mp->header_size + mp->elt_size + mp->trailer_size;
	void **objs = calloc(n, sizeof(*objs)), *more;

	assert_non_null(objs);
	assert_int_equal(rte_mempool_avail_count(mp), n);
	while (got + step <= n && rte_mempool_get_bulk(mp, objs + got, step) == 0)
		got += step;
	while (got < n && rte_mempool_get(mp, &objs[got]) == 0)
		got++;
	assert_int_equal(got, n);
	assert_int_equal(rte_mempool_get(mp, &more), -ENOBUFS);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	for (i = 0; i < n; i++)
		memset(objs[i], 0xa5, mp->elt_size);
	qsort(objs, n, sizeof(*objs), by_address);
	for (i = 0; i < n; i++) {
		assert_ptr_equal(rte_mempool_from_obj(objs[i]), mp);
		assert_true(i == 0 || (char *)objs[i] >= (char *)objs[i - 1] + size);
	}
	rte_mempool_put_bulk(mp, objs, n);
	assert_int_equal(rte_mempool_avail_count(mp), n);
	free(objs);
}

static void
sizes_and_counts(void **state)
{
	unsigned int c, s, cache;
	struct rte_mempool *mp;

	(void)state;
	for (c = 0; c < RTE_DIM(counts); c++)
		for (s = 0; s < RTE_DIM(sizes); s++)
			for (cache = 0; cache <= 256; cache += 256) {
				if (counts[c] * (size_t)sizes[s] > 80 << 20 ||
						cache * 3 / 2 > counts[c])
					continue;
				mp = empty_pool(counts[c], sizes[s], cache, 0, NULL);
				assert_int_equal(rte_mempool_populate_default(mp), counts[c]);
				check_obtainable(mp, counts[c]);
				rte_mempool_free(mp);
			}
}

static void
a_quarter_of_a_million(void **state)
{
	struct rte_mempool *mp = empty_pool(262144, 64, 512, 0, NULL);

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), 262144);
	check_obtainable(mp, 262144);
	rte_mempool_free(mp);
}

static void
all_flags(void **state)
{
	static const unsigned int flags[] = { RTE_MEMPOOL_F_NO_SPREAD,
		RTE_MEMPOOL_F_NO_CACHE_ALIGN, RTE_MEMPOOL_F_NO_IOVA_CONTIG,
		RTE_MEMPOOL_F_NO_CACHE_ALIGN | RTE_MEMPOOL_F_NO_IOVA_CONTIG };
	struct rte_mempool *mp;
	unsigned int i, s;

	(void)state;
	for (i = 0; i < RTE_DIM(flags); i++)
		for (s = 0; s < RTE_DIM(sizes); s++) {
			mp = empty_pool(500, sizes[s], 0, flags[i], NULL);
			assert_int_equal(rte_mempool_populate_default(mp), 500);
			check_obtainable(mp, 500);
			rte_mempool_free(mp);
		}
}

static void
populate_anon(void **state)
{
	struct rte_mempool *mp = empty_pool(1000, 1000, 0, 0, NULL);

	(void)state;
	assert_int_equal(rte_mempool_populate_anon(mp), 1000);
	check_obtainable(mp, 1000);
	rte_mempool_free(mp);
}

static void
free_block(struct rte_mempool_memhdr *memhdr, void *opaque)
{
	(void)memhdr;
	free(opaque);
}

/* One call for each object, at places in no order; further ones between gets. */
static void
populate_many_times(void **state)
{
	enum { N = 700 };
	struct rte_mempool *mp = empty_pool(N, 100, 0, RTE_MEMPOOL_F_NO_IOVA_CONTIG, NULL);
	size_t size = mp->header_size + mp->elt_size + mp->trailer_size;
	char *block = aligned_alloc(64, 2 * N * size);
	void *one = NULL;
	unsigned int i;

	(void)state;
	for (i = 0; i < N; i++) {
		assert_int_equal(rte_mempool_populate_iova(mp,
			block + 2 * size * ((i * 331) % N), RTE_BAD_IOVA, size,
			i == 0 ? free_block : NULL, block), 1);
		if (one != NULL)
			rte_mempool_put(mp, one);
		assert_int_equal(rte_mempool_get(mp, &one), 0);
	}
	rte_mempool_put(mp, one);
	check_obtainable(mp, N);
	assert_int_equal(rte_mempool_populate_iova(mp, block, RTE_BAD_IOVA, size, NULL, NULL),
		-ENOSPC);
	rte_mempool_free(mp);
}

static void
populate_virt(void **state)
{
	struct rte_mempool *mp = empty_pool(300, 500, 0, 0, NULL);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 100 * page;
	char *block = rte_zmalloc(NULL, len, page);
	int n;

	(void)state;
	assert_non_null(block);
	n = rte_mempool_populate_virt(mp, block, len, page, NULL, NULL);
	assert_int_equal(n, 300);
	check_obtainable(mp, 300);
	rte_mempool_free(mp);
	rte_free(block);
}

/* Too little memory for one object: nothing is placed, and the pool works with what comes next. */
static void
populate_with_crumbs(void **state)
{
	struct rte_mempool *mp = empty_pool(10, 1000, 0, 0, NULL);
	char *block = rte_zmalloc(NULL, 100000, 64);

	(void)state;
	assert_int_equal(rte_mempool_populate_iova(mp, block, RTE_BAD_IOVA, 500, NULL, NULL), 0);
	assert_int_equal(rte_mempool_populate_iova(mp, block + 512, RTE_BAD_IOVA, 90000, NULL,
		NULL), 10);
	check_obtainable(mp, 10);
	rte_mempool_free(mp);
	rte_free(block);
}

/* Devices get the address of each object as rte_mempool would give it. */
static void
iova_of_each_object(void **state)
{
	struct rte_mempool *mp = empty_pool(100, 1000, 0, 0, NULL);
	void *objs[100];
	unsigned int i;

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), 100);
	assert_int_equal(rte_mempool_get_bulk(mp, objs, 100), 0);
	for (i = 0; i < 100; i++)
		if (rte_eal_iova_mode() == RTE_IOVA_VA)
			assert_int_equal(rte_mempool_virt2iova(objs[i]), (uintptr_t)objs[i]);
		else
			assert_int_equal(rte_mempool_virt2iova(objs[i]),
				rte_mem_virt2iova(objs[i]));
	rte_mempool_put_bulk(mp, objs, 100);
	rte_mempool_free(mp);
}

/* Objects of a block lie in a row and are this pool's; false where it would cross a page. */
static bool
get_block(struct rte_mempool *mp, void **obj)
{
	size_t step = mp->header_size + mp->elt_size + mp->trailer_size;
	unsigned int i;

	if (rte_mempool_get_contig_blocks(mp, obj, 1) != 0)
		return false;
	for (i = 0; i < 64; i++)
		assert_ptr_equal(rte_mempool_from_obj((char *)*obj + i * step), mp);
	return true;
}

/* After a churn, too: most slabs are blocks where pages are large, and none where they are not. */
static void
contiguous_blocks(void **state)
{
	struct rte_mempool *mp = empty_pool(64 * 100, 64, 0, 0, NULL);
	struct rte_mempool_info info;
	void *first[101], *objs[100], *obj;
	unsigned int i, n = 0;
	size_t page;

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), 64 * 100);
	assert_int_equal(rte_mempool_get_page_size(mp, &page), 0);
	for (i = 0; i < 100; i++) {
		assert_int_equal(rte_mempool_get_bulk(mp, objs, 1 + i), 0);
		rte_mempool_put_bulk(mp, objs, 1 + i);
	}
	while (n <= 100 && get_block(mp, &first[n]))
		n++;
	print_message("%u blocks of 100 slabs, in pages of %zu bytes\n", n, page);
	assert_true(page >= 2 << 20 ? n >= 98 && n <= 100 : n == 0);
	assert_int_equal(rte_mempool_ops_get_info(mp, &info), 0);
	assert_int_equal(info.contig_block_size, n == 0 ? 0 : 64);
	assert_int_equal(rte_mempool_get_contig_blocks(mp, first + n, 1), n == 0 ? -EOPNOTSUPP :
		-ENOBUFS);
	for (i = 0; i < 64 * n; i++) {
		obj = (char *)first[i / 64] + i % 64 *
			(mp->header_size + mp->elt_size + mp->trailer_size);
		rte_mempool_put(mp, obj);
	}
	check_obtainable(mp, 64 * 100);
	rte_mempool_free(mp);
}

static void
check_refused(const char *options, const char *key, const char *value, const char *allowed)
{
	struct rte_mempool *mp = empty_pool(100, 64, 0, 0, options);
	const char *line;

	log_begin();
	assert_int_equal(rte_mempool_populate_default(mp), -EINVAL);
	line = log_end();
	print_message("%s", line);
	assert_non_null(strstr(line, key));
	assert_non_null(strstr(line, value));
	assert_non_null(strstr(line, allowed));
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	free(log_text);
	rte_mempool_free(mp);
}

static void
options_refused(void **state)
{
	(void)state;
	check_refused("magazine=0", "magazine", "0", "1 to 4096");
	check_refused("magazine=4097", "magazine", "4097", "1 to 4096");
	check_refused("magazine=ten", "magazine", "ten", "1 to 4096");
	check_refused("magazine=-1", "magazine", "-1", "1 to 4096");
	check_refused("magazine=16,depot=1k", "depot", "1k", "0 to");
	check_refused("min_partial=99999999999", "min_partial", "99999999999", "0 to");
	check_refused("lcore_partial=65", "lcore_partial", "65", "0 to 64");
	check_refused("nodes=", "nodes", "", "all, or NUMA sockets");
	check_refused("nodes=9", "nodes", "9", "all, or NUMA sockets");
	check_refused("nodes=0+0", "nodes", "0+0", "each once");
	check_refused("nodes=0+", "nodes", "0+", "all, or NUMA sockets");
	check_refused("nodes=0*0", "nodes", "0*0", "1 to 65535");
	check_refused("nodes=0*65536", "nodes", "0*65536", "1 to 65535");
	check_refused("nodes=all+0", "nodes", "all+0", "all, or NUMA sockets");
	check_refused("check=maybe", "check", "maybe", "on or off");
	check_refused("track=on", "track", "on", "with check=on");
	check_refused("on_fault=ignore", "on_fault", "ignore", "report or abort");
	check_refused("stats=1", "stats", "1", "on or off");
	check_refused("stats", "stats", "", "on or off");
	check_refused("magazin=64", "magazin", "64", "magazine, depot, min_partial");
	check_refused("=,=", "option =", "no such key", "magazine, depot, min_partial");
	check_refused("stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,"
		"stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,"
		"stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,"
		"stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,stats=on,"
		"stats=on", "stats=on,stats=on", "pool_config", "at most 32");
	setenv("MEMPOOL_SLAB", "colour=blue", 1);
	check_refused(NULL, "colour", "blue", "magazine, depot");
	unsetenv("MEMPOOL_SLAB");
}

static void
check_accepted(const char *options)
{
	struct rte_mempool *mp = empty_pool(1000, 64, 0, 0, options);

	assert_int_equal(rte_mempool_populate_default(mp), 1000);
	check_obtainable(mp, 1000);
	rte_mempool_free(mp);
}

static void
options_accepted(void **state)
{
	(void)state;
	check_accepted("magazine=16,depot=3,min_partial=2,lcore_partial=4,check=off,stats=on");
	check_accepted("magazine=1");
	check_accepted("magazine=4096,stats=off");
	check_accepted("check=on,track=on,on_fault=abort,stats=on");
	check_accepted("check=on,magazine=1,depot=0");
	check_accepted("depot=0");
	check_accepted("nodes=all");
	check_accepted("nodes=0*7,magazine=16");
	check_accepted("");
	setenv("MEMPOOL_SLAB", "magazine=0", 1);
	check_refused("stats=on", "magazine", "0", "1 to 4096");
	setenv("MEMPOOL_SLAB", "magazine=8", 1);
	check_accepted("magazine=32");
	check_accepted(NULL);
	unsetenv("MEMPOOL_SLAB");
}

/* Free with out objects out, cached objects in the lcore's cache, and after failed gets. */
static void
check_missing(unsigned int n, unsigned int cache, unsigned int out, const char *expected)
{
	struct rte_mempool *mp = empty_pool(n, 64, cache, 0, NULL);
	void *objs[2000], *more;
	const char *line;

	assert_int_equal(rte_mempool_populate_default(mp), n);
	assert_int_equal(rte_mempool_get_bulk(mp, objs, n), 0);
	assert_int_equal(rte_mempool_get(mp, &more), -ENOBUFS);
	assert_int_equal(rte_mempool_get(mp, &more), -ENOBUFS);
	rte_mempool_put_bulk(mp, objs + out, n - out);
	log_begin();
	rte_mempool_free(mp);
	line = log_end();
	if (expected == NULL)
		assert_string_equal(line, "");
	else
		assert_non_null(strstr(line, expected));
	free(log_text);
}

static void
freed_with_objects_out(void **state)
{
	(void)state;
	check_missing(1000, 0, 0, NULL);
	check_missing(1000, 256, 0, NULL);
	check_missing(1000, 0, 7, "7 of its 1000 objects");
	check_missing(1000, 256, 7, "7 of its 1000 objects");
	check_missing(1000, 0, 1000, "1000 of its 1000 objects");
	check_missing(1, 0, 1, "1 of its 1 objects");
}

static void
double_free_is_reported(void **state)
{
	struct rte_mempool *mp = empty_pool(200, 64, 0, 0, "magazine=1,depot=0");
	void *objs[200];
	const char *line;

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), 200);
	assert_int_equal(rte_mempool_get_bulk(mp, objs, 200), 0);
	rte_mempool_put_bulk(mp, objs, 200);
	log_begin();
	rte_mempool_put_bulk(mp, objs, 3);
	line = log_end();
	assert_non_null(strstr(line, "a_name_of_25_characters__"));
	assert_non_null(strstr(line, "free already"));
	free(log_text);
	rte_mempool_free(mp);
}

static int
get_tunable(const struct rte_mempool *mp, const char *name, uint32_t *value)
{
	__typeof__(&mempool_slab_tunable_get) get = of_plugin("mempool_slab_tunable_get");

	return get(mp, name, value);
}

static int
set_tunable(struct rte_mempool *mp, const char *name, uint32_t value)
{
	__typeof__(&mempool_slab_tunable_set) set = of_plugin("mempool_slab_tunable_set");

	return set(mp, name, value);
}

static void
check_tunable(struct rte_mempool *mp, const char *name, uint32_t at_first, uint32_t most)
{
	uint32_t value;

	assert_int_equal(get_tunable(mp, name, &value), 0);
	assert_int_equal(value, at_first);
	assert_int_equal(set_tunable(mp, name, most), 0);
	assert_int_equal(get_tunable(mp, name, &value), 0);
	assert_int_equal(value, most);
	assert_int_equal(set_tunable(mp, name, 0), 0);
	assert_int_equal(get_tunable(mp, name, &value), 0);
	assert_int_equal(value, 0);
}

static void
check_tunable_refused(struct rte_mempool *mp, const char *name, uint32_t number,
	const char *expected)
{
	const char *line;
	uint32_t before, after;

	assert_int_equal(get_tunable(mp, name, &before), 0);
	log_begin();
	assert_int_equal(set_tunable(mp, name, number), -ERANGE);
	line = log_end();
	print_message("%s", line);
	assert_non_null(strstr(line, expected));
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	free(log_text);
	assert_int_equal(get_tunable(mp, name, &after), 0);
	assert_int_equal(after, before);
}

static void
tunables(void **state)
{
	struct rte_mempool *mp = empty_pool(1000, 64, 0, 0, "magazine=16,depot=20,min_partial=3");

	(void)state;
	assert_int_equal(rte_mempool_populate_default(mp), 1000);
	check_obtainable(mp, 1000);
	check_tunable(mp, "depot", 20, 20);
	check_obtainable(mp, 1000);
	check_tunable(mp, "min_partial", 3, UINT32_MAX - 1);
	assert_int_equal(set_tunable(mp, "depot", 7), 0);
	check_tunable_refused(mp, "depot", 21, "pool a_name_of_25_characters__: tunable depot=21: "
		"allowed: 0 to 20 magazines per node");
	check_tunable_refused(mp, "min_partial", UINT32_MAX, "tunable min_partial=4294967295: "
		"allowed: 0 to 4294967294 slabs");
	check_obtainable(mp, 1000);
	rte_mempool_free(mp);
}

static void
no_tunables(void **state)
{
	struct rte_mempool *mp = empty_pool(10, 64, 0, 0, NULL), *theirs;
	uint32_t value = 5;

	(void)state;
	assert_int_equal(get_tunable(mp, "depot", &value), -EINVAL); /* not populated yet */
	assert_int_equal(set_tunable(mp, "depot", 0), -EINVAL);
	assert_int_equal(rte_mempool_populate_default(mp), 10);
	assert_int_equal(get_tunable(mp, "magazine", &value), -EINVAL);
	assert_int_equal(set_tunable(mp, "magazine", 1), -EINVAL);
	assert_int_equal(set_tunable(mp, "", 1), -EINVAL);
	theirs = rte_mempool_create("theirs", 10, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY,
		0);
	assert_non_null(theirs);
	assert_int_equal(get_tunable(theirs, "depot", &value), -EINVAL);
	assert_int_equal(set_tunable(theirs, "depot", 0), -EINVAL);
	assert_int_equal(value, 5);
	rte_mempool_free(theirs);
	rte_mempool_free(mp);
}

/* The pool is another driver's, as it is to a process that numbers the drivers otherwise. */
static void
pool_of_another_driver(void **state)
{
	struct rte_mempool *mp = rte_mempool_create("theirs", 100, 64, 0, 0, NULL, NULL, NULL, NULL,
		SOCKET_ID_ANY, 0);
	struct rte_mempool *ours = empty_pool(10, 64, 0, 0, NULL);
	int32_t index;
	const char *line;
	void *obj;

	(void)state;
	assert_non_null(mp);
	index = mp->ops_index;
	assert_int_not_equal(index, ours->ops_index);
	mp->ops_index = ours->ops_index;
	log_begin();
	assert_int_equal(rte_mempool_get(mp, &obj), -EINVAL);
	assert_int_equal(rte_mempool_get(mp, &obj), -EINVAL);
	rte_mempool_put(mp, ours);
	line = log_end();
	assert_non_null(strstr(line, "theirs"));
	assert_non_null(strstr(line, "-d"));
	assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
	free(log_text);
	mp->ops_index = index;
	assert_int_equal(rte_mempool_avail_count(mp), 100);
	rte_mempool_free(mp);
	rte_mempool_free(ours);
}

/* Memory that runs out: an error, a line, and nothing left behind. */
static void
more_than_there_is(void **state)
{
	struct rte_mempool *mp = empty_pool(UINT32_C(1) << 30, 64, 0, 0, NULL);
	const char *line;

	(void)state;
	log_begin();
	assert_true(rte_mempool_populate_default(mp) < 0);
	line = log_end();
	assert_non_null(strstr(line, "give EAL more memory"));
	free(log_text);
	rte_mempool_free(mp);
	mp = empty_pool(100, 64, 0, 0, NULL);
	assert_int_equal(rte_mempool_populate_default(mp), 100);
	check_obtainable(mp, 100);
	rte_mempool_free(mp);
}

/* After a populate that failed half-way the pool is refused, rather than run on what is gone. */
static void
populated_again(void **state)
{
	struct rte_mempool *mp = empty_pool(3000000, 1000, 0, 0, NULL);
	const char *line;

	(void)state;
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	assert_true(rte_mempool_populate_default(mp) < 0);
	log_begin();
	assert_true(rte_mempool_populate_default(mp) < 0);
	line = log_end();
	assert_non_null(strstr(line, "free it and create it anew"));
	free(log_text);
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_counts),
		cmocka_unit_test(a_quarter_of_a_million),
		cmocka_unit_test(all_flags),
		cmocka_unit_test(populate_anon),
		cmocka_unit_test(populate_many_times),
		cmocka_unit_test(populate_virt),
		cmocka_unit_test(populate_with_crumbs),
		cmocka_unit_test(iova_of_each_object),
		cmocka_unit_test(contiguous_blocks),
		cmocka_unit_test(options_refused),
		cmocka_unit_test(options_accepted),
		cmocka_unit_test(freed_with_objects_out),
		cmocka_unit_test(double_free_is_reported),
		cmocka_unit_test(tunables),
		cmocka_unit_test(no_tunables),
		cmocka_unit_test(pool_of_another_driver),
		cmocka_unit_test(more_than_there_is),
		cmocka_unit_test(populated_again),
	};
	int failed;

	if (rte_eal_init(argc, argv) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed != 0;
}
