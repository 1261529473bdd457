/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

int
apps_eal_args(int argc, char **argv)
{
	int n = 0;

	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	return n;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
apps_median(double *values, unsigned int n)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++)
		if (!isnan(values[i]))
			values[kept++] = values[i];
	if (kept == 0)
		return NAN;
	qsort(values, kept, sizeof(*values), compare);
	return (values[(kept - 1) / 2] + values[kept / 2]) / 2;
}
