/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the driver says of objects that are not what they have to be, with and without check=on, and
 * of where objects are; in a process of EAL with two lcores.
 */

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "driver.h"
#include "mempool_slab.h"

#define N 1000

/* Shown as well. */
static char *
told(void)
{
	char *text = log_end();

	print_message("%s", text);
	return text;
}

static struct rte_mempool *
make(const char *name, const char *ops, const char *options)
{
	struct rte_mempool *mp = rte_mempool_create_empty(name, N, 200, 0, 0, SOCKET_ID_ANY, 0);

	assert_non_null(mp);
	assert_int_equal(rte_mempool_set_ops_byname(mp, ops, (void *)(uintptr_t)options), 0);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	return mp;
}

/* Each object comes out once; then the pool goes. */
static void
end(struct rte_mempool *mp)
{
	void *objs[N + 1];
	unsigned int n, i;

	for (n = 0; n <= N && rte_mempool_get(mp, &objs[n]) == 0;)
		n++;
	assert_int_equal(n, N);
	qsort(objs, N, sizeof(*objs), by_address);
	for (i = 1; i < N; i++)
		assert_ptr_not_equal(objs[i - 1], objs[i]);
	for (i = 0; i < N; i += 100)
		rte_mempool_put_bulk(mp, objs + i, 100);
	rte_mempool_free(mp);
}

static unsigned int
lines_of(const char *text)
{
	unsigned int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

/* A put of this object is told in one line that has all these words. */
void
check_told(struct rte_mempool *mp, const void *obj, const char *what);

void
check_told(struct rte_mempool *mp, const void *obj, const char *what)
{
	void *bad = (void *)(uintptr_t)obj;
	char address[32], *line;

	snprintf(address, sizeof(address), "put %p", obj);
	log_begin();
	rte_mempool_put(mp, bad);
	line = told();
	assert_int_equal(lines_of(line), 1);
	assert_non_null(strstr(line, "pool checked: lcore 0"));
	assert_non_null(strstr(line, address));
	assert_non_null(strstr(line, what));
	assert_non_null(strstr(line, "(number 1 of these)"));
	/* This program shows its symbols to the loader. */
	assert_non_null(strstr(line, "called from check_told+0x"));
	free(line);
}

static void
each_kind(void **state)
{
	struct rte_mempool *mp = make("checked", "slab", "check=on");
	struct rte_mempool *other = make("other pool", "slab", NULL);
	struct rte_mempool *ring = make("ring pool", "ring_mp_mc", NULL);
	void *obj, *its, *of_ring;

	(void)state;
	assert_int_equal(rte_mempool_get(mp, &obj), 0);
	assert_int_equal(rte_mempool_get(other, &its), 0);
	assert_int_equal(rte_mempool_get(ring, &of_ring), 0);
	check_told(mp, its, "of another pool, other pool; dropped");
	check_told(mp, (char *)obj + 8, "inside of an object, not its start; dropped");
	rte_mempool_put(mp, obj);
	check_told(mp, obj, "free already; dropped");
	log_begin();
	rte_mempool_put(mp, of_ring);
	rte_mempool_put(mp, NULL);
	rte_mempool_put(mp, &obj);
	rte_mempool_put(mp, &obj);
	its = told();
	assert_non_null(strstr(its, "of another pool, ring pool"));
	assert_non_null(strstr(its, "no object of this pool"));
	assert_int_equal(lines_of(its), 2); /* the second and the fourth of this kind */
	free(its);
	rte_mempool_put(ring, of_ring);
	rte_mempool_free(ring);
	end(mp);
	rte_mempool_free(other);
}

/* Without checks an object's slab sees it, which says so whenever it gets there. */
static void
by_slabs(void **state)
{
	struct rte_mempool *mp = make("checked", "slab", "magazine=1,depot=0,check=off");
	void *objs[N];

	(void)state;
	assert_int_equal(rte_mempool_get_bulk(mp, objs, N), 0);
	rte_mempool_put_bulk(mp, objs, N);
	check_told(mp, (char *)objs[0] + 1, "inside of an object");
	check_told(mp, &objs, "no object of this pool");
	log_begin();
	rte_mempool_put_bulk(mp, objs, 3);
	assert_non_null(strstr(told(), "free already"));
	free(log_text);
	end(mp);
}

/* A million faults make twenty-one lines. */
static void
no_flood(void **state)
{
	struct rte_mempool *mp = make("checked", "slab", "check=on");
	unsigned int i;
	void *obj;

	(void)state;
	assert_int_equal(rte_mempool_get(mp, &obj), 0);
	rte_mempool_put(mp, obj);
	log_begin();
	for (i = 0; i < 1 << 20; i++)
		rte_mempool_put(mp, obj);
	assert_int_equal(lines_of(told()), 21);
	assert_non_null(strstr(log_text, "(number 1048576 of these)"));
	free(log_text);
	end(mp);
}

static int
put_as_lcore(void *arg)
{
	void **objs = arg;

	rte_mempool_put(objs[0], objs[1]);
	return 0;
}

static void *
put_as_thread(void *arg)
{
	put_as_lcore(arg);
	return NULL;
}

static void
who_did_it(void **state)
{
	struct rte_mempool *mp = make("checked", "slab", "check=on");
	pthread_t thread;
	void *arg[2] = { mp };
	char *text;

	(void)state;
	assert_int_equal(rte_mempool_get(mp, &arg[1]), 0);
	rte_mempool_put(mp, arg[1]);
	log_begin();
	assert_int_equal(rte_eal_remote_launch(put_as_lcore, arg, 1), 0);
	rte_eal_wait_lcore(1);
	assert_int_equal(pthread_create(&thread, NULL, put_as_thread, arg), 0);
	pthread_join(thread, NULL);
	text = told();
	assert_non_null(strstr(text, "pool checked: lcore 1 put"));
	assert_non_null(strstr(text, "pool checked: thread "));
	free(text);
	end(mp);
}

static void
on_fault_abort(void **state)
{
	struct rte_mempool *mp = make("checked", "slab", "check=on,on_fault=abort");
	void *obj;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(rte_mempool_get(mp, &obj), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		rte_mempool_put(mp, &pid);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	rte_mempool_put(mp, obj);
	end(mp);
}

static struct mempool_slab_audit
audit(const struct rte_mempool *mp, char **text)
{
	__typeof__(&mempool_slab_audit) look = of_plugin("mempool_slab_audit");
	struct mempool_slab_audit a;
	size_t size;
	FILE *f = open_memstream(text, &size);

	assert_int_equal(look(mp, &a, f), 0);
	fclose(f);
	print_message("%s", *text);
	assert_int_equal(a.in_slabs + a.in_depots + a.in_lcore_caches + a.in_cpu_caches +
		a.in_mempool_caches + a.out + a.lost, a.objects);
	assert_int_equal(a.objects, N);
	assert_int_equal(a.twice, 0);
	return a;
}

/* Those that got them are named here and, when the pool is freed all the same, in the log. */
void
leak(struct rte_mempool *mp, void **objs);

__attribute__((noinline)) void
leak(struct rte_mempool *mp, void **objs)
{
	assert_int_equal(rte_mempool_get_bulk(mp, objs, 3), 0);
}

static void
leaks_are_named(void **state)
{
	struct rte_mempool *mp = make("leaky", "slab", "check=on,track=on");
	char *text, address[32];
	void *objs[N];
	int i;

	(void)state;
	leak(mp, objs);
	assert_int_equal(audit(mp, &text).out, 3);
	assert_non_null(strstr(text, "got by lcore 0 of process "));
	assert_non_null(strstr(text, "from leak+0x"));
	assert_non_null(strstr(text, "slabs of node 0: "));
	free(text);
	log_begin();
	rte_mempool_free(mp);
	text = told();
	assert_non_null(strstr(text, "freed while 3 of its 1000 objects are missing"));
	assert_int_equal(lines_of(text), 1 + 3);
	for (i = 0; i < 3; i++) {
		snprintf(address, sizeof(address), "missing: %p: got by", objs[i]);
		assert_non_null(strstr(text, address));
	}
	free(text);
}

/* Those in caches of rte_mempool are free. */
static void
mempool_caches(void **state)
{
	struct rte_mempool *mp = rte_mempool_create_empty("cached", N, 200, 64, 0, SOCKET_ID_ANY, 0);
	struct mempool_slab_audit a;
	void *objs[40];
	char *text;

	(void)state;
	assert_int_equal(rte_mempool_set_ops_byname(mp, "slab", NULL), 0);
	assert_int_equal(rte_mempool_populate_default(mp), N);
	assert_int_equal(rte_mempool_get_bulk(mp, objs, 10), 0);
	a = audit(mp, &text);
	assert_int_equal(a.out, 10);
	assert_true(a.in_mempool_caches > 0);
	free(text);
	rte_mempool_put_bulk(mp, objs, 10);
	a = audit(mp, &text);
	assert_int_equal(a.out, 0);
	free(text);
	rte_mempool_free(mp);
}

static void
not_of_slab(void **state)
{
	__typeof__(&mempool_slab_audit) look = of_plugin("mempool_slab_audit");
	__typeof__(&mempool_slab_reclaim) reclaim = of_plugin("mempool_slab_reclaim");
	struct rte_mempool *ring = make("ring pool", "ring_mp_mc", NULL);
	struct rte_mempool *empty = rte_mempool_create_empty("empty", N, 64, 0, 0, SOCKET_ID_ANY, 0);
	struct mempool_slab_audit a;

	(void)state;
	assert_int_equal(rte_mempool_set_ops_byname(empty, "slab", NULL), 0);
	assert_int_equal(look(ring, &a, NULL), -EINVAL);
	assert_int_equal(look(empty, &a, NULL), -EINVAL);
	assert_int_equal(reclaim(ring, 0), -EINVAL);
	assert_int_equal(reclaim(empty, 0), -EINVAL);
	assert_int_equal(rte_mempool_populate_default(empty), N);
	assert_int_equal(reclaim(empty, 0), 0);
	rte_mempool_free(ring);
	end(empty);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind),
		cmocka_unit_test(by_slabs),
		cmocka_unit_test(no_flood),
		cmocka_unit_test(who_did_it),
		cmocka_unit_test(on_fault_abort),
		cmocka_unit_test(leaks_are_named),
		cmocka_unit_test(mempool_caches),
		cmocka_unit_test(not_of_slab),
	};
	int ret;

	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "test_check: EAL: %s\n", rte_strerror(rte_errno));
		return 1;
	}
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return ret;
}
