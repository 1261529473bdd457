/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_H
#define FUZZ_H

/*
 * What targets share: how they take bytes for decisions, and how they fail. Each defines
 * LLVMFuzzerTestOneInput(); a fuzzer or replay.c calls it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #what); \
		abort(); \
	} \
} while (0)

struct bytes {
	const uint8_t *at;
	size_t left;
};

/* 0 where there are no more. */
static inline uint32_t
take(struct bytes *b, unsigned int n)
{
	uint32_t value = 0;

	for (; n != 0 && b->left != 0; n--, b->left--)
		value = value << 8 | *b->at++;
	return value;
}

static inline uint32_t
take_below(struct bytes *b, uint32_t limit)
{
	return limit <= 1 ? 0 : take(b, limit > 256 ? 2 : 1) % limit;
}

int
LLVMFuzzerInitialize(int *argc, char ***argv);
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FUZZ_H */
