/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A pool of rte_mempool that is populated bit by bit, by rte_mempool_populate_virt() and by
 * rte_mempool_populate_iova(), while lcores and threads that are none get, put and count. Who
 * populates is always the same thread: rte_mempool allows one at a time.
 */

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_memory.h>
#include <rte_memzone.h>

#include "marks.h"

#define N 10000
#define STRANGERS 3
#define POOLS 30
/* Memory comes in pieces, of which the last bytes mostly stay unused. */
#define PIECE 16384
#define PIECES 256

enum order { ASCENDING, DESCENDING, RANDOM, ORDERS };

static struct rte_mempool *mp;
static const struct rte_memzone *memory;
static _Atomic(unsigned int) added; /* objects, since the call that brought them returned */
static _Atomic(uint64_t) got;       /* by all who used pools */
static atomic_bool over;
static uint64_t seed;

static void
begin(void)
{
	mp = rte_mempool_create_empty("grows", N, OBJECT_SIZE, 0, 0, SOCKET_ID_ANY, 0);
	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", NULL), 0);
	memset(memory->addr, 0, memory->len);
	added = 0;
	over = false;
}

static void
end(void)
{
	assert_int_equal(added, N);
	check_all_there(mp, N);
	rte_mempool_free(mp);
}

static void
draw_order(unsigned int *pieces, enum order order)
{
	unsigned int i, k, other;

	for (i = 0; i < PIECES; i++)
		pieces[i] = order == DESCENDING ? PIECES - 1 - i : i;
	for (i = PIECES; order == RANDOM && i > 1; i--) {
		k = draw(&seed, i);
		other = pieces[k];
		pieces[k] = pieces[i - 1];
		pieces[i - 1] = other;
	}
}

/* Returns how many objects came: 1 to 128. */
static unsigned int
populate(unsigned int piece)
{
	size_t size = mp->header_size + mp->elt_size + mp->trailer_size;
	size_t len = size * (1 + draw(&seed, PIECE / size));
	char *at = (char *)memory->addr + (size_t)piece * PIECE;
	int n;

	if (draw(&seed, 2) == 0)
		n = rte_mempool_populate_virt(mp, at, len, sysconf(_SC_PAGESIZE), NULL, NULL);
	else
		n = rte_mempool_populate_iova(mp, at, rte_mem_virt2iova(at), len, NULL, NULL);
	MUST(n > 0 && n <= PIECE / (int)size);
	added += (unsigned int)n;
	MUST(added <= N);
	return (unsigned int)n;
}

static void
user_begin(struct user *u, uint64_t number)
{
	*u = (struct user){ .mp = mp, .number = number, .seed = seed + number };
}

/* By an lcore or by a thread that is none. */
static int
use(void *arg)
{
	struct user u;

	user_begin(&u, 1 + (uintptr_t)arg);
	while (!over) {
		user_step(&u, 64);
		if (draw(&u.seed, 100) == 0)
			MUST(rte_mempool_avail_count(mp) <= N);
	}
	user_put(&u, RTE_DIM(u.objs));
	got += u.got;
	return 0;
}

static void *
use_as_stranger(void *arg)
{
	MUST(rte_lcore_id() == LCORE_ID_ANY);
	use(arg);
	return NULL;
}

static void
grow_in_use(const unsigned int *pieces)
{
	pthread_t strangers[STRANGERS];
	uintptr_t i;

	populate(*pieces++);
	rte_eal_mp_remote_launch(use, (void *)STRANGERS, SKIP_MAIN);
	for (i = 0; i < STRANGERS; i++)
		strangers[i] = start_thread(use_as_stranger, (void *)i);
	while (added < N) {
		usleep(50);
		populate(*pieces++);
	}
	over = true;
	for (i = 0; i < STRANGERS; i++)
		pthread_join(strangers[i], NULL);
	rte_eal_mp_wait_lcore();
}

/* What came last is found by one finder after the other, an lcore and a thread that is none. */
struct finder {
	uint64_t number;
	sem_t turn, found;
};

static unsigned int out;

static void
find(struct user *u)
{
	unsigned int n = added - out;

	MUST(rte_mempool_avail_count(mp) == n);
	user_get(u, n);
	MUST(u->held == n && rte_mempool_avail_count(mp) == 0);
	user_get(u, 1);
	MUST(u->held == n);
	while (u->held != 0)
		user_put(u, 1 + draw(&u->seed, u->held));
}

static int
find_in_turn(void *arg)
{
	struct finder *f = arg;
	struct user u;

	user_begin(&u, f->number);
	for (sem_wait(&f->turn); !over; sem_wait(&f->turn)) {
		find(&u);
		sem_post(&f->found);
	}
	return 0;
}

static void *
find_as_stranger(void *arg)
{
	find_in_turn(arg);
	return NULL;
}

static void
let_find(struct finder *f)
{
	sem_post(&f->turn);
	sem_wait(&f->found);
}

static void
grow_found(const unsigned int *pieces, struct finder *lcore, struct finder *stranger)
{
	void **objs = calloc(N, sizeof(*objs));
	unsigned int n;

	for (out = 0; added < N; out += n) {
		n = populate(*pieces++);
		let_find(lcore);
		let_find(stranger);
		MUST(rte_mempool_get_bulk(mp, objs + out, n) == 0);
	}
	rte_mempool_put_bulk(mp, objs, N);
	free(objs);
}

/* Everything is out but for what came last. */
static void
grow_while_all_is_out(const unsigned int *pieces)
{
	struct finder lcore = { .number = 1 }, stranger = { .number = 2 };
	pthread_t thread;

	sem_init(&lcore.turn, 0, 0);
	sem_init(&lcore.found, 0, 0);
	sem_init(&stranger.turn, 0, 0);
	sem_init(&stranger.found, 0, 0);
	rte_eal_remote_launch(find_in_turn, &lcore, rte_get_next_lcore(-1, 1, 0));
	thread = start_thread(find_as_stranger, &stranger);
	grow_found(pieces, &lcore, &stranger);
	over = true;
	sem_post(&lcore.turn);
	sem_post(&stranger.turn);
	pthread_join(thread, NULL);
	rte_eal_mp_wait_lcore();
}

static void
all_orders(void (*grow)(const unsigned int *pieces))
{
	unsigned int pieces[PIECES], i;

	for (i = 0; i < POOLS; i++) {
		seed = i;
		begin();
		draw_order(pieces, i % ORDERS);
		grow(pieces);
		end();
	}
}

static void
populated_in_use(void **state)
{
	(void)state;
	all_orders(grow_in_use);
	print_message("%llu objects\n", (unsigned long long)got);
	assert_true(got > N);
}

static void
new_objects_are_there_at_once(void **state)
{
	(void)state;
	all_orders(grow_while_all_is_out);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(populated_in_use),
		cmocka_unit_test(new_objects_are_there_at_once),
	};
	int failed;

	note_cpus();
	if (rte_eal_init(argc, argv) < 0)
		return 1;
	memory = rte_memzone_reserve_aligned("grow", (size_t)PIECES * PIECE, SOCKET_ID_ANY, 0,
		PIECE);
	if (memory == NULL) {
		perror("no memory");
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed != 0;
}
