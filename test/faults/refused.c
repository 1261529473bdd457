/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the driver or rte_mempool refuses: options, names that are taken, too many objects. Each
 * leaves nothing behind, and the next pool is made and whole.
 */

#include <errno.h>

#include "faults.h"
#include "inject.h"
#include "mempool_slab.h"
#include "ways.h"

#define VARIABLE "MEMPOOL_SLAB"
#define LONG (1 << 15)

static unsigned int refused, accepted;

/* Makes a pool, which must be whole, or fail with this code; 0 lets it do either, with -EINVAL. */
static void
check_wish(const struct way *way, const struct wish *wish, int code)
{
	struct ledger before = ledger_take();
	struct rte_mempool *mp;
	char after[256];
	int told = 0;

	log_clear();
	rte_errno = 0;
	mp = way->make(wish, &told);
	if (mp != NULL && code != 0)
		fail_msg("%s, options '%s': made", way->name, wish->options);
	if (mp == NULL && told != (code != 0 ? code : -EINVAL) && !(way->mute && code == -EINVAL))
		fail_msg("%s, options '%s': code %d", way->name, wish->options, told);
	if (mp != NULL)
		check_whole(mp, wish->n);
	refused += mp == NULL;
	accepted += mp != NULL;
	rte_mempool_free(mp);
	snprintf(after, sizeof(after), "%s of %s with '%s'", way->name, wish->name, wish->options);
	ledger_check(&before, after);
}

static void
check_refused(const struct way *way, const char *options)
{
	struct wish wish = { "refused", way->n, options };

	check_wish(way, &wish, -EINVAL);
	/* One line, which has the pool's name and ends there. */
	assert_non_null(strstr(log_text(), "pool refused: option"));
	assert_ptr_equal(strchr(log_text(), '\n'), log_text() + strlen(log_text()) - 1);
}

static void
check_next(const struct way *way)
{
	struct rte_mempool *mp;
	int code;

	mp = make(way, "next", &code);
	assert_non_null(mp);
	check_whole(mp, way->n);
	rte_mempool_free(mp);
}

/* The keys that there are, as the driver lists them itself. */
static char *
known_keys(void)
{
	static const char before[] = "no such key; allowed: ";
	const char *list;

	check_refused(&ways[0], "nosuchkey=1");
	list = strstr(log_text(), before);
	assert_non_null(list);
	return strndup(list + strlen(before), strcspn(list + strlen(before), "\n"));
}

/* None of these is the value of any key. */
static const char *const bad_values[] = { "", "nosuch", "-1", "-0", "+1", "0x10", "1k", "1 ", " 1",
	"4294967296", "18446744073709551616", "ON", "on ", "on=off", "[0]", "0+", "%s%n", "\t",
	"\xc3\xa9\xff" };

static void
each_key(void **state)
{
	char *keys = known_keys(), *key, *rest = NULL, options[128];
	unsigned int nr = 0, i;

	(void)state;
	for (key = strtok_r(keys, ", ", &rest); key != NULL; key = strtok_r(NULL, ", ", &rest)) {
		for (i = 0; i < RTE_DIM(bad_values); i++) {
			snprintf(options, sizeof(options), "%s=%s", key, bad_values[i]);
			check_refused(&ways[0], options);
		}
		check_refused(&ways[0], key);
		check_next(&ways[0]);
		nr++;
	}
	free(keys);
	print_message("%u keys\n", nr);
	assert_true(nr >= 8);
}

static const char *const bad_options[] = { "=", "=1", "==", "stats", "stats=on,nosuch=1",
	"magazine=8,magazine=0", "magazine=0,magazine=8", "nosuch", "nosuch=", "track=on",
	"check=off,track=on", "lcore_partial=65", "magazine=4097", "magazine=0", "nodes=0+0",
	"nodes=0*0", "nodes=99", "stats=on;check=on", "stats=[on,off]", "stats=on,[",
	"Magazine=8" };

static void
each_option(void **state)
{
	char *many = calloc(1, LONG + 1);
	unsigned int i;

	(void)state;
	assert_non_null(many);
	for (i = 0; i < RTE_DIM(bad_options); i++)
		check_refused(&ways[0], bad_options[i]);
	for (i = 0; i < 33; i++)
		strcat(many, "stats=on,");
	check_refused(&ways[0], many);
	/* Longer than the line that tells of it may be. */
	memset(many, 'x', LONG);
	check_refused(&ways[0], many);
	free(many);
	check_next(&ways[0]);
}

/* In the environment they reach each way. */
static void
each_way(void **state)
{
	struct wish wish = { "refused", 0, NULL };
	unsigned int w, i;

	(void)state;
	for (w = 0; w < nr_ways; w++) {
		wish.n = ways[w].n;
		for (i = 0; i < RTE_DIM(bad_options); i++) {
			setenv(VARIABLE, bad_options[i], 1);
			check_wish(&ways[w], &wish, -EINVAL);
			assert_non_null(strstr(log_text(), "pool refused: option"));
		}
		unsetenv(VARIABLE);
		check_next(&ways[w]);
	}
}

static uint32_t
draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*seed >> 33) % below);
}

/* Good options in any number, and in every second list one letter that is another. */
static void
draw_options(uint64_t *seed, char *options)
{
	static const char *const good[] = { "magazine=64", "depot=1", "min_partial=0",
		"lcore_partial=8", "nodes=all", "nodes=0*3", "stats=on", "check=on", "track=on",
		"thread_cache=lock", "on_fault=abort", "magazine=1,depot=9" };
	static const char other[] = ",=[]+*- 0x";
	unsigned int n = 1 + draw(seed, 6);

	for (options[0] = '\0'; n != 0; n--) {
		strcat(options, good[draw(seed, RTE_DIM(good))]);
		strcat(options, n == 1 ? "" : ",");
	}
	if (draw(seed, 2) == 0)
		options[draw(seed, (uint32_t)strlen(options))] = other[draw(seed,
			sizeof(other) - 1)];
}

/* Refused, or a pool that is whole. */
static void
random_options(void **state)
{
	struct wish wish = { "random", 100, NULL };
	unsigned int i, r = refused, a = accepted;
	char options[256];
	uint64_t seed = 1;

	(void)state;
	wish.options = options;
	for (i = 0; i < 2000; i++) {
		draw_options(&seed, options);
		check_wish(&ways[0], &wish, 0);
	}
	print_message("%u refused, %u accepted\n", refused - r, accepted - a);
	assert_true(refused - r > 100 && accepted - a > 100);
}

static void
names_taken(void **state)
{
	struct rte_mempool *ours, *theirs;
	struct ledger before;
	unsigned int w;
	int code;

	(void)state;
	ours = make(&ways[0], "ours", &code);
	theirs = rte_mempool_create("theirs", 100, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY,
		0);
	assert_non_null(ours);
	assert_non_null(theirs);
	before = ledger_take();
	for (w = 0; w < nr_ways; w++) {
		check_wish(&ways[w], &(struct wish){ "ours", ways[w].n, NULL }, -EEXIST);
		check_wish(&ways[w], &(struct wish){ "theirs", ways[w].n, NULL }, -EEXIST);
		/* With 26 to 28 it is refused too, but DPDK 22.11 leaves a memzone behind. */
		check_wish(&ways[w], &(struct wish){ "a_name_of_29_characters______", ways[w].n,
			NULL }, -ENAMETOOLONG);
		check_next(&ways[w]);
	}
	ledger_check(&before, "names that are taken");
	check_whole(ours, ways[0].n);
	check_whole(theirs, 100);
	rte_mempool_free(ours);
	check_wish(&ways[0], &(struct wish){ "ours", ways[0].n, NULL }, 0);
	rte_mempool_free(theirs);
}

/* Of the memzones, one has the name that the pool's objects would have. */
static void
name_of_memory_taken(void **state)
{
	const struct rte_memzone *mz = rte_memzone_reserve("MP_ours_0", 64, SOCKET_ID_ANY, 0);

	(void)state;
	assert_non_null(mz);
	check_wish(&ways[0], &(struct wish){ "ours", ways[0].n, NULL }, -EEXIST);
	rte_memzone_free(mz);
	check_wish(&ways[0], &(struct wish){ "ours", ways[0].n, NULL }, 0);
}

static void
check_too_many(unsigned int n, const char *options, int code, const char *logged)
{
	check_wish(&ways[0], &(struct wish){ "many", n, options }, code);
	if (logged != NULL && strstr(log_text(), logged) == NULL)
		fail_msg("%u objects, options '%s': '%s'", n, options, log_text());
	check_next(&ways[0]);
}

static void
too_many_objects(void **state)
{
	(void)state;
	check_too_many(0, NULL, -EINVAL, NULL);
	check_too_many(UINT32_MAX, NULL, -EINVAL, "too many; at most 2147483648 objects");
	check_too_many((UINT32_C(1) << 31) + 1, NULL, -EINVAL, "too many; at most");
	check_too_many(UINT32_C(1) << 31, "magazine=1", -EINVAL, "16 GiB of magazines");
	check_too_many(UINT32_C(1) << 31, "check=on,track=on", -EINVAL, "too many");
	check_too_many(UINT32_C(1) << 31, NULL, -ENOMEM, "to keep account of 2147483648 objects");
	check_too_many(UINT32_C(1) << 24, NULL, -ENOMEM, "give EAL more memory");
	check_too_many(UINT32_C(1) << 20, "depot=0", -ENOMEM, NULL);
	check_too_many(100, "depot=4294967294", -EINVAL, "16 GiB of magazines");
	check_too_many(100, "depot=4294967294,magazine=4096", -EINVAL, "16 GiB of magazines");
	check_too_many(100, "depot=1000000", -ENOMEM, "give EAL more memory");
}

/* What populates has no pool of this driver, or one that is populated. */
static void
not_ours_to_populate(void **state)
{
	__typeof__(&mempool_slab_populate_nodes) populate =
		of_plugin("mempool_slab_populate_nodes");
	struct ledger before = ledger_take(), made;
	struct rte_mempool *mp = rte_mempool_create_empty("empty", 100, 64, 0, 0, SOCKET_ID_ANY, 0);

	(void)state;
	assert_non_null(mp);
	made = ledger_take();
	assert_int_equal(populate(mp, "all"), -EINVAL);
	ledger_check(&made, "a pool of another driver");
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", NULL), 0);
	assert_int_equal(populate(mp, ""), -EINVAL);
	assert_int_equal(populate(mp, "99"), -EINVAL);
	check_next(&ways[0]);
	ledger_check(&made, "nodes that are none");
	assert_int_equal(populate(mp, "all"), 100);
	check_whole(mp, 100);
	made = ledger_take();
	assert_int_equal(populate(mp, "all"), -EEXIST);
	assert_int_equal(rte_mempool_populate_default(mp), -EEXIST);
	ledger_check(&made, "populating again");
	check_whole(mp, 100);
	rte_mempool_free(mp);
	ledger_check(&before, "all of this");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key),
		cmocka_unit_test(each_option),
		cmocka_unit_test(each_way),
		cmocka_unit_test(random_options),
		cmocka_unit_test(names_taken),
		cmocka_unit_test(name_of_memory_taken),
		cmocka_unit_test(too_many_objects),
		cmocka_unit_test(not_ours_to_populate),
	};
	int failed;

	faults_init(argc, argv);
	ways_init();
	check_next(&ways[0]);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	printf("%u pools refused, %u made\n", refused, accepted);
	rte_eal_cleanup();
	return failed != 0;
}
