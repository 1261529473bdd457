#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# few-hugepages.sh MEGABYTES PROGRAM [ARGUMENT...]: run a program of EAL with a hugetlbfs of its own
# that has no more pages than that, whatever the machine has; it is gone with the program. Exits
# with 77 (skipped) where there are too few pages.
set -eu

megabytes=$1
shift
pages=/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
free=$(cat "$pages" 2>/dev/null || echo 0)
if [ $((2 * free)) -lt "$megabytes" ]; then
	echo "skipped: $free hugepages of 2 MiB are free and $((megabytes / 2)) are needed"
	exit 77
fi
if ! unshare --mount true 2>/dev/null; then
	echo 'skipped: no mount namespace of its own can be had (are you root?)'
	exit 77
fi
# shellcheck disable=SC2016
exec unshare --mount sh -c 'mount -t hugetlbfs -o "pagesize=2M,size=$1M" none /mnt &&
	shift && program=$1 && shift && exec "$program" --huge-dir=/mnt "$@"' sh "$megabytes" "$@"
