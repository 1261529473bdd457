/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pools of all shapes, and sequences of all that can be done to them, one thing after the other, against
 * the plainest reference: which objects are out. No object is had twice, no get fails that has
 * enough, counts are exact, and what is wrong is told and changes nothing.
 */

#include <unistd.h>

#include "fuzz.h"
#include "slab.h"

#define MOST 3000
#define OPS 300
#define LCORES 5
#define MEMORY ((char *)UINT64_C(0x500000000000)) /* where a sanitizer has shadows */
#define MOST_STATE (UINT64_C(32) << 20)

struct pool {
	struct slab_pool *slab;
	struct slab_conf conf;
	char *next;               /* where the next range may begin */
	uint32_t n, nr_out;
	char *objs[MOST];         /* in the order of their addresses */
	bool is_out[MOST];
	uint32_t out[MOST];
	uint64_t faults[SLAB_FAULTS], seen[SLAB_FAULTS];
};

static struct pool *now;

static void
count_fault(const struct slab_pool *slab, const void *obj, enum slab_fault fault, uint64_t nth)
{
	(void)obj;
	MUST(slab == now->slab);
	MUST(++now->seen[fault] == nth);
}

/* Any, now and then out of range. */
static struct slab_conf
take_conf(struct bytes *b)
{
	static uint8_t lcore_node[LCORES], node_number[SLAB_MAX_NODES];
	bool wild = take(b, 1) == 255;
	struct slab_conf conf = {
		.name = "fuzz",
		.objects = wild ? take(b, 4) : 1 + take_below(b, MOST),
		.align = 1u << take_below(b, 8),
		.lcores = LCORES,
		.active_lcores = take_below(b, 6),
		.nodes = wild ? take(b, 1) : take_below(b, 4),
		.lcore_node = lcore_node,
		.node_number = node_number,
		.lcore_cache = take_below(b, 4) != 0,
		.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF) * take_below(b, 2),
		.thread_cache = (enum slab_thread_cache)take_below(b, wild ? 256 : 3),
		.stats = take_below(b, 2),
		.magazine = wild ? take(b, 2) : take_below(b, 2) * (1 + take_below(b, 300)),
		.user_size = take(b, 1),
		.depot = take_below(b, 2) ? SLAB_AUTO : take_below(b, 12),
		.lcore_partial = wild ? take(b, 1) : take_below(b, 2) * take_below(b, 20),
		.min_partial = take_below(b, 2) ? SLAB_AUTO : take_below(b, 40),
		.check = take_below(b, 2),
		.object_size = take(b, 1),
	};
	uint32_t i;

	conf.stride = wild ? take(b, 4) : conf.align * (1 + take_below(b, 70));
	conf.track = conf.check ? take_below(b, 2) : wild && take_below(b, 2);
	for (i = 0; i < LCORES; i++)
		lcore_node[i] = (uint8_t)take(b, 1);
	return conf;
}

/* The object of this address, by its place among all; n if it is none. */
static uint32_t
find(const struct pool *p, const char *obj)
{
	uint32_t low = 0, high = p->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (p->objs[mid] < obj)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->n && p->objs[low] == obj ? low : p->n;
}

static void
hold(struct pool *p, char *obj)
{
	uint32_t i = find(p, obj);

	MUST(i < p->n && !p->is_out[i]);
	p->is_out[i] = true;
	p->out[p->nr_out++] = i;
}

static char *
let_go(struct pool *p, uint32_t which)
{
	uint32_t i = p->out[which];

	p->out[which] = p->out[--p->nr_out];
	p->is_out[i] = false;
	return p->objs[i];
}

static uint32_t
take_lcore(struct bytes *b)
{
	uint32_t lcore = take_below(b, LCORES + 2);

	return lcore < LCORES ? lcore : SLAB_NO_LCORE;
}

static void
get(struct pool *p, uint32_t lcore, uint32_t n)
{
	void *objs[MOST + 256];
	uint32_t i;

	if (n > p->n - p->nr_out) {
		MUST(slab_get(p->slab, lcore, objs, n) != 0);
		return;
	}
	MUST(slab_get(p->slab, lcore, objs, n) == 0);
	for (i = 0; i < n; i++)
		hold(p, objs[i]);
}

static void
get_blocks(struct pool *p, uint32_t lcore, uint32_t n)
{
	void *first[8];
	uint32_t i, k;

	if (slab_get_blocks(p->slab, lcore, first, n) != 0)
		return;
	for (i = 0; i < n; i++)
		for (k = 0; k < SLAB_OBJECTS; k++)
			hold(p, (char *)first[i] + (size_t)k * p->conf.stride);
}

/* Something that is no object now, and what is to be said of it; NULL is as good as any. */
static char *
bad_object(struct pool *p, struct bytes *b)
{
	uint32_t i = take_below(b, p->n), off = 1 + take_below(b, p->conf.stride);

	switch (take_below(b, 4)) {
	case 0:
		if (p->n != 0 && off < p->conf.stride) {
			p->faults[SLAB_FAULT_INSIDE]++;
			return p->objs[i] + off;
		}
		break;
	case 1:
		if (p->n != 0 && !p->is_out[i]) {
			p->faults[SLAB_FAULT_DOUBLE]++;
			return p->objs[i];
		}
		break;
	case 2:
		p->faults[SLAB_FAULT_FOREIGN]++;
		return p->next;
	}
	p->faults[SLAB_FAULT_FOREIGN]++;
	return NULL;
}

static void
put(struct pool *p, struct bytes *b, uint32_t lcore, uint32_t n)
{
	void *objs[2 * MOST + 256];
	uint32_t nr = 0;

	for (n = n < p->nr_out ? n : p->nr_out; n != 0; n--) {
		objs[nr++] = let_go(p, take_below(b, p->nr_out));
		if (p->conf.check && take(b, 1) % 16 == 1)
			objs[nr++] = bad_object(p, b);
	}
	/* What no code reaches is seen by all pools at once. */
	if (take(b, 1) == 7) {
		p->faults[SLAB_FAULT_FOREIGN]++;
		objs[nr++] = (void *)UINTPTR_MAX;
	}
	slab_put(p->slab, lcore, objs, nr);
}

static void
add_range(struct pool *p, const struct slab_range *range)
{
	size_t wanted = slab_pool_room_wanted(p->slab);
	uint32_t added, i;
	void *room;

	if (wanted != 0) {
		room = aligned_alloc(SLAB_POOL_ALIGN, wanted);
		MUST(room != NULL);
		memset(room, 0, wanted);
		slab_pool_room_give(p->slab, room);
	}
	added = slab_pool_add(p->slab, range);
	MUST(added == (range->count < p->conf.objects - p->n ? range->count :
		p->conf.objects - p->n));
	for (i = 0; i < added; i++)
		p->objs[p->n++] = slab_range_object(range, p->conf.stride, i);
}

/* In one row or page by page; right behind the last one, or apart. */
static void
add(struct pool *p, struct bytes *b)
{
	size_t page = take_below(b, 2) ? (size_t)4096 << take_below(b, 4) : 0, len;
	uint32_t n = 1 + take_below(b, MOST), node = take_below(b, 5), i;
	struct slab_range ranges[2];
	unsigned int nr;

	p->next += (size_t)take_below(b, 3) * 8192;
	len = (size_t)n * p->conf.stride + (size_t)take(b, 2);
	nr = slab_range_plan(ranges, p->next, len, p->conf.stride, 0, page, n);
	for (i = 0; i < nr; i++) {
		ranges[i].node = node;
		if ((uintptr_t)ranges[i].base % p->conf.align == 0)
			add_range(p, &ranges[i]);
	}
	p->next += (len + p->conf.align - 1) / p->conf.align * p->conf.align;
}

static void
look(struct pool *p)
{
	struct slab_audit sum;
	struct slab_stats stats;
	uint32_t i, free = 0;

	MUST(slab_pool_audit(p->slab, &sum, NULL, NULL, NULL) == 0);
	for (i = 0; i < SLAB_PLACES; i++)
		free += sum.free[i];
	MUST(free == p->n - p->nr_out && sum.out == p->nr_out);
	MUST(sum.objects == p->n && sum.lost == 0 && sum.twice == 0);
	for (i = 0; i <= LCORES; i++)
		slab_pool_stats(p->slab, i, &stats);
	slab_pool_has_blocks(p->slab);
	MUST(slab_pool_reclaim(p->slab, 0) == 0);
}

static void
tune(struct pool *p, struct bytes *b)
{
	enum slab_tunable which = (enum slab_tunable)take_below(b, 3);
	uint32_t value = take(b, 4), most = slab_pool_tunable_most(p->slab, which);

	value = take_below(b, 2) || most == UINT32_MAX ? value : value % (most + 1);
	MUST((slab_pool_tune(p->slab, which, value) == 0) == (value <= most));
	if (value <= most)
		MUST(slab_pool_tunable(p->slab, which) == value);
}

static uint32_t
take_burst(struct bytes *b)
{
	static const uint32_t usual[] = { 0, 1, 1, 2, 4, 8, 32, 64, 256, 544, 768, MOST };
	uint32_t i = take_below(b, 16);

	return i < 12 ? usual[i] : take(b, 1);
}

static void
operate(struct pool *p, struct bytes *b)
{
	switch (take_below(b, 16)) {
	case 0 ... 5:
		get(p, take_lcore(b), take_burst(b));
		break;
	case 6 ... 10:
		put(p, b, take_lcore(b), take_burst(b));
		break;
	case 11:
		get_blocks(p, take_lcore(b), take_below(b, 8));
		break;
	case 12 ... 13:
		add(p, b);
		break;
	case 14:
		tune(p, b);
		break;
	default:
		look(p);
	}
	MUST(slab_pool_count(p->slab) == p->n - p->nr_out);
	MUST(slab_pool_added(p->slab) == p->n);
}

/* Everything comes back, and out again, each object once. */
static void
end(struct pool *p, struct bytes *b)
{
	uint32_t i;

	while (p->nr_out != 0)
		put(p, b, take_lcore(b), p->nr_out);
	look(p);
	get(p, take_lcore(b), p->n);
	get(p, take_lcore(b), 1);
	for (i = 0; i < SLAB_FAULTS; i++) {
		MUST(p->seen[i] == p->faults[i]);
		MUST(slab_pool_faults_of(p->slab, (enum slab_fault)i) == p->faults[i]);
	}
}

static bool
begin(struct pool *p, struct bytes *b)
{
	size_t size;
	void *mem;

	*p = (struct pool){ .conf = take_conf(b), .next = MEMORY };
	size = slab_pool_size(&p->conf);
	if (size == 0) {
		MUST(slab_pool_init(NULL, &p->conf) == NULL);
		return false;
	}
	if (size > MOST_STATE || p->conf.objects > MOST)
		return false;
	mem = aligned_alloc(SLAB_POOL_ALIGN, size);
	MUST(mem != NULL);
	memset(mem, 0, size);
	p->slab = slab_pool_init(mem, &p->conf);
	MUST(p->slab == mem && slab_pool_valid(mem));
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pool p;
	struct bytes b = { data, size };
	unsigned int i;

	now = &p;
	slab_set_fault_handler(count_fault);
	if (!begin(&p, &b))
		return 0;
	add(&p, &b);
	for (i = 0; i < OPS && b.left != 0; i++)
		operate(&p, &b);
	end(&p, &b);
	for (i = 0; slab_pool_room(p.slab, i) != NULL; i++)
		free(slab_pool_room(p.slab, i));
	free(p.slab);
	return 0;
}
