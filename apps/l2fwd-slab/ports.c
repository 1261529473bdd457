/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "l2fwd.h"

#define LINK_WAIT_MS 3000

struct l2fwd_port l2fwd_ports[RTE_MAX_ETHPORTS];

unsigned int
l2fwd_ports_count(void)
{
	const struct l2fwd_port *p;
	unsigned int n = 0;

	L2FWD_FOREACH_PORT(p)
		n++;
	return n;
}

int
l2fwd_ports_socket(void)
{
	const struct l2fwd_port *p;

	L2FWD_FOREACH_PORT(p) {
		int socket = rte_eth_dev_socket_id(p->id);

		return socket < 0 ? (int)rte_socket_id() : socket;
	}
	return rte_socket_id();
}

bool
l2fwd_port_is_ring(const struct l2fwd_port *p)
{
	return strcmp(p->driver, "net_ring") == 0;
}

static int
bring_back(struct l2fwd_port *p)
{
	uint16_t id;

	if (rte_eal_hotplug_add("vdev", p->name, p->args) != 0 ||
			rte_eth_dev_get_port_by_name(p->name, &id) != 0)
		return l2fwd_error("port %u: %s,%s cannot be made again for the next run",
			p->id, p->name, p->args);
	p->removed = false;
	if (id != p->id)
		return l2fwd_error("port %u: %s came back as port %u", p->id, p->name, id);
	return 0;
}

/* Frames of any length pass: in chains of buffers where the port can. */
static void
choose_offloads(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	conf->txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf->rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	if (conf->rxmode.offloads == 0)
		return;
	if (info->max_mtu != UINT16_MAX)
		conf->rxmode.mtu = info->max_mtu;
	else if (info->max_rx_pktlen > overhead)
		conf->rxmode.mtu = RTE_MIN(info->max_rx_pktlen - overhead, (uint32_t)UINT16_MAX);
}

static int
set_up_port(uint16_t id, struct rte_mempool *mp)
{
	uint16_t nb_rx = L2FWD_DESC, nb_tx = L2FWD_DESC;
	int socket = rte_eth_dev_socket_id(id), ret;
	struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;

	ret = rte_eth_dev_info_get(id, &info);
	if (ret != 0)
		return ret;
	choose_offloads(&info, &conf);
	info.default_rxconf.offloads = conf.rxmode.offloads;
	info.default_txconf.offloads = conf.txmode.offloads;
	ret = rte_eth_dev_configure(id, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(id, &nb_rx, &nb_tx);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(id, 0, nb_rx, socket, &info.default_rxconf, mp);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(id, 0, nb_tx, socket, &info.default_txconf);
	return ret;
}

static void
choose_macs(struct l2fwd_port *p)
{
	p->macs.dst = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 0, p->id } };
	rte_eth_macaddr_get(p->id, &p->macs.src);
}

static int
start_port(struct l2fwd_port *p, struct rte_mempool *mp)
{
	int ret = set_up_port(p->id, mp);

	/* Nobody here asks what is in a frame. */
	if (ret == 0)
		rte_eth_dev_set_ptypes(p->id, RTE_PTYPE_UNKNOWN, NULL, 0);
	if (ret == 0)
		ret = rte_eth_dev_start(p->id);
	if (ret != 0)
		return l2fwd_error("port %u (%s,%s) could not be started: %s", p->id, p->name,
			p->args != NULL ? p->args : "", rte_strerror(-ret));
	/* Not every port can, and not every port needs to. */
	p->made_promiscuous = rte_eth_promiscuous_get(p->id) == 0 &&
		rte_eth_promiscuous_enable(p->id) == 0;
	choose_macs(p);
	return 0;
}

static bool
link_is_up(uint16_t id, struct rte_eth_link *link)
{
	return rte_eth_link_get_nowait(id, link) == 0 && link->link_status == RTE_ETH_LINK_UP;
}

static void
show_port(const struct l2fwd_port *p, const struct rte_eth_link *link)
{
	printf("Port %u: %s (%s), " RTE_ETHER_ADDR_PRT_FMT ", to port %u, link %s", p->id, p->name,
		p->driver, RTE_ETHER_ADDR_BYTES(&p->macs.src), p->peer,
		link->link_status == RTE_ETH_LINK_UP ? "up" : "down");
	if (link->link_status == RTE_ETH_LINK_UP && link->link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		printf(", %u Mbit/s", link->link_speed);
	putchar('\n');
}

/* Ports that stay down are started all the same, as a cable may be plugged in later. */
static void
await_links(void)
{
	static bool shown;
	const struct l2fwd_port *p;
	unsigned int waited = 0;

	L2FWD_FOREACH_PORT(p) {
		struct rte_eth_link link = { 0 };

		for (; !link_is_up(p->id, &link) && waited < LINK_WAIT_MS && !l2fwd_interrupted();
				waited += 50)
			rte_delay_us_sleep(50000);
		if (!shown)
			show_port(p, &link);
	}
	shown = true;
	fflush(stdout);
}

int
l2fwd_ports_start(struct rte_mempool *mp)
{
	struct l2fwd_port *p;

	/* All of them first, in order: a vdev takes the lowest port that is free. */
	L2FWD_FOREACH_PORT(p)
		if (p->removed && bring_back(p) < 0)
			return -1;
	L2FWD_FOREACH_PORT(p)
		if (start_port(p, mp) < 0)
			return -1;
	await_links();
	return 0;
}

/* net_ring keeps the frames in its ring when it stops: buffers of a pool that is about to go. */
static void
empty_ring(struct l2fwd_port *p)
{
	struct rte_mbuf *pkts[L2FWD_MAX_BURST];
	uint16_t n;

	if (!l2fwd_port_is_ring(p))
		return;
	while ((n = rte_eth_rx_burst(p->id, 0, pkts, RTE_DIM(pkts))) > 0) {
		p->rx.received += n;
		p->rx.left += n;
		rte_pktmbuf_free_bulk(pkts, n);
	}
}

struct rte_eth_stats
l2fwd_port_counters(const struct l2fwd_port *p)
{
	struct rte_eth_stats sum = p->earlier, now;

	if (p->removed || rte_eth_stats_get(p->id, &now) != 0)
		return sum;
	sum.imissed += now.imissed;
	sum.ierrors += now.ierrors;
	sum.oerrors += now.oerrors;
	sum.rx_nombuf += now.rx_nombuf;
	return sum;
}

void
l2fwd_ports_stop(void)
{
	struct l2fwd_port *p;

	L2FWD_FOREACH_PORT(p) {
		if (p->removed)
			continue;
		empty_ring(p);
		p->earlier = l2fwd_port_counters(p);
		rte_eth_stats_reset(p->id);
		/* An interface of the kernel would stay so. */
		if (p->made_promiscuous)
			rte_eth_promiscuous_disable(p->id);
		rte_eth_dev_stop(p->id);
	}
	l2fwd_longframe_reset();
	/* Many virtual devices keep buffers, or a position in a capture, until they go. */
	L2FWD_FOREACH_PORT(p)
		if (p->args != NULL && !p->removed)
			p->removed = rte_eal_hotplug_remove("vdev", p->name) == 0;
}

void
l2fwd_ports_close(void)
{
	struct l2fwd_port *p;

	L2FWD_FOREACH_PORT(p) {
		if (!p->removed)
			rte_eth_dev_close(p->id);
		free(p->args);
	}
}
