/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each step of making a pool fails in turn: nothing stays behind, the application is told why, and
 * the next pool is made and whole.
 */

#include <errno.h>

#include "faults.h"
#include "inject.h"
#include "ways.h"

static struct rte_mempool *
make_with(const struct way *way, struct inject what, int *code)
{
	struct rte_mempool *mp;

	what.limit = way->limit;
	inject_begin(what);
	mp = make(way, "made", code);
	inject_end();
	return mp;
}

static void
one_call_fails(const struct way *way, struct inject what, const char *step)
{
	struct ledger before = ledger_take();
	struct rte_mempool *mp;
	int code;

	log_clear();
	mp = make_with(way, what, &code);
	printf("%s %s %u on %d error %d: %s %d\n", way->name, step, what.nth, what.on, what.error,
		mp ? "made" : "failed", code);
	if (mp != NULL)
		rte_mempool_free(mp);
	struct ledger now = ledger_take();
	if (memcmp(&now, &before, sizeof(now)))
		printf("LEAK %d %ld %d %d %ld %ld\n", now.blocks - before.blocks, (long)(now.bytes - before.bytes),
			now.memzones - before.memzones, now.mempools - before.mempools, (long)(now.mapped - before.mapped), now.libc_blocks - before.libc_blocks);
}

static void
each_call_fails(void **state)
{
	static char names[INJECT_MAX_CALLS][INJECT_NAME];
	const struct way *way = *state;
	struct rte_mempool *mp;
	unsigned int calls, i;
	int code;

	for (i = 0; i < 2; i++) {
	mp = make_with(way, (struct inject){ 0 }, &code);
	assert_non_null(mp);
	check_whole(mp, way->n);
	rte_mempool_free(mp);
	}
	calls = inject_end();
	for (i = 1; i <= calls; i++)
		strcpy(names[i], inject_name(i));
	printf("%s: %u\n", way->name, calls);
	for (i = 1; i <= calls; i++) {
		one_call_fails(way, (struct inject){ i, false, ENOMEM, 0 }, names[i]);
		one_call_fails(way, (struct inject){ i, true, ENOMEM, 0 }, names[i]);
		one_call_fails(way, (struct inject){ i, false, ENOSPC, 0 }, names[i]);
	}
}

int
main(int argc, char **argv)
{
	struct CMUnitTest tests[32];
	int failed, i;

	faults_init(argc, argv);
	ways_init();
	for (i = 0; i < (int)nr_ways; i++)
		tests[i] = (struct CMUnitTest){ ways[i].name, each_call_fails, NULL, NULL,
			(void *)(uintptr_t)&ways[i] };
	failed = _cmocka_run_group_tests("x", tests, nr_ways, NULL, NULL);
	return failed != 0;
}
