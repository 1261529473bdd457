/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Bursts and sizes from a capture. Of a capture only the times and lengths of its packets are
 * kept: which packets come together, and how many objects and lines each of them takes.
 */

#include <inttypes.h>
#include <stdlib.h>

#include <pcap.h>

#include "access.h"

/* An object holds so much of a packet, behind two lines about it, as a packet buffer does. */
#define ROOM 2048
#define ABOUT 2
#define MAX_OBJECTS (1 << 24)
#define MAX_PACKET 262144

static struct {
	uint32_t *bursts;	/* objects in each */
	uint8_t *lines;		/* written in each object */
	uint32_t nb_bursts, nb_objects, packets;
	uint64_t bytes;
	bool cut;		/* there was more */
} trace;

/* For one packet more. There are no more bursts than objects. */
static int
make_room(void)
{
	static uint32_t room;

	if (trace.nb_objects + MAX_PACKET / ROOM < room)
		return 0;
	room = room == 0 ? 1 << 16 : room * 2;
	trace.bursts = realloc(trace.bursts, room * sizeof(trace.bursts[0]));
	trace.lines = realloc(trace.lines, room);
	return trace.bursts != NULL && trace.lines != NULL ? 0 : -1;
}

static void
add_packet(uint32_t len, bool new_burst)
{
	uint32_t part;

	if (new_burst || trace.nb_bursts == 0)
		trace.bursts[trace.nb_bursts++] = 0;
	trace.packets++;
	trace.bytes += len;
	do {
		part = RTE_MIN(len, (uint32_t)ROOM);
		trace.lines[trace.nb_objects++] =
			(uint8_t)(ABOUT + (part + BENCH_LINE - 1) / BENCH_LINE);
		trace.bursts[trace.nb_bursts - 1]++;
		len -= part;
	} while (len > 0);
}

/* 1: a packet was added, 0: that is all, -1 after an error line. */
static int
read_packet(const char *file, pcap_t *pcap, uint64_t gap_ns)
{
	static uint64_t last;
	struct pcap_pkthdr *header;
	const u_char *data;
	uint64_t now;
	int ret = pcap_next_ex(pcap, &header, &data);

	if (ret == PCAP_ERROR_BREAK)
		return 0;
	if (ret != 1)
		return bench_error("--trace: %s: ends inside packet %" PRIu32 ", or that one is damaged: %s",
			file, trace.packets + 1, pcap_geterr(pcap));
	if (header->len > MAX_PACKET)
		return bench_error("--trace: %s: packet %" PRIu32 " says to be %u bytes long: damaged",
			file, trace.packets + 1, header->len);
	/* Modulo 2^64: whoever goes back in time goes far ahead. */
	now = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
	if (make_room() < 0)
		return bench_error("--trace: %s: no memory after %" PRIu32 " packets", file,
			trace.packets);
	add_packet(header->len, now - last > gap_ns);
	last = now;
	return 1;
}

int
bench_trace_load(const char *file, uint64_t gap_us)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *pcap;
	int ret = 1;

	pcap = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (pcap == NULL)
		return bench_error("--trace: %s cannot be read as a capture: %s", file, why);
	while (ret > 0 && trace.nb_objects < MAX_OBJECTS)
		ret = read_packet(file, pcap, gap_us * 1000);
	trace.cut = ret > 0;
	pcap_close(pcap);
	if (ret == 0 && trace.packets == 0)
		ret = bench_error("--trace: %s holds no packets", file);
	return ret < 0 ? -1 : 0;
}

void
bench_trace_describe(char *text, size_t size)
{
	snprintf(text, size, "%" PRIu32 " packets%s, %.0f bytes on average, in %" PRIu32
		" bursts of %.1f objects on average", trace.packets,
		trace.cut ? " at the capture's start" : "", (double)trace.bytes / trace.packets,
		trace.nb_bursts, (double)trace.nb_objects / trace.nb_bursts);
}

/* Objects of the next get: what is left of a burst, up to n. From the start again at the end. */
static __rte_always_inline unsigned int
next_get(struct bench_worker *w)
{
	unsigned int n;

	if (w->left == 0) {
		if (w->burst == trace.nb_bursts)
			w->burst = w->at = 0;
		w->left = trace.bursts[w->burst++];
	}
	n = RTE_MIN(w->left, w->n);
	w->left -= n;
	return n;
}

static __rte_always_inline uint64_t
replay(struct bench_worker *w, enum bench_access how, uint64_t objects)
{
	uint64_t done;
	unsigned int n;

	for (done = 0; done < objects; done += n) {
		n = next_get(w);
		if (unlikely(bench_get(w, how, w->objs, n) < 0)) {
			bench_crew_fail();
			return done;
		}
		if (how != BENCH_NONE)
			for (unsigned int i = 0; i < n; i++)
				bench_write(w->objs[i], trace.lines[w->at + i], done);
		bench_put(w, how, w->objs, n);
		w->at += n;
	}
	return done;
}

BENCH_LOOP(bench_loop_trace, replay)
