/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The --vdev arguments, for what EAL and drivers pass over in silence. EAL starts without a
 * device that could not be made. The net_pcap driver takes any link type for Ethernet and a
 * damaged record for the end of the capture, so captures are read once before EAL starts.
 */

#include <string.h>
#include <sys/stat.h>

#include <pcap.h>
#include <rte_kvargs.h>

#include "l2fwd.h"

static const char *vdevs[RTE_MAX_ETHPORTS];
static unsigned int nb_vdevs;

static int
check_link_type(const char *file, pcap_t *pcap)
{
	const char *name = pcap_datalink_val_to_name(pcap_datalink(pcap));

	if (pcap_datalink(pcap) == DLT_EN10MB)
		return 0;
	return l2fwd_error("%s: its link type is %s (%d), not Ethernet: such frames have no MAC "
		"addresses to forward by; capture on an Ethernet interface, or rewrite the frames "
		"with Ethernet headers", file, name ? name : "unknown", pcap_datalink(pcap));
}

static int
check_records(const char *file, pcap_t *pcap)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	uintmax_t records = 0;
	int ret;

	while ((ret = pcap_next_ex(pcap, &header, &data)) == 1)
		records++;
	if (ret == PCAP_ERROR_BREAK)
		return 0;
	return l2fwd_error("%s: ends inside record %ju, or that record is damaged (%s): "
		"keep the %ju whole ones with 'tcpdump -r %s -c %ju -w whole.pcap' and forward "
		"those", file, records + 1, pcap_geterr(pcap), records, file, records);
}

static int
check_capture(const char *file)
{
	char why[PCAP_ERRBUF_SIZE];
	struct stat st;
	pcap_t *pcap;
	int ret;

	/* What can be read only once is left to the port. */
	if (strcmp(file, "-") == 0 || (stat(file, &st) == 0 && !S_ISREG(st.st_mode)))
		return 0;
	pcap = pcap_open_offline(file, why);
	if (pcap == NULL)
		return l2fwd_error("capture %s cannot be opened: %s", file, why);
	ret = check_link_type(file, pcap);
	if (ret == 0)
		ret = check_records(file, pcap);
	pcap_close(pcap);
	return ret;
}

/* The port truncates what it writes to when it is made, before anything is read. */
static int
check_target(const char *in, const char *out)
{
	struct stat a, b;

	if (stat(in, &a) != 0 || stat(out, &b) != 0 || !S_ISREG(a.st_mode) ||
			a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return 0;
	return l2fwd_error("%s is both rx_pcap and tx_pcap and would be emptied before it is read: "
		"give another tx_pcap", in);
}

static int
check_port(const char *vdev)
{
	const char *args = strchr(vdev, ',');
	struct rte_kvargs *list;
	const char *in, *out;
	int ret = 0;

	if (args == NULL || (list = rte_kvargs_parse(args + 1, NULL)) == NULL)
		return 0;	/* EAL will complain */
	in = rte_kvargs_get(list, "rx_pcap");
	out = rte_kvargs_get(list, "tx_pcap");
	if (rte_kvargs_count(list, "rx_pcap") > 1)
		ret = l2fwd_error("%s: one capture to a port: give each its own --vdev", vdev);
	if (ret == 0 && in != NULL && out != NULL)
		ret = check_target(in, out);
	if (ret == 0 && in != NULL)
		ret = check_capture(in);
	rte_kvargs_free(list);
	return ret;
}

static bool
begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void
collect_vdevs(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *vdev = NULL;

		if (begins_with(argv[i], "--vdev="))
			vdev = argv[i] + strlen("--vdev=");
		else if (strcmp(argv[i], "--vdev") == 0 && i + 1 < argc)
			vdev = argv[++i];
		if (vdev != NULL && nb_vdevs < RTE_DIM(vdevs))
			vdevs[nb_vdevs++] = vdev;
	}
}

int
l2fwd_vdevs_check(int argc, char **argv)
{
	collect_vdevs(argc, argv);
	for (unsigned int i = 0; i < nb_vdevs; i++) {
		bool pcap = begins_with(vdevs[i], "net_pcap") || begins_with(vdevs[i], "eth_pcap");

		if (pcap && check_port(vdevs[i]) < 0)
			return -1;
	}
	return 0;
}

int
l2fwd_vdevs_made(void)
{
	for (unsigned int i = 0; i < nb_vdevs; i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t id;

		if (!begins_with(vdevs[i], "net_") && !begins_with(vdevs[i], "eth_"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(vdevs[i], ","), vdevs[i]);
		if (rte_eth_dev_get_port_by_name(name, &id) != 0)
			return l2fwd_error("--vdev %s made no port: the lines above say why",
				vdevs[i]);
	}
	return 0;
}
