/* SPDX-License-Identifier: BSD-3-Clause */

#include "slab.h"

static uint32_t
least(size_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

void *
slab_range_object(const struct slab_range *range, uint32_t stride, uint32_t i)
{
	uint32_t per_page = range->per_page == 0 ? UINT32_MAX : range->per_page;

	return (char *)range->base + (size_t)(i / per_page) * range->page +
		(size_t)(i % per_page) * stride;
}

/* Objects that fit into len bytes that begin at a page. */
static uint32_t
fit_pages(size_t len, uint32_t stride, size_t page, uint32_t max)
{
	size_t per_page = page / stride;

	return least(len / page * per_page + len % page / stride, max);
}

unsigned int
slab_range_plan(struct slab_range out[2], void *start, size_t len, uint32_t stride, uint32_t lead,
	size_t page, uint32_t max)
{
	bool paged = page != 0 && stride <= page;
	size_t head = paged ? -(uintptr_t)start & (page - 1) : len;
	struct slab_range first = { .base = (char *)start + lead }, rest;
	unsigned int n = 0;

	head = head < len ? head : len;
	first.count = least(head / stride, max);
	if (first.count != 0)
		out[n++] = first;
	if (!paged)
		return n;
	rest = (struct slab_range){
		.base = (char *)start + head + lead,
		.count = fit_pages(len - head, stride, page, max - first.count),
		.per_page = (uint32_t)(page / stride),
		.page = page,
	};
	if (rest.count != 0)
		out[n++] = rest;
	return n;
}
