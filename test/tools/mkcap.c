/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes an Ethernet capture: the same arguments always give the same file, byte for byte.
 *
 * Frames are UDP over IPv4 with valid checksums where the size leaves room for the headers,
 * else bare Ethernet of the local experimental type. Sizes are without the FCS, as in any
 * capture.
 */

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#define ETH_LEN 14
#define VLAN_LEN 4
#define IP_LEN 20
#define UDP_LEN 8
#define FRAME_MAX 65535
#define SIZES_MAX 64

/* Seconds since the epoch of the first frame: fixed, or no two files would be equal. */
#define TIME_BASE 1000000000
#define TIME_STEP_US 10

struct options {
	unsigned long count;
	unsigned long flows;
	unsigned long vlan; /* 0: untagged */
	unsigned long seed;
	unsigned long snaplen;
	unsigned long sizes[SIZES_MAX];
	unsigned int n_sizes;
	const char *file;
};

struct frame {
	uint8_t data[FRAME_MAX];
	size_t len;
};

static const char usage[] =
	"usage: mkcap [--count N] [--sizes S[,S...]] [--flows N] [--vlan ID] [--seed N]\n"
	"             [--snaplen BYTES] FILE\n"
	"  --count    frames (1000)\n"
	"  --sizes    each frame's size is drawn from this list, 14 to 65535 bytes, 64 entries at\n"
	"             most (seven of 64, four of 570 and one of 1518: a simple IMIX)\n"
	"  --flows    distinct pairs of MACs, addresses and ports, 1 to 65536 (16)\n"
	"  --vlan     tag every frame with this VLAN, 1 to 4094 (none)\n"
	"  --seed     of the generator that draws sizes, flows and payload (1)\n"
	"  --snaplen  keep at most so many bytes of a frame, as a cut capture does (65535)\n";

static void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void
die(const char *fmt, ...)
{
	va_list ap;

	fputs("mkcap: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/* Steele, Lea and Flood's SplitMix64 (2014): one word of state, equal on every machine. */
static uint64_t
random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint8_t *
put16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

static uint8_t *
put32(uint8_t *p, uint32_t v)
{
	return put16(put16(p, v >> 16), v & 0xffff);
}

/* Locally administered addresses; the group bit stays clear. */
static uint8_t *
put_mac(uint8_t *p, unsigned int side, unsigned int flow)
{
	return put16(put32(p, 0x02000000u | side), flow);
}

/* The Internet checksum's sum, not yet folded; an odd last byte counts as a high byte. */
static uint64_t
sum16(const uint8_t *p, size_t len, uint64_t sum)
{
	size_t i;

	for (i = 0; i + 1 < len; i += 2)
		sum += (uint64_t)p[i] << 8 | p[i + 1];
	if (len & 1)
		sum += (uint64_t)p[len - 1] << 8;
	return sum;
}

static unsigned int
sum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~(unsigned int)sum & 0xffff;
}

/* Addresses of 198.18.0.0/15, which RFC 2544 sets aside for benchmarks. */
static void
put_ip(uint8_t *ip, size_t len, unsigned int flow, unsigned long number)
{
	uint8_t *p = ip;

	p = put16(p, 0x4500);
	p = put16(p, (unsigned int)len);
	p = put32(p, (uint32_t)(number & 0xffff) << 16);
	p = put32(p, 64u << 24 | 17u << 16);
	p = put32(p, 0xc6120000u | flow);
	put32(p, 0xc6130000u | flow);
	put16(ip + 10, sum_fold(sum16(ip, IP_LEN, 0)));
}

/* Wants the addresses in the IP header in front and the payload behind. */
static void
put_udp(uint8_t *udp, size_t len, unsigned int flow)
{
	unsigned int sum;

	put16(udp, 1024 + flow % 60000);
	put16(udp + 2, 9);
	put16(udp + 4, (unsigned int)len);
	put16(udp + 6, 0);
	sum = sum_fold(sum16(udp - 8, len + 8, 17 + len));
	put16(udp + 6, sum != 0 ? sum : 0xffff);
}

static void
put_payload(uint8_t *p, uint8_t *end, uint64_t *rng)
{
	uint64_t word;
	size_t n;

	for (; p < end; p += n) {
		word = random_next(rng);
		n = (size_t)(end - p) < sizeof(word) ? (size_t)(end - p) : sizeof(word);
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)(word >> (8 * i));
	}
}

static uint8_t *
put_ethernet(struct frame *f, unsigned int flow, unsigned long vlan, unsigned int type)
{
	uint8_t *p = put_mac(f->data, 1, flow);

	p = put_mac(p, 0, flow);
	if (vlan != 0)
		p = put16(put16(p, 0x8100), (unsigned int)vlan);
	return put16(p, type);
}

static void
make_frame(struct frame *f, const struct options *opt, unsigned long number, uint64_t *rng)
{
	size_t l2 = ETH_LEN + (opt->vlan != 0 ? VLAN_LEN : 0);
	unsigned int flow;
	uint8_t *l3;

	f->len = opt->sizes[random_next(rng) % opt->n_sizes];
	flow = (unsigned int)(random_next(rng) % opt->flows);
	if (f->len < l2 + IP_LEN + UDP_LEN) {
		put_payload(put_ethernet(f, flow, opt->vlan, 0x88b5), f->data + f->len, rng);
		return;
	}
	l3 = put_ethernet(f, flow, opt->vlan, 0x0800);
	put_payload(l3 + IP_LEN + UDP_LEN, f->data + f->len, rng);
	put_ip(l3, f->len - l2, flow, number);
	put_udp(l3 + IP_LEN, f->len - l2 - IP_LEN, flow);
}

static void
dump_frame(pcap_dumper_t *out, const struct frame *f, const struct options *opt, unsigned long n)
{
	uint64_t us = (uint64_t)n * TIME_STEP_US;
	struct pcap_pkthdr hdr = {
		.ts.tv_sec = (time_t)(TIME_BASE + us / 1000000),
		.ts.tv_usec = (suseconds_t)(us % 1000000),
		.caplen = (uint32_t)(f->len < opt->snaplen ? f->len : opt->snaplen),
		.len = (uint32_t)f->len,
	};

	pcap_dump((u_char *)out, &hdr, f->data);
}

static void
make_capture(const struct options *opt)
{
	static struct frame frame;
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, (int)opt->snaplen);
	pcap_dumper_t *out = pcap != NULL ? pcap_dump_open(pcap, opt->file) : NULL;
	uint64_t rng = opt->seed;

	if (out == NULL)
		die("%s", pcap != NULL ? pcap_geterr(pcap) : "out of memory");
	for (unsigned long i = 0; i < opt->count; i++) {
		make_frame(&frame, opt, i, &rng);
		dump_frame(out, &frame, opt, i);
	}
	/* libpcap does not say when a write failed; stdio does. */
	if (pcap_dump_flush(out) != 0 || ferror(pcap_dump_file(out)))
		die("%s: %s", opt->file, strerror(errno));
	pcap_dump_close(out);
	pcap_close(pcap);
}

static unsigned long
parse_number(const char *what, const char *s, unsigned long min, unsigned long max)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0' || *s == '-' || v < min || v > max)
		die("%s: '%s' is not a number from %lu to %lu", what, s, min, max);
	return v;
}

static void
parse_sizes(struct options *opt, char *list)
{
	char *save;

	opt->n_sizes = 0;
	for (char *s = strtok_r(list, ",", &save); s != NULL; s = strtok_r(NULL, ",", &save)) {
		if (opt->n_sizes == SIZES_MAX)
			die("--sizes: more than %d entries", SIZES_MAX);
		opt->sizes[opt->n_sizes++] = parse_number("--sizes", s, ETH_LEN, FRAME_MAX);
	}
	if (opt->n_sizes == 0)
		die("--sizes: the list is empty");
}

static void
parse_option(struct options *opt, int key, char *arg)
{
	switch (key) {
	case 'c':
		opt->count = parse_number("--count", arg, 0, UINT32_MAX);
		break;
	case 's':
		parse_sizes(opt, arg);
		break;
	case 'f':
		opt->flows = parse_number("--flows", arg, 1, 65536);
		break;
	case 'v':
		opt->vlan = parse_number("--vlan", arg, 1, 4094);
		break;
	case 'r':
		opt->seed = parse_number("--seed", arg, 0, UINT64_MAX);
		break;
	case 'l':
		opt->snaplen = parse_number("--snaplen", arg, 1, FRAME_MAX);
		break;
	case 'h':
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	default:
		exit(EXIT_FAILURE);
	}
}

static void
parse_arguments(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{"count", required_argument, NULL, 'c'},
		{"sizes", required_argument, NULL, 's'},
		{"flows", required_argument, NULL, 'f'},
		{"vlan", required_argument, NULL, 'v'},
		{"seed", required_argument, NULL, 'r'},
		{"snaplen", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int key;

	while ((key = getopt_long(argc, argv, "", longs, NULL)) != -1)
		parse_option(opt, key, optarg);
	if (argc - optind != 1)
		die("exactly one FILE is wanted (--help lists the options)");
	opt->file = argv[optind];
	for (unsigned int i = 0; opt->vlan != 0 && i < opt->n_sizes; i++)
		if (opt->sizes[i] < ETH_LEN + VLAN_LEN)
			die("--sizes: %lu bytes leave no room for a VLAN tag", opt->sizes[i]);
}

int
main(int argc, char **argv)
{
	struct options opt = {
		.count = 1000,
		.flows = 16,
		.seed = 1,
		.snaplen = FRAME_MAX,
		.sizes = {64, 64, 64, 64, 64, 64, 64, 570, 570, 570, 570, 1518},
		.n_sizes = 12,
	};

	parse_arguments(&opt, argc, argv);
	make_capture(&opt);
	return EXIT_SUCCESS;
}
