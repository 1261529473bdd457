#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# fuzz.sh PROGRAM CORPUS SECONDS: runs a target on a copy of its corpus, that long; 0 replays it. What
# it found stays where it was run, as crash-*.

set -eu

program=$1
corpus=$2
seconds=$3

# EAL frees nothing of what it has for the whole run.
export ASAN_OPTIONS=detect_leaks=0
if [ "$seconds" = 0 ]; then
	exec "$program" "$corpus"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
	-verbosity=1 "$scratch" "$corpus" 2>&1 | tail -n 60 >"$scratch.log"
status=0
grep -E 'cov:|stat::number_of_executed_units|ERROR|SUMMARY|does not hold|Test unit' "$scratch.log" |
	tail -n 8
! grep -qE 'ERROR: |SUMMARY: ' "$scratch.log" || status=1
grep -q 'stat::number_of_executed_units' "$scratch.log" || status=1
rm -f "$scratch.log"
exit $status
