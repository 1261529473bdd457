/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Captures, as l2fwd-slab looks at them before it starts, as it completes long frames from them, and as
 * slab-bench replays them: what is no capture, or damaged, is said in one line.
 *
 * The applications' own files, with what they keep for good within reach.
 */

#include <stdarg.h>
#include <sys/mman.h>

#include "fuzz_eal.h"
#include "../../apps/l2fwd-slab/vdev.c"
#include "../../apps/l2fwd-slab/longframe.c"
/* What replays a trace is not called here, so what it calls need not be there. */
#pragma weak bench_timed_get
#pragma weak bench_timed_put
#pragma weak bench_metered_get
#pragma weak bench_metered_put
#pragma weak bench_counted_get
#pragma weak bench_counted_put
#include "../../apps/slab-bench/trace.c"

static unsigned int lines;
static int file;
static char path[64];
static struct rte_mempool *mbufs;

/* A line that is not for anybody; it has to name the file. */
static int
complain(const char *format, va_list args)
{
	char text[4096];

	vsnprintf(text, sizeof(text), format, args);
	MUST(strstr(text, path) != NULL);
	lines++;
	return -1;
}

int
l2fwd_error(const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = complain(format, args);
	va_end(args);
	return ret;
}

int
bench_error(const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = complain(format, args);
	va_end(args);
	return ret;
}

void
bench_crew_fail(void)
{
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_start_eal("--no-telemetry");
	mbufs = rte_pktmbuf_pool_create_by_ops("mbufs", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY, "slab");
	file = memfd_create("capture", 0);
	MUST(mbufs != NULL && file >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return 0;
}

static void
check_before_start(void)
{
	char option[128], program[] = "l2fwd-slab";
	char *argv[] = { program, option };
	int ret;

	snprintf(option, sizeof(option), "--vdev=net_pcap0,rx_pcap=%s", path);
	nb_vdevs = 0;
	lines = 0;
	ret = l2fwd_vdevs_check(2, argv);
	MUST(ret == 0 ? lines == 0 : ret == -1 && lines == 1);
}

static void
check_trace(void)
{
	uint32_t sum = 0, i;
	int ret;

	trace.nb_bursts = trace.nb_objects = trace.packets = 0;
	trace.bytes = 0;
	lines = 0;
	ret = bench_trace_load(path, 50);
	MUST(ret == 0 ? lines == 0 : ret == -1 && lines == 1);
	for (i = 0; i < trace.nb_bursts; i++)
		sum += trace.bursts[i];
	MUST(sum == trace.nb_objects && trace.nb_bursts <= trace.packets);
	MUST(ret != 0 || trace.packets != 0);
}

/* The first record, as far as DPDK's port delivers it: a buffer whose packet says to be longer. */
static struct rte_mbuf *
receive(const struct pcap_pkthdr *header, const u_char *data)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mbufs);

	MUST(m != NULL);
	m->data_len = RTE_MIN(header->caplen & UINT16_MAX, (uint32_t)rte_pktmbuf_tailroom(m));
	m->pkt_len = header->caplen;
	memcpy(rte_pktmbuf_mtod(m, char *), data, m->data_len);
	return m;
}

static void
check_long_frame(void)
{
	struct l2fwd_port port = { .id = 0, .driver = "net_pcap" };
	char args[128], why[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *header;
	pcap_t *pcap = pcap_open_offline(path, why);
	static char frame[MAX_PACKET], copy[MAX_PACKET];
	struct rte_mbuf *m;
	const char *whole;
	const u_char *data;

	if (pcap == NULL)
		return;
	snprintf(args, sizeof(args), "rx_pcap=%s", path);
	port.args = args;
	if (pcap_next_ex(pcap, &header, &data) == 1 && header->caplen <= sizeof(frame)) {
		memcpy(frame, data, header->caplen);
		m = receive(header, data);
		MUST(l2fwd_longframe_complete(&port, m));
		whole = rte_pktmbuf_read(m, 0, header->caplen, copy);
		MUST(whole != NULL && memcmp(frame, whole, header->caplen) == 0);
		rte_pktmbuf_free(m);
	}
	pcap_close(pcap);
	l2fwd_longframe_reset();
	MUST(rte_mempool_avail_count(mbufs) == mbufs->size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MUST(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
	check_before_start();
	check_trace();
	check_long_frame();
	return 0;
}
