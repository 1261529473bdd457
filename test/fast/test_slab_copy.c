/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_copy.h"

#define MOST 300

/* Every variant that this processor can run, on every length and both alignments. */
static void
for_each(void (*check)(const struct slab_copy *copy, unsigned int n, unsigned int shift))
{
	unsigned int i, n, shift;

	print_message("variants: %u, in use: %s\n", slab_copies_usable(), slab_copy.name);
	for (i = 0; i < slab_copies_usable(); i++)
		for (n = 0; n <= MOST; n++)
			for (shift = 0; shift <= 6; shift += 3)
				check(&slab_copies[i], n, shift);
}

static void
check_round_trip(const struct slab_copy *copy, unsigned int n, unsigned int shift)
{
	uintptr_t base = UINT64_C(0x7f0000000000) - (UINT64_C(1) << (31 + shift));
	void *objs[MOST + 1], *back[MOST + 1];
	uint32_t codes[MOST + 1];
	uint64_t seen;
	unsigned int i;

	for (i = 0; i <= n; i++)
		objs[i] = (void *)(base + ((UINT64_C(0x9e3779b1) * i % UINT32_MAX) << shift));
	codes[n] = 12345;
	back[n] = objs[n];
	seen = copy->encode(codes, objs, n, base, shift);
	copy->decode(back, codes, n, base, shift);
	assert_int_equal(seen & ~((uint64_t)UINT32_MAX << shift), 0);
	assert_memory_equal(objs, back, sizeof(objs[0]) * (n + 1));
	assert_int_equal(codes[n], 12345);
}

static void
round_trip(void **state)
{
	(void)state;
	for_each(check_round_trip);
}

/* One object out of reach, wherever it stands, shows in what encode returns. */
static void
check_beyond(const struct slab_copy *copy, unsigned int n, unsigned int shift)
{
	uintptr_t base = UINT64_C(0x100000000);
	uint64_t beyond = ~((uint64_t)UINT32_MAX << shift);
	uint32_t codes[MOST];
	void *objs[MOST];
	unsigned int i;

	for (i = 0; i < n; i++)
		objs[i] = (void *)base;
	for (i = 0; i < n; i++) {
		objs[i] = (void *)(base + (UINT64_C(1) << (32 + shift)));
		assert_int_not_equal(copy->encode(codes, objs, n, base, shift) & beyond, 0);
		objs[i] = (void *)(base - 1);
		assert_int_not_equal(copy->encode(codes, objs, n, base, shift) & beyond, 0);
		objs[i] = (void *)base;
	}
}

static void
beyond_reach(void **state)
{
	(void)state;
	for_each(check_beyond);
}

/* A limit takes the widest variant within it; what the processor lacks is never taken. */
static void
limits(void **state)
{
	static const unsigned int bits[] = { 64, 128, 255, 256, 512, 0 };
	unsigned int i, widest = slab_copies[slab_copies_usable() - 1].bits;

	(void)state;
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		slab_set_simd_bits(bits[i]);
		print_message("at most %u bits: %s\n", bits[i], slab_copy.name);
		assert_true(bits[i] == 0 || slab_copy.bits <= bits[i]);
		assert_true(slab_copy.bits <= widest);
	}
	assert_int_equal(slab_copy.bits, widest);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(beyond_reach),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
