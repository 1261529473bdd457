/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * DPDK 22.11's net_pcap driver carries the length of a long frame in 16 bits while it copies:
 * of a frame of 80,066 bytes the first 14,530 arrive, in a chain whose packet length still says
 * 80,066, and whoever reads on falls off its end. The rest is fetched here, from the capture.
 */

#include <string.h>

#include <pcap.h>
#include <rte_kvargs.h>

#include "l2fwd.h"

/* By port; opened when first needed, read forward only, as the port does. */
static pcap_t *captures[RTE_MAX_ETHPORTS];

static pcap_t *
open_capture(const struct l2fwd_port *port)
{
	struct rte_kvargs *args = rte_kvargs_parse(port->args, NULL);
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = NULL;

	if (args != NULL && rte_kvargs_get(args, "rx_pcap") != NULL)
		pcap = pcap_open_offline(rte_kvargs_get(args, "rx_pcap"), why);
	rte_kvargs_free(args);
	return pcap;
}

/* The next record as long as the frame that begins as the frame does; NULL: none is left. */
static const u_char *
find_record(pcap_t *pcap, const struct rte_mbuf *m)
{
	struct pcap_pkthdr *header;
	const u_char *data;

	while (pcap_next_ex(pcap, &header, &data) == 1)
		if (header->caplen == m->pkt_len &&
				memcmp(data, rte_pktmbuf_mtod(m, void *), m->data_len) == 0)
			return data;
	return NULL;
}

static struct rte_mbuf *
add_buffer(struct rte_mbuf *m, struct rte_mbuf *last)
{
	last->next = rte_pktmbuf_alloc(m->pool);
	m->nb_segs += last->next != NULL;
	return last->next;
}

/* After a failure the chain is as it was or longer, and can be freed. */
static bool
fill_up(struct rte_mbuf *m, const u_char *data)
{
	struct rte_mbuf *seg = m;
	uint32_t at = m->data_len;

	for (; seg->next != NULL; at += seg->data_len)
		seg = seg->next;
	while (at < m->pkt_len) {
		uint32_t n = RTE_MIN((uint32_t)rte_pktmbuf_tailroom(seg), m->pkt_len - at);

		memcpy(rte_pktmbuf_mtod_offset(seg, char *, seg->data_len), data + at, n);
		seg->data_len += n;
		at += n;
		if (at < m->pkt_len && (seg = add_buffer(m, seg)) == NULL)
			return false;
	}
	return at == m->pkt_len;
}

bool
l2fwd_longframe_complete(const struct l2fwd_port *port, struct rte_mbuf *m)
{
	const u_char *data;

	if (port->args == NULL || strcmp(port->driver, "net_pcap") != 0)
		return false;
	if (captures[port->id] == NULL)
		captures[port->id] = open_capture(port);
	if (captures[port->id] == NULL)
		return false;
	data = find_record(captures[port->id], m);
	return data != NULL && fill_up(m, data);
}

void
l2fwd_longframe_reset(void)
{
	for (unsigned int i = 0; i < RTE_DIM(captures); i++) {
		if (captures[i] != NULL)
			pcap_close(captures[i]);
		captures[i] = NULL;
	}
}
