/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sequences of slab_rseq.h for x86-64. Stores are seen in their order, and loads are acquire, so
 * orderings need no more than the order of the instructions.
 */

#include <emmintrin.h>

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

/* i is 0, and t has the words that go by four. */
#define SLAB_RSEQ_BY_FOUR \
	"xorl %k[i], %k[i]\n\t" \
	"movl %k[n], %k[t]\n\t" \
	"andl $-4, %k[t]\n\t" \
	"jz 7f\n"

/* n objects that lie behind the first len of the row. */
#define SLAB_RSEQ_LOAD \
	"leaq (%[row],%q[len],8), %[row]\n\t" \
	SLAB_RSEQ_BY_FOUR \
	"6:\n\t" \
	"movdqu (%[row],%[i],8), %[a]\n\t" \
	"movdqu 16(%[row],%[i],8), %[b]\n\t" \
	"paddq %[bases], %[a]\n\t" \
	"paddq %[bases], %[b]\n\t" \
	"movups %[a], (%[objs],%[i],8)\n\t" \
	"movups %[b], 16(%[objs],%[i],8)\n\t" \
	"addq $4, %[i]\n\t" \
	"cmpq %[t], %[i]\n\t" \
	"jb 6b\n" \
	"7:\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jae 9f\n" \
	"8:\n\t" \
	"movq (%[row],%[i],8), %[t]\n\t" \
	"addq %[base], %[t]\n\t" \
	"movq %[t], (%[objs],%[i],8)\n\t" \
	"incq %[i]\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jb 8b\n" \
	"9:\n\t"

/* The same the other way; seen has all offsets, or-ed. */
#define SLAB_RSEQ_STORE \
	"leaq (%[row],%q[len],8), %[row]\n\t" \
	"xorl %k[seen], %k[seen]\n\t" \
	SLAB_RSEQ_BY_FOUR \
	"pxor %[c], %[c]\n\t" \
	"6:\n\t" \
	"movdqu (%[objs],%[i],8), %[a]\n\t" \
	"movdqu 16(%[objs],%[i],8), %[b]\n\t" \
	"psubq %[bases], %[a]\n\t" \
	"psubq %[bases], %[b]\n\t" \
	"movups %[a], (%[row],%[i],8)\n\t" \
	"movups %[b], 16(%[row],%[i],8)\n\t" \
	"por %[a], %[c]\n\t" \
	"por %[b], %[c]\n\t" \
	"addq $4, %[i]\n\t" \
	"cmpq %[t], %[i]\n\t" \
	"jb 6b\n\t" \
	"movq %[c], %[seen]\n\t" \
	"punpckhqdq %[c], %[c]\n\t" \
	"movq %[c], %[t]\n\t" \
	"orq %[t], %[seen]\n" \
	"7:\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jae 9f\n" \
	"8:\n\t" \
	"movq (%[objs],%[i],8), %[t]\n\t" \
	"subq %[base], %[t]\n\t" \
	"movq %[t], (%[row],%[i],8)\n\t" \
	"orq %[t], %[seen]\n\t" \
	"incq %[i]\n\t" \
	"cmpq %q[n], %[i]\n\t" \
	"jb 8b\n" \
	"9:\n\t" \
	"testq %[beyond], %[seen]\n\t" \
	"jnz 4b\n\t"

/* Few of these fit into registers, where each is of use once or twice only. */
#define SLAB_RSEQ_INPUTS \
	[area] "r"(slab_rseq_area()), [lc] "r"(lc), [cpu] "r"(cpu), [objs] "r"(objs), \
	[base] "r"(slab_base(pool)), [bases] "x"(_mm_set1_epi64x((long long)slab_base(pool))), \
	[self] "rm"(slab_thread()), [key] "rm"(slab_process.key), [signature] "i"(RSEQ_SIG), \
	SLAB_RSEQ_PLACES

static inline int64_t
slab_rseq_pop(const struct slab_pool *pool, struct slab_lcore *lc, uint32_t cpu,
	const uint64_t *row, void **objs, uint32_t max)
{
	int64_t n = max;
	uint64_t len, i, t;
	__m128i a, b;

	__asm__ volatile(
		SLAB_RSEQ_BEGIN
		"movl %c[at_len](%[lc]), %k[len]\n\t"
		"cmpl %k[n], %k[len]\n\t"
		"cmovb %k[len], %k[n]\n\t"
		"subl %k[n], %k[len]\n\t"
		SLAB_RSEQ_LOAD
		SLAB_RSEQ_END
		: [n] "+&r"(n), [row] "+&r"(row), [len] "=&r"(len), [i] "=&r"(i), [t] "=&r"(t),
		[a] "=&x"(a), [b] "=&x"(b)
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
	__m128i a, b, c;

	__asm__ volatile(
		SLAB_RSEQ_BEGIN
		"movl %c[at_len](%[lc]), %k[len]\n\t"
		"leal (%q[len],%q[n]), %k[t]\n\t"
		"cmpl %[cap], %k[t]\n\t"
		"ja 4b\n\t"
		SLAB_RSEQ_STORE
		"addl %k[n], %k[len]\n\t"
		SLAB_RSEQ_END
		: [n] "+&r"(n), [row] "+&r"(row), [len] "=&r"(len), [i] "=&r"(i), [t] "=&r"(t),
		[seen] "=&r"(seen), [a] "=&x"(a), [b] "=&x"(b), [c] "=&x"(c)
		: SLAB_RSEQ_INPUTS, [cap] "rm"(pool->cache), [beyond] "rm"(pool->beyond)
		: "memory", "cc");
	return n;
}
