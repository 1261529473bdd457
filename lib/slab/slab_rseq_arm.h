/* SPDX-License-Identifier: BSD-3-Clause */

/* The sequences of slab_rseq.h for aarch64. */

/* The place to give up has to follow the C library's signature: an instruction that traps. */
#define SLAB_RSEQ_BEGIN \
	SLAB_RSEQ_DESCRIPTOR \
	"adrp %[t], 3b\n\t" \
	"add %[t], %[t], :lo12:3b\n\t" \
	"str %[t], [%[area], %[at_sequence]]\n" \
	"1:\n\t" \
	"ldr %w[t], [%[area], %[at_cpu]]\n\t" \
	"cmp %w[t], %w[cpu]\n\t" \
	"b.ne 4f\n\t" \
	"str %w[self], [%[lc], %[at_busy]]\n\t" \
	"add %[t], %[lc], %[at_shut]\n\t" \
	"ldar %[t], [%[t]]\n\t" \
	"cmp %[t], %[key]\n\t" \
	"b.ne 4f\n\t" \
	"ldr %w[len], [%[lc], %[at_len]]\n\t"

#define SLAB_RSEQ_END \
	"add %[t], %[lc], %[at_len]\n\t" \
	"stlr %[len], [%[t]]\n" \
	"2:\n\t" \
	"b 5f\n\t" \
	".inst %c[signature]\n" \
	"4:\n\t" \
	"mov %[n], #-1\n" \
	"5:\n\t" \
	"str xzr, [%[area], %[at_sequence]]\n\t"

#define SLAB_RSEQ_INPUTS \
	[area] "r"(slab_rseq_area()), [lc] "r"(lc), [cpu] "r"(cpu), [self] "r"(slab_thread()), \
	[key] "r"(slab_process.key), [base] "r"(slab_base(pool)), [signature] "i"(RSEQ_SIG), \
	SLAB_RSEQ_PLACES

static inline int64_t
slab_rseq_pop(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	const uint64_t *row, void **objs, uint32_t max)
{
	int64_t n = max;
	uint64_t len, i, t;

	__asm__ volatile(
		SLAB_RSEQ_BEGIN
		"cmp %w[len], %w[n]\n\t"
		"csel %w[n], %w[len], %w[n], lo\n\t"
		"sub %w[len], %w[len], %w[n]\n\t"
		"add %[row], %[row], %[len], lsl #3\n\t"
		"mov %[i], %[n]\n\t"
		"cbz %[i], 9f\n"
		"8:\n\t"
		"ldr %[t], [%[row]], #8\n\t"
		"add %[t], %[t], %[base]\n\t"
		"str %[t], [%[objs]], #8\n\t"
		"subs %[i], %[i], #1\n\t"
		"b.ne 8b\n"
		"9:\n\t"
		SLAB_RSEQ_END
		: [n] "+&r"(n), [row] "+&r"(row), [objs] "+&r"(objs), [len] "=&r"(len), [i] "=&r"(i),
		[t] "=&r"(t)
		: SLAB_RSEQ_INPUTS
		: "memory", "cc");
	return n;
}

static inline int64_t
slab_rseq_push(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	uint64_t *row, void *const *objs, uint32_t count)
{
	int64_t n = count;
	uint64_t len, i, t, seen;

	__asm__ volatile(
		SLAB_RSEQ_BEGIN
		"add %w[t], %w[len], %w[n]\n\t"
		"cmp %w[t], %w[cap]\n\t"
		"b.hi 4f\n\t"
		"add %[row], %[row], %[len], lsl #3\n\t"
		"mov %[seen], xzr\n\t"
		"mov %[i], %[n]\n\t"
		"cbz %[i], 9f\n"
		"8:\n\t"
		"ldr %[t], [%[objs]], #8\n\t"
		"sub %[t], %[t], %[base]\n\t"
		"str %[t], [%[row]], #8\n\t"
		"orr %[seen], %[seen], %[t]\n\t"
		"subs %[i], %[i], #1\n\t"
		"b.ne 8b\n"
		"9:\n\t"
		"tst %[seen], %[beyond]\n\t"
		"b.ne 4f\n\t"
		"add %w[len], %w[len], %w[n]\n\t"
		SLAB_RSEQ_END
		: [n] "+&r"(n), [row] "+&r"(row), [objs] "+&r"(objs), [len] "=&r"(len), [i] "=&r"(i),
		[t] "=&r"(t), [seen] "=&r"(seen)
		: SLAB_RSEQ_INPUTS, [cap] "r"(pool->cache), [beyond] "r"(pool->beyond)
		: "memory", "cc");
	return n;
}
