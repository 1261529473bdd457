/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An application built with AddressSanitizer, and the plugin as it ships: with check=on, whoever touches an
 * object that is free is stopped, and who has got it finds what it held.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>

#define N 500
#define EXIT_OF_SANITIZER 66 /* set in the environment of this test */

static struct rte_mempool *
make(char *options)
{
	struct rte_mempool *mp = rte_mempool_create_empty("asan", N, 200, 0, 0, SOCKET_ID_ANY, 0);

	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", options), 0);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	return mp;
}

/* The status of a child that reads a byte. */
static int
read_in_child(const volatile char *byte)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		fclose(stderr);
		_exit(*byte == 'x' ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
touched_while_free(void **state)
{
	char options[] = "check=on";
	struct rte_mempool *mp = make(options);
	char *objs[32];

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)objs, 32), 0);
	memset(objs[7], 'x', 200);
	assert_int_equal(read_in_child(objs[7]), 0);
	rte_mempool_put_bulk(mp, (void **)objs, 32);
	assert_int_equal(read_in_child(objs[7]), EXIT_OF_SANITIZER);
	assert_int_equal(read_in_child(objs[7] + 199), EXIT_OF_SANITIZER);
	assert_int_equal(rte_mempool_get_bulk(mp, (void **)objs, 32), 0);
	assert_int_equal(read_in_child(objs[7]), 0);
	assert_int_equal(read_in_child(objs[7] + 199), 0);
	rte_mempool_put_bulk(mp, (void **)objs, 32);
	rte_mempool_free(mp);
}

/* Without checks nothing is seen. */
static void
not_seen(void **state)
{
	char options[] = "check=off";
	struct rte_mempool *mp = make(options);
	char *obj;

	(void)state;
	assert_int_equal(rte_mempool_get(mp, (void **)&obj), 0);
	*obj = 'x';
	rte_mempool_put(mp, obj);
	assert_int_equal(read_in_child(obj), 0);
	rte_mempool_free(mp);
}

/* Packet buffers are initialized in the pool, chained, cloned and freed, without a word. */
static void
packets(void **state)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create_by_ops("mbufs", N, 0, 0,
		RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, "slab");
	struct rte_mbuf *a, *b, *clone;
	char *data;

	(void)state;
	assert_non_null(mp);
	a = rte_pktmbuf_alloc(mp);
	b = rte_pktmbuf_alloc(mp);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(rte_pktmbuf_chain(a, b), 0);
	clone = rte_pktmbuf_clone(a, mp);
	assert_non_null(clone);
	data = rte_pktmbuf_append(b, 100);
	memset(data, 'x', 100);
	rte_pktmbuf_free(a);
	assert_int_equal(read_in_child(data), 0); /* the clone has it */
	rte_pktmbuf_free(clone);
	assert_int_equal(read_in_child(data), EXIT_OF_SANITIZER);
	rte_mempool_free(mp);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touched_while_free),
		cmocka_unit_test(not_seen),
		cmocka_unit_test(packets),
	};
	int ret;

	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "use_after_free: EAL: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return ret;
}
