/* SPDX-License-Identifier: BSD-3-Clause */

#include "faults.h"
#include "inject.h"

static void
add_memzone(const struct rte_memzone *mz, void *arg)
{
	(void)mz;
	((struct ledger *)arg)->memzones++;
}

static void
add_mempool(struct rte_mempool *mp, void *arg)
{
	(void)mp;
	((struct ledger *)arg)->mempools++;
}

struct ledger
ledger_take(void)
{
	struct ledger l = { .mapped = inject_mapped(), .libc_blocks = inject_libc_blocks() };
	struct rte_malloc_socket_stats stats;
	int socket;

	for (socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		if (rte_malloc_get_socket_stats(socket, &stats) == 0) {
			l.blocks += stats.alloc_count;
			l.bytes += stats.heap_allocsz_bytes;
		}
	rte_memzone_walk(add_memzone, &l);
	rte_mempool_walk(add_mempool, &l);
	return l;
}

static void
check_same(long before, long after, const char *unit, const char *after_what)
{
	if (before != after)
		fail_msg("after %s: %ld %s, and before it %ld", after_what, after, unit, before);
}

void
ledger_check(const struct ledger *before, const char *after_what)
{
	struct ledger now = ledger_take();

	check_same(before->mempools, now.mempools, "mempools", after_what);
	check_same(before->memzones, now.memzones, "memzones", after_what);
	check_same(before->blocks, now.blocks, "blocks of rte_malloc", after_what);
	check_same((long)before->bytes, (long)now.bytes, "bytes of rte_malloc", after_what);
	check_same(before->mapped, now.mapped, "bytes mapped", after_what);
	check_same(before->libc_blocks, now.libc_blocks, "blocks of malloc", after_what);
}

/* Takes no memory, since what takes some is counted. */
static char said[1 << 16], said_buffer[4096];
static size_t said_bytes;

static ssize_t
say(void *cookie, const char *text, size_t size)
{
	size_t n = RTE_MIN(size, sizeof(said) - 1 - said_bytes);

	(void)cookie;
	memcpy(said + said_bytes, text, n);
	said_bytes += n;
	said[said_bytes] = '\0';
	return (ssize_t)size;
}

void
log_clear(void)
{
	said_bytes = 0;
	said[0] = '\0';
}

const char *
log_text(void)
{
	return said;
}

void
faults_init(int argc, char **argv)
{
	FILE *log;

	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "EAL cannot be started: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	log = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = say });
	if (log == NULL || setvbuf(log, said_buffer, _IOFBF, sizeof(said_buffer)) != 0 ||
			rte_openlog_stream(log) != 0) {
		fprintf(stderr, "the log cannot be taken\n");
		exit(1);
	}
}

static void
check_apart(struct rte_mempool *mp, void **objs, unsigned int n)
{
	size_t step = mp->header_size + mp->elt_size + mp->trailer_size;
	unsigned int i;

	qsort(objs, n, sizeof(*objs), by_address);
	for (i = 0; i < n; i++) {
		assert_ptr_equal(rte_mempool_from_obj(objs[i]), mp);
		assert_true(i == 0 || (char *)objs[i] >= (char *)objs[i - 1] + step);
	}
}

static void
fill(const struct rte_mempool *mp, void *obj, uint64_t number)
{
	uint64_t *words = obj;
	unsigned int i;

	for (i = 0; i < mp->elt_size / sizeof(*words); i++)
		words[i] = number;
}

static void
check_filled(const struct rte_mempool *mp, const void *obj, uint64_t number)
{
	const uint64_t *words = obj;
	unsigned int i;

	for (i = 0; i < mp->elt_size / sizeof(*words); i++)
		if (words[i] != number)
			fail_msg("pool %s: an object has %#lx where %#lx was written", mp->name,
				(unsigned long)words[i], (unsigned long)number);
}

void **
hold_all(struct rte_mempool *mp, unsigned int n, uint64_t number)
{
	void **objs = calloc(n, sizeof(*objs)), *more;
	unsigned int step = RTE_MIN(32u, n), got = 0, i;

	assert_non_null(objs);
	assert_int_equal(rte_mempool_avail_count(mp), n);
	while (got + step <= n && rte_mempool_get_bulk(mp, objs + got, step) == 0)
		got += step;
	while (got < n && rte_mempool_get(mp, &objs[got]) == 0)
		got++;
	assert_int_equal(got, n);
	assert_int_equal(rte_mempool_get(mp, &more), -ENOBUFS);
	assert_int_equal(rte_mempool_avail_count(mp), 0);
	check_apart(mp, objs, n);
	for (i = 0; i < n; i++)
		fill(mp, objs[i], number + i);
	return objs;
}

void
give_all(struct rte_mempool *mp, void **objs, unsigned int n, uint64_t number)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		check_filled(mp, objs[i], number + i);
	rte_mempool_put_bulk(mp, objs, n);
	assert_int_equal(rte_mempool_avail_count(mp), n);
	free(objs);
}

void
check_whole(struct rte_mempool *mp, unsigned int n)
{
	give_all(mp, hold_all(mp, n, 0), n, 0);
}
