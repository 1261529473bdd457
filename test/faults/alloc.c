/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each step of making a pool fails in turn: once, and with all that follow it. Nothing stays
 * behind, the application is told why, and the next pool is made and whole.
 */

#include <errno.h>

#include "faults.h"
#include "inject.h"
#include "ways.h"

/* For codes: the error that was injected; the pool is made all the same; rte_errno is untouched. */
#define INJECTED 1
#define MADE 2
#define UNTOLD 3

/*
 * What may come of a step that fails. All but those of "mempool_slab" and options are DPDK's own:
 * - rte_mempool_create_empty() sets no rte_errno where it has no tailq entry.
 * - A driver can place no object, or some; rte_mempool calls none -ENOBUFS, whatever the cause, and
 *   asks for more memory after some.
 * - It asks for half as much where it gets no memzone, and EAL tries another list of pages.
 */
static const struct rule {
	const char *step;
	int codes[4];
	const char *logged; /* what the driver has to say then */
} rules[] = {
	{ "rte_zmalloc MEMPOOL_TAILQ_ENTRY", { UNTOLD }, NULL },
	{ "rte_zmalloc MEMPOOL_MEMHDR", { -ENOMEM }, NULL },
	{ "rte_zmalloc_socket mempool_slab", { -ENOMEM }, "give EAL more memory" },
	{ "rte_zmalloc_socket mempool_slab_room", { -ENOBUFS, MADE }, "give EAL more memory" },
	{ "rte_memzone_reserve ", { INJECTED }, NULL },
	{ "rte_memzone_reserve_aligned ", { INJECTED, MADE }, NULL },
	{ "rte_kvargs_parse ", { -EINVAL }, "option" },
	{ "calloc librte_kvargs", { -EINVAL }, "option" },
	{ "malloc librte_kvargs", { -EINVAL }, "option" },
	{ "malloc libc", { -EINVAL }, "option" },
	{ "calloc of EAL", { -ENOMEM, -ENOBUFS, UNTOLD, MADE }, NULL },
	{ "malloc of EAL", { -ENOMEM, -ENOBUFS, UNTOLD, MADE }, NULL },
	{ "realloc of EAL", { -ENOMEM, -ENOBUFS, UNTOLD, MADE }, NULL },
	{ "rte_mem_map ", { -ENOMEM }, NULL },
	{ "rte_mem_lock ", { -ENOMEM }, NULL },
	{ "rte_mempool_get_page_size ", { -EINVAL, -ENOBUFS, MADE }, NULL },
	{ "rte_mempool_op_calc_mem_size_default ", { -ENOMEM }, NULL },
	{ "rte_mempool_populate_iova ", { -ENOMEM }, NULL },
};

static struct {
	unsigned int failed, made, left_mapped;
} sum;

static const struct rule *
rule_of(const char *step)
{
	const struct rule *r;

	for (r = rules; r < rules + RTE_DIM(rules); r++)
		if (strcmp(r->step, step) == 0)
			return r;
	fail_msg("%s: a step that is not known yet: say in rules[] what comes of it", step);
	return NULL;
}

static bool
allowed(const struct way *way, const struct inject *what, const struct rule *r, bool made, int code)
{
	unsigned int i;

	/* With further steps failing, theirs may be what is told. */
	if (what->on && !made && (code == -ENOMEM || (code == -EINVAL && way->options != NULL)))
		return true;
	code = made ? MADE : code == -what->error ? INJECTED : code == 0 ? UNTOLD : code;
	for (i = 0; i < RTE_DIM(r->codes); i++)
		if (code == r->codes[i] || (code == INJECTED && r->codes[i] == -what->error))
			return true;
	return false;
}

static struct rte_mempool *
make_with(const struct way *way, struct inject what, int *code)
{
	struct rte_mempool *mp;

	log_clear();
	what.limit = way->limit;
	inject_begin(what);
	mp = make(way, "made", code);
	inject_end();
	return mp;
}

static void
check_made(const struct way *way)
{
	struct rte_mempool *mp;
	int code;

	mp = make_with(way, (struct inject){ 0 }, &code);
	if (mp == NULL)
		fail_msg("%s: not made: %d", way->name, code);
	check_whole(mp, way->n);
	rte_mempool_free(mp);
}

/*
 * DPDK 22.11: rte_mempool_populate_anon() does not unmap where the first chunk fails, nor where the
 * driver cannot tell the size again.
 */
static void
forgive_mapping(const struct way *way, struct ledger *before)
{
	long left = ledger_take().mapped - before->mapped;

	if (strcmp(way->name, "rte_mempool_populate_anon") != 0 || left <= 0)
		return;
	before->mapped += left;
	sum.left_mapped++;
}

static void
check_told(const struct way *way, const struct inject *what, bool made, int code)
{
	const char *step = inject_name(what->nth);
	const struct rule *r = rule_of(step);

	/* rte_mempool_create() passes on nothing of what populating says. */
	if (!allowed(way, what, r, made, code) && !(way->mute && !made))
		fail_msg("%s, call %u (%s)%s with error %d: %s, code %d", way->name, what->nth,
			step, what->on ? " and all that follow" : "", what->error,
			made ? "made" : "not made", code);
	if (r->logged != NULL && strstr(log_text(), r->logged) == NULL)
		fail_msg("%s, call %u (%s): no '%s' in the log", way->name, what->nth, step,
			r->logged);
	if (strstr(log_text(), "are missing") != NULL)
		fail_msg("%s, call %u (%s): said to be missing: %s", way->name, what->nth, step,
			log_text());
}

static void
one_call_fails(const struct way *way, struct inject what)
{
	struct ledger before = ledger_take();
	struct rte_mempool *mp;
	char after[128];
	int code;

	mp = make_with(way, what, &code);
	/* Physical addresses decide into how many chunks memory falls: not the same each time. */
	if (what.nth <= inject_end())
		check_told(way, &what, mp != NULL, code);
	sum.failed += mp == NULL;
	sum.made += mp != NULL;
	if (mp != NULL) {
		check_whole(mp, way->n);
		rte_mempool_free(mp);
	}
	forgive_mapping(way, &before);
	snprintf(after, sizeof(after), "%s, call %u, %s", way->name, what.nth,
		inject_name(what.nth));
	ledger_check(&before, after);
	check_made(way);
	ledger_check(&before, "the next pool");
}

static void
each_call_fails(void **state)
{
	const struct way *way = *state;
	unsigned int calls, i;

	check_made(way); /* and what is made once in a process is there */
	check_made(way);
	calls = inject_end();
	assert_in_range(calls, 5, INJECT_MAX_CALLS);
	for (i = 1; i <= calls; i++) {
		one_call_fails(way, (struct inject){ .nth = i, .error = ENOMEM });
		one_call_fails(way, (struct inject){ .nth = i, .on = true, .error = ENOMEM });
		if (strncmp(inject_name(i), "rte_memzone", strlen("rte_memzone")) == 0)
			one_call_fails(way, (struct inject){ .nth = i, .error = ENOSPC });
	}
	print_message("%u calls\n", calls);
}

int
main(int argc, char **argv)
{
	struct CMUnitTest tests[nr_ways];
	unsigned int i;
	int failed;

	faults_init(argc, argv);
	ways_init();
	for (i = 0; i < nr_ways; i++)
		tests[i] = (struct CMUnitTest){ .name = ways[i].name, .test_func = each_call_fails,
			.initial_state = (void *)(uintptr_t)&ways[i] };
	failed = _cmocka_run_group_tests("alloc", tests, nr_ways, NULL, NULL);
	printf("%u pools not made, %u made although a call failed; DPDK left %u mappings\n",
		sum.failed, sum.made, sum.left_mapped);
	rte_eal_cleanup();
	return failed != 0;
}
