/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sequences of slab_rseq.h for x86-64. Stores are seen in their order, and loads are acquire, so
 * orderings need no more than the order of the instructions. Vectors are as wide as slab_simd says; they
 * are in xmm0 to xmm3, so that the compiler need not know of the wider ones.
 */

#include "slab_simd.h"

/* The place to give up has to follow the C library's signature: an instruction that traps. */
#define SLAB_RSEQ_BEGIN \
	SLAB_RSEQ_DESCRIPTOR \
	".pushsection .text.unlikely, \"ax\"\n\t" \
	".byte 0x0f, 0xb9, 0x3d\n\t" \
	".long %c[signature]\n" \
	"4:\n\t" \
	"movq $-1, %q[n]\n\t" \
	"jmp 5f\n\t" \
	".popsection\n\t" \
	"leaq 3b(%%rip), %[t]\n\t" \
	"movq %[t], %c[at_sequence](%[area])\n" \
	"1:\n\t" \
	"cmpl %[cpu], %c[at_cpu](%[area])\n\t" \
	"jne 4b\n\t" \
	"movl %[self], %k[t]\n\t" \
	"movl %k[t], %c[at_busy](%[lc])\n\t" \
	"movq %[key], %[t]\n\t" \
	"cmpq %[t], %c[at_shut](%[lc])\n\t" \
	"jne 4b\n\t"

#define SLAB_RSEQ_END \
	"movq %q[len], %c[at_len](%[lc])\n" \
	"2:\n" \
	"5:\n\t" \
	"movq $0, %c[at_sequence](%[area])\n\t"

/* i is 0, and t has the words that go by so many. */
#define SLAB_RSEQ_EACH(step) \
	"leaq (%[row],%q[len],8), %[row]\n\t" \
	"xorl %k[i], %k[i]\n\t" \
	"movl %k[n], %k[t]\n\t" \
	"andl $-" step ", %k[t]\n\t" \
	"jz 7f\n" \
	"6:\n\t"

#define SLAB_RSEQ_NEXT(step) \
	"addq $" step ", %[i]\n\t" \
	"cmpq %[t], %[i]\n\t" \
	"jb 6b\n\t"

/* The others, if any, each by this. */
#define SLAB_RSEQ_ONE_BY_ONE(step) \
	"7:\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jae 9f\n" \
	"8:\n\t" \
	step \
	"incq %[i]\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jb 8b\n" \
	"9:\n\t"

/* Before the sequence: the base in all words of xmm0 or ymm0. After it: as the compiler wants it. */
#define SLAB_RSEQ_BASES_128 \
	"movq %[base], %%xmm0\n\t" \
	"punpcklqdq %%xmm0, %%xmm0\n\t"
#define SLAB_RSEQ_BASES_256 \
	"vmovq %[base], %%xmm0\n\t" \
	"vpbroadcastq %%xmm0, %%ymm0\n\t"
#define SLAB_RSEQ_AFTER_128
#define SLAB_RSEQ_AFTER_256 "vzeroupper\n\t"

#define SLAB_RSEQ_STEP_128 "4"
#define SLAB_RSEQ_STEP_256 "8"

/* So many of the row to as many of objs. */
#define SLAB_RSEQ_LOAD_128 \
	"movdqu (%[row],%[i],8), %%xmm1\n\t" \
	"movdqu 16(%[row],%[i],8), %%xmm2\n\t" \
	"paddq %%xmm0, %%xmm1\n\t" \
	"paddq %%xmm0, %%xmm2\n\t" \
	"movups %%xmm1, (%[objs],%[i],8)\n\t" \
	"movups %%xmm2, 16(%[objs],%[i],8)\n\t"
#define SLAB_RSEQ_LOAD_256 \
	"vpaddq (%[row],%[i],8), %%ymm0, %%ymm1\n\t" \
	"vpaddq 32(%[row],%[i],8), %%ymm0, %%ymm2\n\t" \
	"vmovdqu %%ymm1, (%[objs],%[i],8)\n\t" \
	"vmovdqu %%ymm2, 32(%[objs],%[i],8)\n\t"

/* And back; xmm3 has what was seen, or-ed, in the end in one word. */
#define SLAB_RSEQ_STORE_128 \
	"movdqu (%[objs],%[i],8), %%xmm1\n\t" \
	"movdqu 16(%[objs],%[i],8), %%xmm2\n\t" \
	"psubq %%xmm0, %%xmm1\n\t" \
	"psubq %%xmm0, %%xmm2\n\t" \
	"movups %%xmm1, (%[row],%[i],8)\n\t" \
	"movups %%xmm2, 16(%[row],%[i],8)\n\t" \
	"por %%xmm1, %%xmm3\n\t" \
	"por %%xmm2, %%xmm3\n\t"
#define SLAB_RSEQ_STORE_256 \
	"vmovdqu (%[objs],%[i],8), %%ymm1\n\t" \
	"vmovdqu 32(%[objs],%[i],8), %%ymm2\n\t" \
	"vpsubq %%ymm0, %%ymm1, %%ymm1\n\t" \
	"vpsubq %%ymm0, %%ymm2, %%ymm2\n\t" \
	"vmovdqu %%ymm1, (%[row],%[i],8)\n\t" \
	"vmovdqu %%ymm2, 32(%[row],%[i],8)\n\t" \
	"vpor %%ymm1, %%ymm3, %%ymm3\n\t" \
	"vpor %%ymm2, %%ymm3, %%ymm3\n\t"
#define SLAB_RSEQ_NOTHING_SEEN_128 "pxor %%xmm3, %%xmm3\n\t"
#define SLAB_RSEQ_NOTHING_SEEN_256 "vpxor %%ymm3, %%ymm3, %%ymm3\n\t"
#define SLAB_RSEQ_SEEN_128 \
	"movdqa %%xmm3, %%xmm1\n\t" \
	"punpckhqdq %%xmm3, %%xmm3\n\t" \
	"por %%xmm1, %%xmm3\n\t" \
	"movq %%xmm3, %[seen]\n"
#define SLAB_RSEQ_SEEN_256 \
	"vextracti128 $1, %%ymm3, %%xmm1\n\t" \
	"vpor %%xmm1, %%xmm3, %%xmm3\n\t" \
	"vpunpckhqdq %%xmm3, %%xmm3, %%xmm1\n\t" \
	"vpor %%xmm1, %%xmm3, %%xmm3\n\t" \
	"vmovq %%xmm3, %[seen]\n"

/* Few of these fit into registers, where each is of use once or twice only. */
#define SLAB_RSEQ_INPUTS \
	[area] "r"(slab_rseq_area()), [lc] "r"(lc), [cpu] "r"(cpu), [objs] "r"(objs), \
	[base] "r"(slab_base(pool)), [self] "rm"(slab_thread()), [key] "rm"(slab_process.key), \
	[signature] "i"(RSEQ_SIG), SLAB_RSEQ_PLACES
#define SLAB_RSEQ_CLOBBERS "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3"

#define SLAB_RSEQ_POP(bits) \
	__asm__ volatile( \
		SLAB_RSEQ_BASES_##bits \
		SLAB_RSEQ_BEGIN \
		"movl %c[at_len](%[lc]), %k[len]\n\t" \
		"cmpl %k[n], %k[len]\n\t" \
		"cmovb %k[len], %k[n]\n\t" \
		"subl %k[n], %k[len]\n\t" \
		SLAB_RSEQ_EACH(SLAB_RSEQ_STEP_##bits) \
		SLAB_RSEQ_LOAD_##bits \
		SLAB_RSEQ_NEXT(SLAB_RSEQ_STEP_##bits) \
		SLAB_RSEQ_ONE_BY_ONE( \
			"movq (%[row],%[i],8), %[t]\n\t" \
			"addq %[base], %[t]\n\t" \
			"movq %[t], (%[objs],%[i],8)\n\t") \
		SLAB_RSEQ_END \
		SLAB_RSEQ_AFTER_##bits \
		: [n] "+&r"(n), [row] "+&r"(row), [len] "=&r"(len), [i] "=&r"(i), [t] "=&r"(t) \
		: SLAB_RSEQ_INPUTS \
		: SLAB_RSEQ_CLOBBERS)

#define SLAB_RSEQ_PUSH(bits) \
	__asm__ volatile( \
		SLAB_RSEQ_BASES_##bits \
		SLAB_RSEQ_NOTHING_SEEN_##bits \
		SLAB_RSEQ_BEGIN \
		"movl %c[at_len](%[lc]), %k[len]\n\t" \
		"leal (%q[len],%q[n]), %k[t]\n\t" \
		"cmpl %[cap], %k[t]\n\t" \
		"ja 4b\n\t" \
		"xorl %k[seen], %k[seen]\n\t" \
		SLAB_RSEQ_EACH(SLAB_RSEQ_STEP_##bits) \
		SLAB_RSEQ_STORE_##bits \
		SLAB_RSEQ_NEXT(SLAB_RSEQ_STEP_##bits) \
		SLAB_RSEQ_SEEN_##bits \
		SLAB_RSEQ_ONE_BY_ONE( \
			"movq (%[objs],%[i],8), %[t]\n\t" \
			"subq %[base], %[t]\n\t" \
			"movq %[t], (%[row],%[i],8)\n\t" \
			"orq %[t], %[seen]\n\t") \
		"testq %[beyond], %[seen]\n\t" \
		"jnz 4b\n\t" \
		"addl %k[n], %k[len]\n\t" \
		SLAB_RSEQ_END \
		SLAB_RSEQ_AFTER_##bits \
		: [n] "+&r"(n), [row] "+&r"(row), [len] "=&r"(len), [i] "=&r"(i), [t] "=&r"(t), \
		[seen] "=&r"(seen) \
		: SLAB_RSEQ_INPUTS, [cap] "rm"(pool->cache), [beyond] "rm"(pool->beyond) \
		: SLAB_RSEQ_CLOBBERS)

static inline int64_t
slab_rseq_pop(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	const uint64_t *row, void **objs, uint32_t max)
{
	int64_t n = max;
	uint64_t len, i, t;

	if (slab_simd.bits >= 256)
		SLAB_RSEQ_POP(256);
	else
		SLAB_RSEQ_POP(128);
	return n;
}

static inline int64_t
slab_rseq_push(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	uint64_t *row, void *const *objs, uint32_t count)
{
	int64_t n = count;
	uint64_t len, i, t, seen;

	if (slab_simd.bits >= 256)
		SLAB_RSEQ_PUSH(256);
	else
		SLAB_RSEQ_PUSH(128);
	return n;
}
