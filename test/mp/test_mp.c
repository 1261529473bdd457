/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A primary and a secondary process on one pool. The primary starts the program again as the
 * secondary, once with the plugins in its own order and once in another.
 *
 *     test_mp EAL_OPTIONS -- SLAB_PLUGIN OTHER_PLUGIN
 */

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_memzone.h>
#include <rte_mempool.h>

#define OBJECTS 1000
#define BURSTS 200000
#define PREFIX "--file-prefix=slab_mp"
#define CHECK(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s: line %d: %s does not hold\n", \
			rte_eal_process_type() == RTE_PROC_PRIMARY ? "primary" : "secondary", \
			__LINE__, #what); \
		exit(1); \
	} \
} while (0)

/* Both sides wait for the other's word only between the parts of the test. */
enum word { START = 1, SECONDARY_RESTS, PRIMARY_DONE };

struct shared {
	_Atomic(uint32_t) word;
	_Atomic(uint64_t) got[2];
	_Atomic(uint8_t) holder[OBJECTS]; /* process + 1, or 0 */
};

static struct shared *shared;

static void
await(uint32_t word)
{
	unsigned int i;

	for (i = 0; atomic_load(&shared->word) < word; i++) {
		CHECK(i < 30000);
		usleep(1000);
	}
}

static void
number(struct rte_mempool *mp, void *opaque, void *obj, unsigned int i)
{
	(void)mp;
	(void)opaque;
	*(uint32_t *)obj = i;
}

/* Hold bursts of random length for a while; every object has one holder at a time. */
static void
work(struct rte_mempool *mp, uint8_t me)
{
	void *objs[OBJECTS];
	unsigned int held = 0, i, n;
	uint64_t seed = me;

	for (i = 0; i < BURSTS || held != 0; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		n = 1 + (unsigned int)(seed >> 33) % 64;
		if (i < BURSTS && seed >> 63 && held + n <= OBJECTS &&
				rte_mempool_get_bulk(mp, objs + held, n) == 0) {
			shared->got[me - 1] += n;
			for (; n > 0; n--, held++)
				CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[held]],
					me) == 0);
			continue;
		}
		n = n < held ? n : held;
		held -= n;
		for (unsigned int k = held; k < held + n; k++)
			CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[k]], 0) == me);
		rte_mempool_put_bulk(mp, objs + held, n);
	}
}

static struct rte_mempool *
make_pool(const char *name, const char *ops, const char *options)
{
	struct rte_mempool *mp = rte_mempool_create_empty(name, OBJECTS, 64, 0, 0, SOCKET_ID_ANY, 0);

	CHECK(mp != NULL && rte_mempool_set_ops_byname(mp, ops,
		(void *)(uintptr_t)options) == 0);
	CHECK(rte_mempool_populate_default(mp) == OBJECTS);
	rte_mempool_obj_iter(mp, number, NULL);
	return mp;
}

static void
check_all_there(struct rte_mempool *mp)
{
	void *objs[OBJECTS], *more;
	unsigned int i;

	CHECK(rte_mempool_avail_count(mp) == OBJECTS);
	for (i = 0; i < OBJECTS; i++)
		CHECK(rte_mempool_get(mp, &objs[i]) == 0);
	CHECK(rte_mempool_get(mp, &more) == -ENOBUFS);
	for (i = 0; i < OBJECTS; i++)
		CHECK(atomic_exchange(&shared->holder[*(uint32_t *)objs[i]], 9) == 0);
	for (i = 0; i < OBJECTS; i++)
		shared->holder[i] = 0;
	rte_mempool_put_bulk(mp, objs, OBJECTS);
}

static pid_t
start_secondary(const char *self, char *const plugins[2], const char *part)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(self, self, "-l", "1", "--no-pci", PREFIX, "--proc-type=secondary",
			"-d", plugins[0], "-d", plugins[1], "--", part, NULL);
		perror(self);
		_exit(1);
	}
	CHECK(pid > 0);
	return pid;
}

static void
end_secondary(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Ask this process's own telemetry, as dpdk-telemetry.py does. */
static const char *
ask(const char *command)
{
	static char answer[16384];
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ssize_t n;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	CHECK(connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	CHECK(read(fd, answer, sizeof(answer)) > 0); /* who I am */
	CHECK(write(fd, command, strlen(command)) > 0);
	n = read(fd, answer, sizeof(answer) - 1);
	CHECK(n > 0);
	answer[n] = '\0';
	close(fd);
	printf("%s: %s\n", command, answer);
	return answer;
}

static void
check_telemetry(struct rte_mempool *ring)
{
	struct rte_mempool *mp = make_pool("told", "slab", "magazine=32,stats=on");
	void *objs[7];

	CHECK(rte_mempool_get_bulk(mp, objs, 7) == 0);
	CHECK(strcmp(ask("/mempool_slab/list"),
		"{\"/mempool_slab/list\":[\"shared\",\"told\"]}") == 0);
	CHECK(strstr(ask("/mempool_slab/info,told"), "\"objects\":1000,\"free\":993") != NULL);
	CHECK(strstr(ask("/mempool_slab/info,told"), "\"magazine\":32") != NULL);
	CHECK(strstr(ask("/mempool_slab/info,told"), "\"thread_cache\":\"rseq\"") != NULL ||
		strstr(ask("/mempool_slab/info,told"), "\"thread_cache\":\"lock\"") != NULL);
	CHECK(strstr(ask("/mempool_slab/stats,told"), "\"get_bulks\":1,\"get_objs\":7") != NULL);
	rte_mempool_put_bulk(mp, objs, 7);
	CHECK(strstr(ask("/mempool_slab/stats,told"), "\"put_objs\":7") != NULL);
	CHECK(strstr(ask("/mempool_slab/info"), "{\"error\":\"pool ''") != NULL);
	CHECK(strstr(ask("/mempool_slab/info,nobody"), "{\"error\":\"pool 'nobody'") != NULL);
	ring->ops_index = mp->ops_index; /* as where plugins have another order */
	CHECK(strstr(ask("/mempool_slab/stats,theirs"), "{\"error\":\"pool 'theirs'") != NULL);
	ring->ops_index = 1;
	rte_mempool_free(mp);
}

static void
check_audit(void)
{
	struct rte_mempool *mp = make_pool("told, 7", "slab", "check=on,track=on");
	void *objs[7];

	CHECK(rte_mempool_get_bulk(mp, objs, 7) == 0);
	CHECK(strstr(ask("/mempool_slab/audit,told, 7"), "\"objects\":1000,") != NULL);
	CHECK(strstr(ask("/mempool_slab/audit,told, 7"), "\"in_use\":7,\"lost\":0,\"twice\":0,"
		"\"slabs_by_node\":{\"0\":") != NULL);
	CHECK(strstr(ask("/mempool_slab/audit,told, 7"), ": got by lcore 0 of process ") != NULL);
	rte_mempool_put_bulk(mp, objs, 7);
	CHECK(strstr(ask("/mempool_slab/audit,told, 7"), "\"first_in_use\":[]") != NULL);
	CHECK(strstr(ask("/mempool_slab/audit,nobody"), "{\"error\":\"pool 'nobody'") != NULL);
	CHECK(strcmp(ask("/mempool_slab/reclaim,told, 7"),
		"{\"/mempool_slab/reclaim\":{\"name\":\"told, 7\",\"objects\":0}}") == 0);
	CHECK(strcmp(ask("/mempool_slab/reclaim,told, 7,4194303"),
		"{\"/mempool_slab/reclaim\":{\"name\":\"told, 7\",\"objects\":0}}") == 0);
	CHECK(strstr(ask("/mempool_slab/reclaim,told, 7,x"), "{\"error\":") != NULL);
	CHECK(strstr(ask("/mempool_slab/reclaim,"), "{\"error\":") != NULL);
	CHECK(strstr(ask("/mempool_slab/reclaim"), "{\"error\":") != NULL);
	CHECK(strstr(ask("/mempool_slab/stats,told, 7"), "\"faults\":0,\"faults_foreign\":0,"
		"\"faults_inside\":0,\"faults_double\":0,\"faults_in_use\":0") != NULL);
	rte_mempool_put(mp, objs[0]);
	CHECK(strstr(ask("/mempool_slab/stats,told, 7"), "\"faults_double\":1") != NULL);
	CHECK(strstr(ask("/mempool_slab/info,told, 7"), "\"check\":\"on\",\"track\":\"on\"") != NULL);
	rte_mempool_free(mp);
}

/* Each mistake is answered by what is wrong, and by what would be right. */
static void
check_refused(const char *params, const char *expected)
{
	char command[2000], error[200];

	snprintf(command, sizeof(command), "/mempool_slab/set%s", params);
	snprintf(error, sizeof(error), "{\"/mempool_slab/set\":{\"error\":\"%s\"}}", expected);
	CHECK(strcmp(ask(command), error) == 0);
}

static void
check_tunables_refused(void)
{
	static const char form[] = "'%.32s': wanted: POOL,TUNABLE,VALUE";
	char much[1000] = ",told,depot,", error[100];

	memset(much + strlen(much), '1', 100);
	check_refused(much, "pool told: tunable depot=1111111111111111: "
		"allowed: 0 to 20 magazines per node");
	memset(much + strlen(much), '1', 100);
	snprintf(error, sizeof(error), form, much + 1);
	check_refused(much, error);
	memset(much + 1, 'x', sizeof(much) - 2);
	snprintf(error, sizeof(error), form, much + 1);
	check_refused(much, error);
	check_refused(",told,depot,\"\\", "pool told: tunable depot=\\\"\\\\: "
		"allowed: 0 to 20 magazines per node");
	check_refused("", "'': wanted: POOL,TUNABLE,VALUE");
	check_refused(",told", "'told': wanted: POOL,TUNABLE,VALUE");
	check_refused(",told,depot", "'told,depot': wanted: POOL,TUNABLE,VALUE");
	check_refused(",told,,", "pool told: no tunable ''; allowed: depot, lcore_partial, min_partial");
	check_refused(",told,magazine,3", "pool told: no tunable 'magazine'; allowed: "
		"depot, lcore_partial, min_partial");
	check_refused(",told,depot,3,4", "pool 'told,depot': there is no such pool of slab");
	check_refused(",nobody,depot,3", "pool 'nobody': there is no such pool of slab");
	check_refused(",theirs,depot,3", "pool 'theirs': there is no such pool of slab");
	check_refused(",told,depot,21", "pool told: tunable depot=21: "
		"allowed: 0 to 20 magazines per node");
	check_refused(",told,depot,", "pool told: tunable depot=: "
		"allowed: 0 to 20 magazines per node");
	check_refused(",told,depot,-1", "pool told: tunable depot=-1: "
		"allowed: 0 to 20 magazines per node");
	check_refused(",told,depot,3x", "pool told: tunable depot=3x: "
		"allowed: 0 to 20 magazines per node");
	check_refused(",told,depot, 3", "pool told: tunable depot= 3: "
		"allowed: 0 to 20 magazines per node");
	check_refused(",told,lcore_partial,65", "pool told: tunable lcore_partial=65: "
		"allowed: 0 to 64 slabs");
	check_refused(",told,min_partial,4294967296", "pool told: tunable min_partial=4294967296: "
		"allowed: 0 to 4294967294 slabs");
	check_refused(",told,min_partial,99999999999999999999", "pool told: tunable "
		"min_partial=9999999999999999: allowed: 0 to 4294967294 slabs");
	CHECK(strstr(ask("/mempool_slab/tunables"), "{\"error\":\"pool ''") != NULL);
	CHECK(strstr(ask("/mempool_slab/tunables,theirs"), "{\"error\":\"pool 'theirs'") != NULL);
}

static void
check_tunables(void)
{
	struct rte_mempool *mp = make_pool("told", "slab", "magazine=16,depot=20,min_partial=3");

	CHECK(strcmp(ask("/mempool_slab/tunables,told"), "{\"/mempool_slab/tunables\":{"
		"\"name\":\"told\",\"depot\":20,\"depot_max\":20,"
		"\"lcore_partial\":0,\"lcore_partial_max\":64,\"min_partial\":3,\"min_partial_max\":4294967294}}") == 0);
	check_all_there(mp);
	CHECK(strcmp(ask("/mempool_slab/set,told,depot,5"),
		"{\"/mempool_slab/set\":{\"name\":\"told\",\"depot\":5}}") == 0);
	CHECK(strstr(ask("/mempool_slab/set,told,lcore_partial,7"), "\"lcore_partial\":7") != NULL);
	CHECK(strcmp(ask("/mempool_slab/set,told,min_partial,4294967294"),
		"{\"/mempool_slab/set\":{\"name\":\"told\",\"min_partial\":4294967294}}") == 0);
	check_tunables_refused();
	CHECK(strstr(ask("/mempool_slab/tunables,told"), "\"depot\":5,\"depot_max\":20,"
		"\"lcore_partial\":7,\"lcore_partial_max\":64,\"min_partial\":4294967294,") != NULL);
	check_all_there(mp);
	rte_mempool_free(mp);
}

static void
share_with(struct rte_mempool *mp, pid_t pid)
{
	shared->word = 0;
	shared->got[0] = shared->got[1] = 0;
	await(START);
	work(mp, 1);
	/* The secondary lives and rests; what is in its lcore's cache is within reach. */
	await(SECONDARY_RESTS);
	check_all_there(mp);
	atomic_store(&shared->word, PRIMARY_DONE);
	end_secondary(pid);
	check_all_there(mp);
	printf("objects got: %llu by the primary, %llu by the secondary\n",
		(unsigned long long)shared->got[0], (unsigned long long)shared->got[1]);
	CHECK(shared->got[0] > 0 && shared->got[1] > 0);
}

/* It does not go on with another driver's functions: there are none, at address 0. */
static void
without_plugin(struct rte_mempool *mp, pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	check_all_there(mp);
}

static void
primary(const char *self, char *slab, char *other)
{
	struct rte_mempool *mp = make_pool("shared", "slab", NULL), *ring;

	share_with(mp, start_secondary(self, (char *const[]){ slab, other }, "share"));
	/* Where slab is the second driver, and not the first. */
	share_with(mp, start_secondary(self, (char *const[]){ other, slab }, "share"));
	without_plugin(mp, start_secondary(self, (char *const[]){ other, other }, "share"));
	/* Other plugins first: the number of the ring pool's driver is slab's in the secondary. */
	ring = make_pool("theirs", "ring_mp_mc", NULL);
	CHECK(ring->ops_index == 1);
	end_secondary(start_secondary(self, (char *const[]){ other, slab }, "refuse"));
	CHECK(rte_mempool_avail_count(ring) == OBJECTS);
	check_telemetry(ring);
	check_tunables();
	check_audit();
	rte_mempool_free(ring);
	rte_mempool_free(mp);
}

static void
share(void)
{
	struct rte_mempool *mp = rte_mempool_lookup("shared");

	CHECK(mp != NULL);
	atomic_store(&shared->word, START);
	work(mp, 2);
	atomic_store(&shared->word, SECONDARY_RESTS);
	await(PRIMARY_DONE);
}

/* One line that says what is wrong and what to do, and the pool stays as it is. */
static void
refuse(void)
{
	struct rte_mempool *mp = rte_mempool_lookup("theirs");
	char line[2000] = "";
	FILE *log = fmemopen(line, sizeof(line), "w");
	void *obj;

	CHECK(mp != NULL && strcmp(rte_mempool_ops_table.ops[mp->ops_index].name, "slab") == 0);
	rte_openlog_stream(log);
	CHECK(rte_mempool_get(mp, &obj) == -EINVAL);
	CHECK(rte_mempool_get(mp, &obj) == -EINVAL);
	CHECK(rte_mempool_avail_count(mp) == 0);
	rte_openlog_stream(NULL);
	fclose(log);
	printf("%s", line);
	CHECK(strstr(line, "theirs") != NULL && strstr(line, "same order") != NULL);
	CHECK(strstr(line, "order there: 0 slab, 1 ring_mp_mc") != NULL);
	CHECK(strstr(line, "here: 0 bucket, 1 slab,") != NULL);
	CHECK(strchr(line, '\n') == line + strlen(line) - 1);
}

int
main(int argc, char **argv)
{
	int eal_args = rte_eal_init(argc, argv);
	bool is_primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	const struct rte_memzone *mz;

	if (eal_args < 0)
		return 1;
	mz = is_primary ? rte_memzone_reserve("slab_mp_shared", sizeof(*shared), SOCKET_ID_ANY, 0) :
		rte_memzone_lookup("slab_mp_shared");
	CHECK(mz != NULL);
	shared = mz->addr;
	if (is_primary)
		primary(argv[0], argv[eal_args + 1], argv[eal_args + 2]);
	else if (strcmp(argv[eal_args + 1], "share") == 0)
		share();
	else
		refuse();
	rte_eal_cleanup();
	return 0;
}
