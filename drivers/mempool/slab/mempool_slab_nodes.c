/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "mempool_slab_private.h"

/*
 * Pools over several nodes. rte_mempool_populate_default() asks the driver how much memory the
 * objects need that are still to be placed, reserves that on mp->socket_id, and comes again if
 * objects are left. So a plan is carried out by naming one node after the other, and the memory of
 * its share alone.
 */

/* Of mempool_slab_populate_nodes(), while it runs. */
static __thread const char *nodes_asked;

static uint32_t
lcores_of(int socket)
{
	unsigned int lcore;
	uint32_t n = 0;

	RTE_LCORE_FOREACH(lcore)
		n += (int)rte_lcore_to_socket_id(lcore) == socket;
	return n;
}

static bool
known(unsigned long socket)
{
	unsigned int i;

	for (i = 0; i < rte_socket_count(); i++)
		if ((unsigned long)rte_socket_id_by_idx(i) == socket)
			return true;
	return false;
}

struct shares {
	uint32_t n;
	uint8_t socket[SLAB_MAX_NODES];
	uint32_t weight[SLAB_MAX_NODES];
};

static bool
add_share(struct shares *s, unsigned long socket, unsigned long weight)
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		if (s->socket[i] == socket)
			return false;
	if (s->n == SLAB_MAX_NODES || !known(socket) || weight == 0 || weight > UINT16_MAX)
		return false;
	s->socket[s->n] = (uint8_t)socket;
	s->weight[s->n++] = (uint32_t)weight;
	return true;
}

static void
share_all(struct shares *s)
{
	unsigned int i;
	int socket;

	for (i = 0; i < rte_socket_count(); i++) {
		socket = rte_socket_id_by_idx(i);
		add_share(s, (unsigned long)socket, lcores_of(socket));
	}
}

bool
mempool_slab_read_number(const char **text, unsigned long *value)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*value = strtoul(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* SOCKET[*SHARE][+SOCKET[*SHARE]]... */
static bool
read_shares(struct shares *s, const char *text)
{
	unsigned long socket, weight;

	do {
		if (!mempool_slab_read_number(&text, &socket))
			return false;
		weight = RTE_MAX(lcores_of((int)socket), 1U);
		if (*text == '*') {
			text++;
			if (!mempool_slab_read_number(&text, &weight))
				return false;
		}
		if (!add_share(s, socket, weight))
			return false;
	} while (*text++ == '+');
	return text[-1] == '\0';
}

/* Whole slabs to each, but for the last. */
static void
divide(uint32_t objects, const struct shares *s, struct mempool_slab_plan *plan)
{
	uint64_t sum = 0, so_far = 0;
	uint32_t i;

	for (i = 0; i < s->n; i++)
		sum += s->weight[i];
	plan->asked_for = true;
	plan->nodes = s->n;
	for (i = 0; i < s->n; i++) {
		so_far += s->weight[i];
		plan->socket[i] = s->socket[i];
		plan->until[i] = (uint32_t)(objects * so_far / sum) / SLAB_OBJECTS * SLAB_OBJECTS;
	}
	plan->until[s->n - 1] = objects;
}

int
mempool_slab_plan_read(const struct rte_mempool *mp, const char *text,
	struct mempool_slab_plan *plan)
{
	struct shares s = { .n = 0 };

	if (strcmp(text, "all") == 0) {
		share_all(&s);
	} else if (!read_shares(&s, text)) {
		SLAB_LOG(ERR, "pool %s: option nodes=%s: allowed: all, or NUMA sockets that EAL "
			"knows, each once, as 0+1, with shares from 1 to 65535 as 0*3+1*1",
			mp->name, text);
		return -EINVAL;
	}
	divide(mp->size, &s, plan);
	return 0;
}

uint8_t
mempool_slab_plan_node(const struct mempool_slab_plan *plan, int socket)
{
	uint32_t i;

	for (i = 0; i < plan->nodes; i++)
		if (plan->socket[i] == socket)
			return (uint8_t)i;
	return 0;
}

static struct mempool_slab_plan *
plan_of(const struct rte_mempool *mp)
{
	return &mempool_slab_user(mp)->plan;
}

ssize_t
mempool_slab_calc_mem_size(const struct rte_mempool *mp, uint32_t n, uint32_t pg_shift,
	size_t *min_chunk_size, size_t *align)
{
	struct mempool_slab_plan *plan = plan_of(mp);
	uint32_t placed = mp->size - n, i = 0;

	if (plan->asked_for) {
		while (plan->until[i] <= placed)
			i++;
		n = plan->until[i] - placed;
		plan->now = (int)i;
		/* rte_mempool has none of its pools in memory that cannot be written. */
		((struct rte_mempool *)(uintptr_t)mp)->socket_id = plan->socket[i];
	}
	return rte_mempool_op_calc_mem_size_default(mp, n, pg_shift, min_chunk_size, align);
}

uint32_t
mempool_slab_plan_limit(const struct rte_mempool *mp, int socket)
{
	struct mempool_slab_plan *plan = plan_of(mp);

	if (plan->now < 0)
		return UINT32_MAX;
	if (plan->now == (int)plan->nodes)
		return 0;
	if (plan->nodes > 1 && socket != plan->socket[plan->now]) {
		SLAB_LOG(ERR, "pool %s: option nodes=: memory of socket %d where that of socket %u "
			"is wanted; it works with rte_mempool_populate_default() or with memory "
			"that the application brings, and where EAL has hugepages", mp->name,
			socket, plan->socket[plan->now]);
		plan->now = (int)plan->nodes;
		return 0;
	}
	return plan->until[plan->now] - slab_pool_added(mp->pool_data);
}

void
mempool_slab_plan_end(struct rte_mempool *mp)
{
	struct mempool_slab_plan *plan = plan_of(mp);

	if (plan->now < 0)
		return;
	if (plan->now < (int)plan->nodes &&
			slab_pool_added(mp->pool_data) < plan->until[plan->now])
		SLAB_LOG(ERR, "pool %s: option nodes=: socket %u lacks memory for objects %u to %u; "
			"give EAL more there (--socket-mem), or it a smaller share", mp->name,
			plan->socket[plan->now], slab_pool_added(mp->pool_data),
			plan->until[plan->now] - 1);
	mp->socket_id = plan->asked;
	plan->now = -1;
}

const char *
mempool_slab_nodes_asked(void)
{
	return nodes_asked;
}

int
mempool_slab_populate_nodes(struct rte_mempool *mp, const char *nodes)
{
	int ret;

	if (!mempool_slab_chosen(mp))
		return -EINVAL;
	nodes_asked = nodes;
	ret = mp->pool_data != NULL ? -EEXIST : rte_mempool_populate_default(mp);
	nodes_asked = NULL;
	return ret;
}

struct rte_mempool *
mempool_slab_pktmbuf_pool_create(const char *name, unsigned int n, unsigned int cache_size,
	uint16_t priv_size, uint16_t data_room_size, const char *nodes)
{
	struct rte_mempool *mp;

	nodes_asked = nodes;
	mp = rte_pktmbuf_pool_create_by_ops(name, n, cache_size, priv_size, data_room_size,
		SOCKET_ID_ANY, "slab");
	nodes_asked = NULL;
	return mp;
}
