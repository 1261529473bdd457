/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The driver's answers in telemetry. Each piece of memory that they need is refused in turn: the
 * answer is shorter or says what is wrong, and nothing stays behind. And nobody frees the pool that
 * is being told of. They are called as telemetry's threads do, but from here, where it can be
 * counted what they take.
 */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <rte_telemetry.h>

#include "faults.h"
#include "inject.h"

#define N 1000
#define LISTS 16
#define PREFIX "/mempool_slab/"

static struct command {
	const char *name;
	telemetry_cb answer;
} commands[32];
static unsigned int nr_commands;

/* The lists in the answer that is being made; telemetry frees them once it is sent. */
static struct rte_tel_data *lists[LISTS];
static unsigned int nr_lists, nr_errors;

static void *
next_of(const char *function)
{
	void *next = dlsym(RTLD_NEXT, function);

	if (next == NULL)
		abort();
	return next;
}

int
rte_telemetry_register_cmd(const char *name, telemetry_cb answer, const char *help)
{
	__typeof__(&rte_telemetry_register_cmd) next = next_of("rte_telemetry_register_cmd");

	if (strncmp(name, PREFIX, strlen(PREFIX)) == 0 && nr_commands < RTE_DIM(commands))
		commands[nr_commands++] = (struct command){ .name = name, .answer = answer };
	return next(name, answer, help);
}

int
rte_tel_data_add_dict_container(struct rte_tel_data *data, const char *name,
	struct rte_tel_data *list, int keep)
{
	static __typeof__(&rte_tel_data_add_dict_container) next;
	int ret;

	if (next == NULL)
		next = next_of("rte_tel_data_add_dict_container");
	ret = next(data, name, list, keep);
	if (ret == 0 && keep == 0 && nr_lists < LISTS)
		lists[nr_lists++] = list;
	return ret;
}

int
rte_tel_data_add_dict_string(struct rte_tel_data *data, const char *name, const char *text)
{
	static __typeof__(&rte_tel_data_add_dict_string) next;

	if (next == NULL)
		next = next_of("rte_tel_data_add_dict_string");
	nr_errors += strcmp(name, "error") == 0;
	return next(data, name, text);
}

/* An answer that has begun waits a while for its pool's end, which must not come before its own. */
static bool holds_up;
static sem_t begun, freed;

static bool
wait_for(sem_t *what, long ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms % 1000 * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return sem_timedwait(what, &until) == 0;
}

int
rte_tel_data_start_dict(struct rte_tel_data *data)
{
	static __typeof__(&rte_tel_data_start_dict) next;

	if (next == NULL)
		next = next_of("rte_tel_data_start_dict");
	if (holds_up) {
		holds_up = false;
		sem_post(&begun);
		if (wait_for(&freed, 100)) {
			fprintf(stderr, "a pool was freed while telemetry told of it\n");
			_exit(1);
		}
	}
	return next(data);
}

static const char *
parameters_of(const struct command *command)
{
	return strcmp(command->name, PREFIX "set") == 0 ? "told,depot,1" : "told";
}

static void
free_answer(struct rte_tel_data *data)
{
	while (nr_lists != 0)
		rte_tel_data_free(lists[--nr_lists]);
	rte_tel_data_free(data);
}

/* Returns how many steps there were. */
static unsigned int
ask(const struct command *command, struct inject what)
{
	struct ledger before = ledger_take();
	struct rte_tel_data *data = rte_tel_data_alloc();
	unsigned int steps;
	char after[128];
	int ret;

	assert_non_null(data);
	nr_errors = 0;
	inject_begin(what);
	ret = command->answer(command->name, parameters_of(command), data);
	steps = inject_end();
	if (ret < 0 || (what.nth == 0 && nr_errors != 0))
		fail_msg("%s, call %u: code %d, %u errors", command->name, what.nth, ret,
			nr_errors);
	free_answer(data);
	snprintf(after, sizeof(after), "%s, call %u, %s", command->name, what.nth,
		inject_name(what.nth));
	ledger_check(&before, after);
	return steps;
}

static struct rte_mempool *
make_told(void)
{
	struct rte_mempool *mp = rte_mempool_create_empty("told", N, 64, 0, 0, SOCKET_ID_ANY, 0);

	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab",
		(void *)(uintptr_t)"check=on,track=on,stats=on"), 0);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	return mp;
}

static void
each_answer(void **state)
{
	struct rte_mempool *mp = make_told();
	unsigned int i, nth, steps, sum = 0;
	void *objs[100];

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, objs, RTE_DIM(objs)), 0);
	assert_in_range(nr_commands, 5, RTE_DIM(commands) - 1);
	for (i = 0; i < nr_commands; i++) {
		ask(&commands[i], (struct inject){ 0 }); /* what is set up once is there */
		steps = ask(&commands[i], (struct inject){ 0 });
		for (nth = 1; nth <= steps; nth++) {
			ask(&commands[i], (struct inject){ .nth = nth });
			ask(&commands[i], (struct inject){ .nth = nth, .on = true });
		}
		print_message("%s: %u pieces of memory\n", commands[i].name, steps);
		sum += steps;
	}
	assert_true(sum > 0);
	rte_mempool_put_bulk(mp, objs, RTE_DIM(objs));
	check_whole(mp, N);
	rte_mempool_free(mp);
}

static void *
answer_slowly(void *arg)
{
	const struct command *command = arg;
	struct rte_tel_data *data = rte_tel_data_alloc();

	command->answer(command->name, parameters_of(command), data);
	free_answer(data);
	return NULL;
}

static void
freed_while_told(void **state)
{
	struct rte_mempool *mp;
	pthread_t thread;
	unsigned int i;

	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&freed, 0, 0);
	for (i = 0; i < nr_commands; i++) {
		if (strcmp(commands[i].name, PREFIX "list") == 0)
			continue; /* of all pools, without a look at any */
		mp = make_told();
		holds_up = true;
		assert_int_equal(pthread_create(&thread, NULL, answer_slowly, &commands[i]), 0);
		assert_true(wait_for(&begun, 10000));
		rte_mempool_free(mp);
		sem_post(&freed);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_true(wait_for(&freed, 0));
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer),
		cmocka_unit_test(freed_while_told),
	};
	int failed;

	faults_init(argc, argv);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed != 0;
}
