/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Questions to the commands of this driver, with any parameters, on the telemetry socket of this very
 * process: each answer is JSON, and about this command.
 */

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <jansson.h>
#include <rte_mempool.h>

#include "fuzz_eal.h"

#define MOST 900 /* DPDK cuts what is longer */

static const char *const commands[] = { "list", "info", "stats", "audit", "reclaim", "tunables", "set" };
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int client;

static void
make_pool(const char *name, char *options)
{
	struct rte_mempool *mp = rte_mempool_create_empty(name, 500, 64, 0, 0, SOCKET_ID_ANY, 0);
	void *objs[10];

	MUST(mp != NULL && rte_mempool_set_ops_byname(mp, "slab", options) == 0);
	MUST(rte_mempool_populate_default(mp) == 500);
	MUST(rte_mempool_get_bulk(mp, objs, 10) == 0);
}

static void
attach(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char hello[1024];

	client = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	MUST(client >= 0 && connect(client, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	MUST(read(client, hello, sizeof(hello)) > 0);
}

/* As often as a fuzzer starts, little stays behind. */
static void
clean_up(void)
{
	close(client);
	rte_eal_cleanup();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char checks[] = "check=on,track=on,stats=on", depot[] = "depot=5,magazine=16";

	(void)argc;
	(void)argv;
	fuzz_start_eal("");
	make_pool("plain", NULL);
	make_pool("checked", checks);
	make_pool("a,b", depot);
	make_pool("q\"\\u", NULL);
	make_pool("\xc3\xa9", NULL);
	attach();
	atexit(clean_up);
	return 0;
}

static void
check_answer(const char *question, size_t command_length, const char *answer, size_t size)
{
	json_error_t why;
	json_t *root = json_loadb(answer, size, 0, &why);
	char name[64];

	if (root == NULL)
		fprintf(stderr, "%s: %.*s: %s\n", question, (int)size, answer, why.text);
	MUST(root != NULL);
	snprintf(name, sizeof(name), "%.*s", (int)command_length, question);
	MUST(json_object_size(root) == 1 && json_object_get(root, name) != NULL);
	json_decref(root);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char answer[1 << 16];
	char question[MOST + 64];
	size_t length, command;
	ssize_t n;

	if (size == 0)
		return 0;
	command = (size_t)snprintf(question, sizeof(question), "/mempool_slab/%s",
		commands[data[0] % COMMANDS]);
	size = size - 1 < MOST ? size - 1 : MOST;
	question[command] = ',';
	memcpy(question + command + 1, data + 1, size);
	length = command + (size == 0 ? 0 : 1 + size);
	MUST(write(client, question, length) == (ssize_t)length);
	/* The fuzzer's clock interrupts. */
	do {
		n = read(client, answer, sizeof(answer));
	} while (n < 0 && errno == EINTR);
	MUST(n > 0);
	question[length] = '\0';
	check_answer(question, command, answer, (size_t)n);
	return 0;
}
