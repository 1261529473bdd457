/* SPDX-License-Identifier: BSD-3-Clause */

#include "fixture.h"
#include "slab_lcore.h"
#include "slab_simd.h"

#define MOST 300

/* Every variant that this processor can run, on every length and both alignments. */
static void
for_each(void (*check)(const struct slab_simd *simd, unsigned int n, unsigned int shift))
{
	unsigned int i, n, shift;

	print_message("variants: %u, in use: %s\n", slab_simds_usable(), slab_simd.name);
	for (i = 0; i < slab_simds_usable(); i++)
		for (n = 0; n <= MOST; n++)
			for (shift = 0; shift <= 6; shift += 3)
				check(&slab_simds[i], n, shift);
}

static void
check_round_trip(const struct slab_simd *simd, unsigned int n, unsigned int shift)
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
	seen = simd->encode(codes, objs, n, base, shift);
	simd->decode(back, codes, n, base, shift);
	assert_int_equal(seen & ~((uint64_t)UINT32_MAX << shift), 0);
	assert_memory_equal(objs, back, sizeof(objs[0]) * (n + 1));
	assert_int_equal(codes[n], 12345);
}

/* Short of the wide loop, a whole number of vectors, and all that lies in between. */
static void
check_cache(const struct slab_simd *simd, unsigned int n, unsigned int shift)
{
	struct slab_conf conf = plain_conf(2 * MOST);
	void *objs[MOST], *back[MOST + 1];
	struct slab_pool *pool;
	struct slab_lcore *lc;
	unsigned int i;

	conf.align = 1U << shift;
	conf.magazine = MOST;
	pool = pool_make(&conf);
	lc = slab_lcore_at(pool, 1);
	assert_int_equal(pool_add(pool, &(struct slab_range){ .base = MADE_UP, .count = 2 * MOST }),
		2 * MOST);
	for (i = 0; i < n; i++)
		objs[i] = MADE_UP + 64 * (2 * MOST - 1 - i);
	slab_lcore_open_owner(pool, lc);
	back[n] = back;
	assert_int_equal(simd->put(pool, lc, objs, n), 0);
	assert_int_equal(lc->len, n);
	assert_int_equal(simd->get(pool, lc, back, n), 0);
	assert_int_equal(lc->len, 0);
	assert_memory_equal(objs, back, n * sizeof(objs[0]));
	assert_ptr_equal(back[n], back);
	pool_free(pool);
}

static void
through_the_cache(void **state)
{
	(void)state;
	for_each(check_cache);
}

/* One bad object, wherever it stands, is dropped and reported, and none of the others is. */
static void
check_fault(const struct slab_simd *simd, unsigned int n, unsigned int shift)
{
	struct slab_conf conf = plain_conf(2 * MOST);
	void *objs[MOST], *all[2 * MOST];
	struct slab_pool *pool;
	struct slab_lcore *lc;

	if (n == 0 || n > 20)
		return;
	conf.align = 1U << shift;
	conf.magazine = MOST;
	pool = pool_make(&conf);
	lc = slab_lcore_at(pool, 1);
	pool_add(pool, &(struct slab_range){ .base = MADE_UP, .count = 2 * MOST });
	slab_lcore_open_owner(pool, lc);
	assert_int_equal(simd->get(pool, lc, objs, n), 0);
	faults[SLAB_FAULT_FOREIGN] = 0;
	objs[n / 2] = MADE_UP + (UINT64_C(1) << (32 + shift));
	simd->put(pool, lc, objs, n);
	assert_int_equal(faults[SLAB_FAULT_FOREIGN], 1);
	assert_int_equal(drain(pool, 1, all, 2 * MOST, 32), 2 * MOST - 1);
	pool_free(pool);
}

static void
faults_are_seen(void **state)
{
	(void)state;
	for_each(check_fault);
}

static void
round_trip(void **state)
{
	(void)state;
	for_each(check_round_trip);
}

/* One object out of reach, wherever it stands, shows in what encode returns. */
static void
check_beyond(const struct slab_simd *simd, unsigned int n, unsigned int shift)
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
		assert_int_not_equal(simd->encode(codes, objs, n, base, shift) & beyond, 0);
		objs[i] = (void *)(base - 1);
		assert_int_not_equal(simd->encode(codes, objs, n, base, shift) & beyond, 0);
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
	unsigned int i, widest = slab_simds[slab_simds_usable() - 1].bits;

	(void)state;
	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		slab_set_simd_bits(bits[i]);
		print_message("at most %u bits: %s\n", bits[i], slab_simd.name);
		assert_true(bits[i] == 0 || slab_simd.bits <= bits[i]);
		assert_true(slab_simd.bits <= widest);
	}
	assert_int_equal(slab_simd.bits, widest);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(beyond_reach),
		cmocka_unit_test(through_the_cache),
		cmocka_unit_test_setup(faults_are_seen, faults_begin),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
