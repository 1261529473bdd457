#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# Installs what is missing, builds with gcc and with clang, warnings being errors, and runs all
# tests; those without EAL with both compilers, and the fuzzers with clang's. Then it measures what the
# tests reach. Ends with how many passed, failed and were skipped.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/devtools/common.sh"

# shellcheck disable=SC2086 # lists of words
install_packages $build_packages $test_packages
reserve_hugepages

# build_with COMPILER C++-COMPILER
build_with()
{
	build=$(build_dir "build-$1")
	say "building in $build"
	export CC="$1" CXX="$2"
	configure "$build" -Dwerror=true
	quietly ninja -C "$build"
}

build_with gcc g++
build_with clang clang++

# The summary judges, from meson's own record; a run that leaves none has failed.
run_tests()
{
	rm -f "$1/meson-logs/testlog.json"
	meson test -C "$@" --no-rebuild </dev/null || true
}

gcc=$(build_dir build-gcc 2>/dev/null)
clang=$(build_dir build-clang 2>/dev/null)
run_tests "$gcc"
run_tests "$clang" --suite fast --suite fuzz
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
"$root/devtools/coverage.sh" >"$output" 2>&1 || status=$?
cat "$output"
python3 "$root/devtools/summary.py" "$gcc" "$clang" "coverage:$status:$output"
