#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# Builds lib/slab and the driver with counters, runs the tests that are about them, and prints how
# much of their lines and branches was reached, and which lines were not. Fails below 95 % of the
# lines or 85 % of the branches. doc/testing.md says why what is not reached is not.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/devtools/common.sh"

# shellcheck disable=SC2086 # lists of words
install_packages $build_packages $test_packages
reserve_hugepages

build=$(build_dir build-coverage)
say "building in $build"
export CC=gcc CXX=g++ CFLAGS=-fprofile-update=atomic
configure "$build" -Db_coverage=true -Dbuildtype=debug -Doptimization=1 -Db_ndebug=true
find "$build" -name '*.gcda' -delete

# What these need is built on the way. A test that fails reaches less, so all have to pass.
quietly meson test -C "$build" --suite fast --suite driver --suite mp --suite faults
export STRESS_BURSTS=20000 STRESS_HISTORIES=5000 STRESS_POOLS=24 STRESS_WAVES=16
quietly meson test -C "$build" stress histories grow takers broken_off

# report [gcovr options]
report()
{
	gcovr -r "$root" "$build/lib" "$build/drivers" -f "$root/lib/slab/" \
		-f "$root/drivers/mempool/slab/" --exclude-unreachable-branches "$@"
}

# What is whole is left out; a long name has a line of its own.
report | awk '/\.[ch]$/ { name = $0; next } /%/ && !/100%/ { print name $0 } { name = "" }'
report --branches | awk '/^TOTAL/ { print "of branches:", $0 }'
report --fail-under-line 95 --fail-under-branch 85 >/dev/null
