/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The slab driver tells what it counted by telemetry only. So this process asks itself, through
 * its own socket.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_eal.h>

#include "bench.h"

#define ANSWER 16384
/* Sockets of processes that run at once in one directory. */
#define MAX_SOCKETS 16

static bool
read_number(const char *answer, const char *key, uint64_t *value)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(answer, quoted);
	if (at != NULL)
		*value = strtoull(at + strlen(quoted), NULL, 10);
	return at != NULL;
}

static bool
receive(int fd, char answer[ANSWER])
{
	ssize_t len = read(fd, answer, ANSWER - 1);

	if (len > 0)
		answer[len] = '\0';
	return len > 0;
}

/* A process greets with its number: is it this one? */
static bool
is_own(int fd)
{
	char answer[ANSWER];
	uint64_t pid;

	return receive(fd, answer) && read_number(answer, "pid", &pid) && (pid_t)pid == getpid();
}

static int
try_socket(unsigned int i)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), len;

	len = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	if (i > 0 && len > 0 && (size_t)len < sizeof(addr.sun_path))
		snprintf(addr.sun_path + len, sizeof(addr.sun_path) - len, ":%u", i);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 && is_own(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
open_socket(void)
{
	int fd = -1;

	for (unsigned int i = 0; fd < 0 && i < MAX_SOCKETS; i++)
		fd = try_socket(i);
	if (fd < 0)
		bench_error("no counts of depot and slab visits: EAL's telemetry is off, "
			"or its socket is out of reach");
	return fd;
}

int
bench_visits_read(const struct rte_mempool *mp, struct bench_visits *visits)
{
	static int fd = -2;	/* not tried yet */
	uint64_t depot_gets, depot_puts, slab_gets, slab_puts;
	char text[ANSWER];

	if (fd == -2)
		fd = open_socket();
	if (fd < 0)
		return -1;
	snprintf(text, sizeof(text), "/mempool_slab/stats,%s", mp->name);
	if (write(fd, text, strlen(text)) < 0 || !receive(fd, text))
		return -1;
	if (!read_number(text, "depot_gets", &depot_gets) ||
			!read_number(text, "depot_puts", &depot_puts) ||
			!read_number(text, "slab_gets", &slab_gets) ||
			!read_number(text, "slab_puts", &slab_puts))
		return -1;
	*visits = (struct bench_visits){ depot_gets + depot_puts, slab_gets + slab_puts };
	return 0;
}
