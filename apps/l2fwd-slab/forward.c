/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>

#include "l2fwd.h"

/* Where a buffer is marked as seen: buffers of a fresh pool are not. */
static int seen_offset;

int
l2fwd_forward_init(void)
{
	static const struct rte_mbuf_dynfield seen = {
		.name = "l2fwd_slab_seen",
		.size = sizeof(uint8_t),
		.align = sizeof(uint8_t),
	};

	seen_offset = rte_mbuf_dynfield_register(&seen);
	if (seen_offset < 0)
		return l2fwd_error("no room for a mark in buffers: %s", rte_strerror(rte_errno));
	return 0;
}

/* Counts the buffers of a frame that are new; returns how many bytes the chain holds. */
static inline uint32_t
look_at_buffers(struct l2fwd_worker *w, struct rte_mbuf *m)
{
	uint32_t bytes = 0;

	do {
		uint8_t *seen = RTE_MBUF_DYNFIELD(m, seen_offset, uint8_t *);

		w->distinct += !*seen;
		*seen = 1;
		bytes += m->data_len;
	} while ((m = m->next) != NULL);
	return bytes;
}

/* Whether a frame can go on; a port's promise of its length is not taken on trust. */
static inline bool
accept_frame(struct l2fwd_worker *w, struct l2fwd_port *port, struct rte_mbuf *m)
{
	uint32_t bytes = look_at_buffers(w, m);

	if (unlikely(m->pkt_len > L2FWD_PCAP_WRITES))
		port->rx.oversize++;
	if (unlikely(bytes != m->pkt_len) && !l2fwd_longframe_complete(port, m)) {
		port->rx.broken++;
		return false;
	}
	if (l2fwd_opt.keep_macs)
		return true;
	if (unlikely(m->data_len < RTE_ETHER_HDR_LEN)) {
		port->rx.runt++;
		return false;
	}
	memcpy(rte_pktmbuf_mtod(m, void *), &l2fwd_ports[port->peer].macs,
		sizeof(l2fwd_ports[port->peer].macs));
	return true;
}

uint16_t
l2fwd_receive(struct l2fwd_worker *w, struct l2fwd_port *port, struct rte_mbuf **pkts, uint16_t max)
{
	uint64_t distinct = w->distinct;
	uint16_t n, kept = 0;

	/* Some drivers ask the pool for no buffers then, and are refused. */
	if (max == 0)
		return 0;
	n = rte_eth_rx_burst(port->id, 0, pkts, max);
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		if (likely(accept_frame(w, port, pkts[i])))
			pkts[kept++] = pkts[i];
		else
			rte_pktmbuf_free(pkts[i]);
	}
	port->rx.received += n;
	w->packets += n;
	if (w->sampled < w->sample_max)
		w->sampled += n;
	else
		w->distinct = distinct;	/* the sample is complete */
	return kept;
}

/* A frame that the port refuses is dropped; those behind it get their own chance. */
void
l2fwd_send(struct l2fwd_port *port, struct rte_mbuf **pkts, uint16_t n)
{
	while (n > 0) {
		uint16_t sent = rte_eth_tx_burst(port->id, 0, pkts, n);

		port->tx.sent += sent;
		if (likely(sent == n))
			return;
		rte_pktmbuf_free(pkts[sent]);
		port->tx.refused++;
		pkts += sent + 1;
		n -= sent + 1;
	}
}

void
l2fwd_iteration_end(struct l2fwd_worker *w, uint64_t start, uint64_t before)
{
	uint64_t now;

	if (w->packets == before)
		return;
	now = rte_rdtsc();
	if (w->first == 0)
		w->first = start;
	w->last = now;
	if (!w->meter->on) {
		w->plain_packets += w->packets - before;
		w->plain_cycles += now - start;
	}
	w->meter->on = ++w->iterations % L2FWD_METERED == L2FWD_METERED_FIRST;
}

void
l2fwd_rtc_loop(struct l2fwd_worker *w)
{
	struct rte_mbuf *pkts[L2FWD_MAX_BURST];

	while (!l2fwd_stopped()) {
		uint64_t start = rte_rdtsc(), before = w->packets;

		for (uint16_t i = 0; i < w->nb_ports; i++) {
			struct l2fwd_port *port = &l2fwd_ports[w->ports[i]];
			uint16_t n = l2fwd_receive(w, port, pkts, l2fwd_burst(w));

			if (n > 0)
				l2fwd_send(&l2fwd_ports[port->peer], pkts, n);
		}
		l2fwd_iteration_end(w, start, before);
		if (w->main)
			l2fwd_control(start);
	}
}
