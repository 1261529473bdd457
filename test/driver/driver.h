/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef DRIVER_H
#define DRIVER_H

/* What the driver's tests share. */

#include <stdio.h>

#include <rte_log.h>

#include "plugin.h"

/* What the driver logged since log_begin(). */
static FILE *log_file;
static char *log_text;
static size_t log_size;

static inline void
log_begin(void)
{
	log_file = open_memstream(&log_text, &log_size);
	rte_openlog_stream(log_file);
}

/* To be freed. */
static inline char *
log_end(void)
{
	rte_openlog_stream(NULL);
	fclose(log_file);
	return log_text;
}

#endif /* DRIVER_H */
