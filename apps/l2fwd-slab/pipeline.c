/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "l2fwd.h"

#define RING_SLOTS 1024

int
l2fwd_pipeline_connect(struct l2fwd_worker *rx, struct l2fwd_worker *tx, unsigned int lcore)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "l2fwd_lcore_%u", lcore);
	rx->ring = rte_ring_create(name, RING_SLOTS, l2fwd_ports_socket(),
		RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (rx->ring == NULL)
		return l2fwd_error("no ring from lcore %u: %s", lcore, rte_strerror(rte_errno));
	rx->loop = l2fwd_pipeline_rx_loop;
	tx->loop = l2fwd_pipeline_tx_loop;
	tx->ring = rx->ring;
	tx->receiver = rx;
	return 0;
}

/* Takes no more from the port than the ring has room for, so that nothing is lost between. */
static void
receive_into_ring(struct l2fwd_worker *w, struct l2fwd_port *port)
{
	struct rte_mbuf *pkts[L2FWD_MAX_BURST];
	uint16_t max = RTE_MIN((unsigned int)l2fwd_burst(w), rte_ring_free_count(w->ring));
	uint16_t n = l2fwd_receive(w, port, pkts, max);

	for (uint16_t i = 0; i < n; i++)
		pkts[i]->port = port->peer;
	rte_ring_sp_enqueue_bulk(w->ring, (void **)pkts, n, NULL);
}

void
l2fwd_pipeline_rx_loop(struct l2fwd_worker *w)
{
	while (!l2fwd_stopped()) {
		uint64_t start = rte_rdtsc(), before = w->packets;

		for (uint16_t i = 0; i < w->nb_ports; i++)
			receive_into_ring(w, &l2fwd_ports[w->ports[i]]);
		l2fwd_iteration_end(w, start, before);
		if (w->main)
			l2fwd_control(start);
	}
	/* Pairs with the sender's acquire: what it then finds in the ring is all. */
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
}

/* A burst from the ring may be for several ports, one after the other. */
static void
send_by_port(struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t from = 0;

	for (uint16_t i = 1; i <= n; i++) {
		if (i < n && pkts[i]->port == pkts[from]->port)
			continue;
		l2fwd_send(&l2fwd_ports[pkts[from]->port], pkts + from, i - from);
		from = i;
	}
}

void
l2fwd_pipeline_tx_loop(struct l2fwd_worker *w)
{
	struct rte_mbuf *pkts[L2FWD_MAX_BURST];
	uint16_t n;
	bool done;

	do {
		uint64_t start = rte_rdtsc(), before = w->packets;

		done = __atomic_load_n(&w->receiver->done, __ATOMIC_ACQUIRE);
		n = rte_ring_sc_dequeue_burst(w->ring, (void **)pkts, l2fwd_opt.burst, NULL);
		send_by_port(pkts, n);
		w->packets += n;
		l2fwd_iteration_end(w, start, before);
		if (w->main)
			l2fwd_control(start);
	} while (n > 0 || !done);
}
