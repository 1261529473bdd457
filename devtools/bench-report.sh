#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# bench-report.sh [FOLDER]: installs what is missing, builds, measures the standard set with
# slab-bench and testpmd in less than 15 minutes, and writes a page with plots, targets and the raw
# figures to FOLDER (bench-report). With BENCH_QUICK=1 it only tries whether all of that works, in
# two minutes; such figures are worth nothing.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/devtools/common.sh"

out=${1:-bench-report}
pages=700

# Raises the number of hugepages until enough are free. They stay reserved.
more_hugepages()
{
	lacking=$((pages - $(free_hugepages)))
	[ "$lacking" -gt 0 ] || return 0
	before=$(cat "$hugepages/nr_hugepages" 2>/dev/null || echo 0)
	echo $((before + lacking)) 2>/dev/null >"$hugepages/nr_hugepages" || true
	say "$(free_hugepages) of $pages hugepages of 2 MB are free" \
		"(back to what was: echo $before >$hugepages/nr_hugepages)"
}

# shellcheck disable=SC2086 # a list of words
install_packages $build_packages dpdk-dev gnuplot-nox
build=$(build_dir build-report)
configure "$build" -Dbuildtype=release -Dtests=false
say "building in $build"
quietly ninja -C "$build"

more_hugepages
memory='--in-memory'
if [ "$(free_hugepages)" -lt "$pages" ]; then
	say 'running with --no-huge, and small pages cost something'
	memory="--no-huge --no-shconf -m $((2 * pages))"
fi

mkdir -p "$out"
# No caches of Python's in the checkout.
# shellcheck disable=SC2086 # a list of words
exec python3 -B "$root/devtools/bench-report/main.py" "$out" "$build" --no-pci $memory \
	-d "$build/drivers/mempool/slab/librte_mempool_slab.so"
