/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory and memzones run out for real: the pool that cannot be made leaves nothing behind, those
 * made before go on, and where one of them is freed there is room for the next. Memory in pieces
 * makes pools in many chunks.
 */

#include <errno.h>

#include <rte_mbuf.h>

#include "faults.h"

#define MAX_POOLS 2000
#define MAX_BLOCKS 20000

static struct rte_mempool *pools[MAX_POOLS];
static void **held[MAX_POOLS];
static void *blocks[MAX_BLOCKS];
static unsigned int nr_blocks;

static struct rte_mempool *
packets(unsigned int number, unsigned int n, uint16_t room)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "pool_%u", number);
	rte_errno = 0;
	return rte_pktmbuf_pool_create_by_ops(name, n, 0, 0, room, SOCKET_ID_ANY, "slab");
}

/* What fails fails for want of memory or memzones, and leaves all as it was. */
static struct rte_mempool *
packets_or_nothing(unsigned int number, unsigned int n, uint16_t room)
{
	struct ledger before = ledger_take();
	struct rte_mempool *mp;

	log_clear();
	mp = packets(number, n, room);
	if (mp != NULL)
		return mp;
	/* DPDK tells nothing where it is the pool's entry in its list that has no memory. */
	if (rte_errno != ENOMEM && rte_errno != ENOSPC &&
			strstr(log_text(), "Cannot allocate tailq entry") == NULL &&
			strstr(log_text(), "to remember one more chunk") == NULL)
		fail_msg("pool %u: not made: %s", number, rte_strerror(rte_errno));
	if (strstr(log_text(), "are missing") != NULL)
		fail_msg("%s", log_text());
	ledger_check(&before, "a pool that was not made");
	return NULL;
}

static void
free_pools(unsigned int nr)
{
	while (nr-- != 0)
		rte_mempool_free(pools[nr]);
}

/* All objects of all pools at once, so that none lies in two. */
static void
check_all_whole(unsigned int nr, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		held[i] = hold_all(pools[i], n, (uint64_t)i << 32);
	for (i = 0; i < nr; i++)
		give_all(pools[i], held[i], n, (uint64_t)i << 32);
}

static const struct size {
	const char *name;
	unsigned int n;
	uint16_t room;
} sizes[] = {
	{ "pools of packets", 500, 2048 },
	{ "pools of one object", 1, 64 },
	{ "pools that fill much of all", 60000, 128 },
	{ "pools of objects over pages", 10, 60000 },
};

static void
until_the_end(void **state)
{
	struct ledger before = ledger_take();
	const struct size *s = *state;
	unsigned int nr = 0, i;

	while (nr < MAX_POOLS && (pools[nr] = packets_or_nothing(nr, s->n, s->room)) != NULL)
		nr++;
	assert_in_range(nr, 1, MAX_POOLS - 1);
	check_all_whole(nr, s->n);
	for (i = 0; i < nr; i += RTE_MAX(1u, (nr - 1) / 2)) {
		rte_mempool_free(pools[i]);
		pools[i] = packets_or_nothing(i, s->n, s->room);
		assert_non_null(pools[i]);
		assert_null(packets_or_nothing(nr, s->n, s->room));
	}
	check_all_whole(nr, s->n);
	free_pools(nr);
	ledger_check(&before, "all pools");
	print_message("%u pools of %u objects\n", nr, s->n);
}

static void
take_blocks(size_t size)
{
	while (nr_blocks < MAX_BLOCKS && (blocks[nr_blocks] = rte_malloc(NULL, size, 0)) != NULL)
		nr_blocks++;
	assert_true(nr_blocks < MAX_BLOCKS);
}

static void
take_rest(size_t size)
{
	for (; size >= 64; size /= 4)
		take_blocks(size);
}

static void
free_blocks(void)
{
	while (nr_blocks != 0)
		rte_free(blocks[--nr_blocks]);
}

/* A little more memory each time: it ends at one step after the other, and at last it is enough. */
static void
each_amount(void **state)
{
	enum { MOST = 2 << 20, STEP = 8 << 10, N = 600 };
	struct ledger before = ledger_take();
	unsigned int failed = 0, made = 0;
	size_t room;
	char *hole = rte_malloc(NULL, MOST, 4096), *filler;

	(void)state;
	assert_non_null(hole);
	take_rest(1 << 20);
	for (room = STEP; room < MOST && made < 10; room += STEP) {
		rte_free(hole);
		filler = rte_malloc(NULL, MOST - room, 4096);
		assert_non_null(filler);
		pools[0] = packets_or_nothing(0, N, 128);
		failed += pools[0] == NULL;
		made += pools[0] != NULL;
		if (pools[0] != NULL)
			check_whole(pools[0], N);
		rte_mempool_free(pools[0]);
		rte_free(filler);
		hole = rte_malloc(NULL, MOST, 4096);
		assert_non_null(hole);
	}
	rte_free(hole);
	free_blocks();
	ledger_check(&before, "all of this");
	print_message("%u amounts were too little\n", failed);
	assert_true(failed >= 10 && made == 10);
}

/* Holes of one block each, and one that has the pool's own state. */
static void
in_pieces(void **state)
{
	enum { PIECE = 16 << 10, HOLES = 200, N = 4000, ROOM = 256 };
	struct ledger before = ledger_take();
	void *state_here = rte_malloc(NULL, 1 << 20, 0);
	unsigned int i;

	(void)state;
	assert_non_null(state_here);
	take_rest(PIECE);
	assert_true(nr_blocks > 3 * HOLES);
	for (i = 0; i < 2 * HOLES; i += 2) {
		rte_free(blocks[i]);
		blocks[i] = NULL;
	}
	rte_free(state_here);
	assert_null(packets_or_nothing(0, 3 * N, ROOM));
	pools[0] = packets_or_nothing(0, N, ROOM);
	assert_non_null(pools[0]);
	print_message("%u objects in %u chunks\n", N, pools[0]->nb_mem_chunks);
	assert_true(pools[0]->nb_mem_chunks > 50);
	check_whole(pools[0], N);
	assert_null(packets_or_nothing(1, 3 * N, ROOM));
	check_whole(pools[0], N);
	rte_mempool_free(pools[0]);
	free_blocks();
	ledger_check(&before, "all of this");
}

static const struct rte_memzone *
memzone(unsigned int number)
{
	char name[RTE_MEMZONE_NAMESIZE];

	snprintf(name, sizeof(name), "zone_%u", number);
	return rte_memzone_reserve(name, 64, SOCKET_ID_ANY, 0);
}

/* A pool takes two: with none left, or one, it is not made. */
static void
no_memzones_left(void **state)
{
	const struct rte_memzone *zones[RTE_MAX_MEMZONE];
	struct ledger before = ledger_take(), full;
	unsigned int nr = 0, left;

	(void)state;
	while (nr < RTE_DIM(zones) && (zones[nr] = memzone(nr)) != NULL)
		nr++;
	assert_null(memzone(nr));
	assert_int_equal(rte_errno, ENOSPC);
	assert_true(nr > 4);
	for (left = 0; left < 4; left++) {
		full = ledger_take();
		pools[0] = packets(0, 100, 128);
		assert_int_equal(pools[0] != NULL, left >= 2);
		if (pools[0] != NULL)
			check_whole(pools[0], 100);
		else
			assert_int_equal(rte_errno, ENOSPC);
		rte_mempool_free(pools[0]);
		ledger_check(&full, "too few memzones");
		rte_memzone_free(zones[--nr]);
	}
	while (nr != 0)
		rte_memzone_free(zones[--nr]);
	ledger_check(&before, "all memzones");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		{ sizes[0].name, until_the_end, NULL, NULL, (void *)(uintptr_t)&sizes[0] },
		{ sizes[1].name, until_the_end, NULL, NULL, (void *)(uintptr_t)&sizes[1] },
		{ sizes[2].name, until_the_end, NULL, NULL, (void *)(uintptr_t)&sizes[2] },
		{ sizes[3].name, until_the_end, NULL, NULL, (void *)(uintptr_t)&sizes[3] },
		cmocka_unit_test(each_amount),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(no_memzones_left),
	};
	int failed;

	faults_init(argc, argv);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed != 0;
}
