/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Compares two captures frame by frame, byte by byte. Times are not compared, nor are the
 * bytes that a capture never had: what counts is what a forwarder was given and what it sent.
 *
 * Exit status: 0 equal, 1 different, 2 unusable.
 */

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#define EXIT_EQUAL 0
#define EXIT_DIFFERENT 1
#define EXIT_UNUSABLE 2

#define MACS_LEN 12

struct capture {
	const char *name;
	pcap_t *pcap;
	struct pcap_pkthdr *hdr;
	const u_char *data;
};

struct options {
	/* First byte compared. */
	uint32_t skip;
	/* Bytes beyond are taken as not captured. */
	uint32_t limit;
};

static const char usage[] =
	"usage: capcmp [--ignore-macs] [--limit BYTES] A B\n"
	"  --ignore-macs  leave out the first 12 bytes of each frame\n"
	"  --limit        take what lies beyond so many bytes of a frame as not captured\n";

static void
capture_open(struct capture *cap, const char *name)
{
	char err[PCAP_ERRBUF_SIZE];

	cap->name = name;
	cap->pcap = pcap_open_offline(name, err);
	if (cap->pcap == NULL) {
		fprintf(stderr, "capcmp: %s: %s\n", name, err);
		exit(EXIT_UNUSABLE);
	}
}

/* 1 with a frame, 0 at the end. */
static int
capture_next(struct capture *cap)
{
	int ret = pcap_next_ex(cap->pcap, &cap->hdr, &cap->data);

	if (ret == PCAP_ERROR) {
		fprintf(stderr, "capcmp: %s: %s\n", cap->name, pcap_geterr(cap->pcap));
		exit(EXIT_UNUSABLE);
	}
	return ret == 1;
}

static uint32_t
capture_len(const struct capture *cap, const struct options *opt)
{
	return cap->hdr->caplen < opt->limit ? cap->hdr->caplen : opt->limit;
}

static void
print_bytes(const struct capture *cap, uint32_t from, uint32_t len)
{
	printf("  %s:", cap->name);
	for (uint32_t i = from; i < len && i < from + 16; i++)
		printf(" %02x", cap->data[i]);
	putchar('\n');
}

static int
frame_compare(const struct capture *a, const struct capture *b, const struct options *opt,
	uint64_t number)
{
	uint32_t len = capture_len(a, opt);

	if (len != capture_len(b, opt)) {
		printf("frame %ju: %u bytes in %s, %u in %s\n", (uintmax_t)number, len, a->name,
			capture_len(b, opt), b->name);
		return EXIT_DIFFERENT;
	}
	for (uint32_t i = opt->skip; i < len; i++) {
		if (a->data[i] == b->data[i])
			continue;
		printf("frame %ju of %u bytes differs from byte %u on\n", (uintmax_t)number, len,
			i);
		print_bytes(a, i, len);
		print_bytes(b, i, len);
		return EXIT_DIFFERENT;
	}
	return EXIT_EQUAL;
}

static int
compare_links(const struct capture *a, const struct capture *b)
{
	int la = pcap_datalink(a->pcap), lb = pcap_datalink(b->pcap);

	if (la == lb)
		return EXIT_EQUAL;
	printf("link type %d in %s, %d in %s\n", la, a->name, lb, b->name);
	return EXIT_DIFFERENT;
}

static int
compare(struct capture *a, struct capture *b, const struct options *opt)
{
	uint64_t number = 0;
	int more_a, more_b;

	for (;;) {
		more_a = capture_next(a);
		more_b = capture_next(b);
		if (!more_a || !more_b)
			break;
		if (frame_compare(a, b, opt, ++number) != EXIT_EQUAL)
			return EXIT_DIFFERENT;
	}
	if (more_a != more_b) {
		printf("%s ends after %ju frames, %s goes on\n", more_a ? b->name : a->name,
			(uintmax_t)number, more_a ? a->name : b->name);
		return EXIT_DIFFERENT;
	}
	printf("%ju frames equal\n", (uintmax_t)number);
	return EXIT_EQUAL;
}

static uint32_t
parse_limit(const char *s)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0' || *s == '-' || v == 0 || v > UINT32_MAX) {
		fprintf(stderr, "capcmp: --limit: '%s' is not a number of bytes\n", s);
		exit(EXIT_UNUSABLE);
	}
	return (uint32_t)v;
}

static void
parse_options(struct options *opt, int argc, char **argv)
{
	static const struct option longs[] = {
		{"ignore-macs", no_argument, NULL, 'm'},
		{"limit", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int key;

	while ((key = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (key == 'm') {
			opt->skip = MACS_LEN;
		} else if (key == 'l') {
			opt->limit = parse_limit(optarg);
		} else {
			fputs(usage, key == 'h' ? stdout : stderr);
			exit(key == 'h' ? EXIT_EQUAL : EXIT_UNUSABLE);
		}
	}
}

int
main(int argc, char **argv)
{
	struct options opt = {.skip = 0, .limit = UINT32_MAX};
	struct capture a = {0}, b = {0};
	int ret;

	parse_options(&opt, argc, argv);
	if (argc - optind != 2) {
		fputs("capcmp: exactly two captures are wanted\n", stderr);
		return EXIT_UNUSABLE;
	}
	capture_open(&a, argv[optind]);
	capture_open(&b, argv[optind + 1]);
	ret = compare_links(&a, &b);
	if (ret == EXIT_EQUAL)
		ret = compare(&a, &b, &opt);
	pcap_close(a.pcap);
	pcap_close(b.pcap);
	return ret;
}
