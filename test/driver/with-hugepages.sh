#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# with-hugepages.sh PROGRAM [ARGUMENT...]: run a program of EAL with a hugetlbfs of its own, that
# nobody else sees and that is gone with it. Exits with 77 (skipped) where there are too few pages.
set -eu

pages=/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
wanted=200
free=$(cat "$pages" 2>/dev/null || echo 0)
if [ "$free" -lt "$wanted" ]; then
	echo "skipped: $free hugepages of 2 MiB are free and $wanted are needed"
	exit 77
fi
if ! unshare --mount true 2>/dev/null; then
	echo 'skipped: no mount namespace of its own can be had (are you root?)'
	exit 77
fi
# shellcheck disable=SC2016
exec unshare --mount sh -c 'mount -t hugetlbfs -o pagesize=2M none /mnt &&
	program=$1 && shift && exec "$program" --huge-dir=/mnt "$@"' sh "$@"
