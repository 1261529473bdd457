#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# fuzz.sh [SECONDS [TARGET...]]: builds the fuzzers with clang, and runs each for so long, a minute
# unless said otherwise, on what it finds in test/fuzz/corpus. Says how much was executed and reached.
# Targets: ops, options, telemetry, capture.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/devtools/common.sh"

seconds=${1:-60}
[ $# -eq 0 ] || shift
case $seconds in
*[!0-9]* | '') die "'$seconds' is no number of seconds: fuzz.sh [SECONDS [TARGET...]]" ;;
esac
[ $# -ne 0 ] || set -- ops options telemetry capture
for target in "$@"; do
	[ -d "$root/test/fuzz/corpus/$target" ] ||
		die "no target '$target': there are ops, options, telemetry and capture"
done

# shellcheck disable=SC2086 # lists of words
install_packages $build_packages $test_packages
build=$(build_dir build-fuzz)
export CC=clang CXX=clang++
configure "$build"
# shellcheck disable=SC2046 # a list of words
quietly ninja -C "$build" $(printf 'test/fuzz/fuzz_%s ' "$@")

# EAL frees nothing of what it has for the whole run.
export ASAN_OPTIONS=detect_leaks=0
mkdir -p "$build/found"
cd "$build/found"
for target in "$@"; do
	say "$target for $seconds s; new inputs in $build/found/$target"
	mkdir -p "$target"
	"$build/test/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=20 -max_len=4096 \
		-rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$target-" "$target" \
		"$root/test/fuzz/corpus/$target" >"$target.log" 2>&1 ||
		{ tail -n 40 "$target.log" >&2; die "$target found something: $build/found/$target-*"; }
	awk -v target="$target" '/ cov: / { line = $0 } /number_of_executed_units/ { n = $2 }
		END { match(line, /cov: .* exec/); print target ": " n " executions, " \
			substr(line, RSTART, RLENGTH - 5) }' "$target.log"
done
