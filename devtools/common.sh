# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause

# What demo.sh and test.sh share. The sourcing script sets $root, the top of the checkout.
# shellcheck disable=SC2034 # some of what is set here is for them alone

: "${root:?}"

# A plugin that everyone may write to is one that EAL refuses.
umask 022

# libdpdk-dev brings DPDK's drivers with it, dpdk-dev its dpdk-test and dpdk-testpmd. The models
# are C++ for relacy; without both, meson leaves them out.
build_packages='gcc g++ libc6-dev meson ninja-build pkg-config libdpdk-dev libpcap-dev
	libjansson-dev libbenchmark-dev libcmocka-dev python3'
test_packages='clang libclang-rt-dev relacy-dev spin dpdk-dev gcovr'

hugepages=/sys/kernel/mm/hugepages/hugepages-2048kB

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
	say "$@"
	exit 1
}

# Runs a command whose output matters only when it fails.
quietly()
{
	log=$(mktemp)
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 60 "$log" >&2
		rm -f "$log"
		die "this failed: $*"
	fi
	rm -f "$log"
}

missing_packages()
{
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || printf ' %s' "$package"
	done
}

install_packages()
{
	command -v dpkg-query >/dev/null ||
		die "no Debian: install the equivalents of these by hand: $*"
	missing=$(missing_packages "$@")
	if [ -z "$missing" ]; then
		return
	fi
	[ "$(id -u)" -eq 0 ] || die "only root can install what is missing: apt-get install$missing"
	say "installing from the network:$missing"
	export DEBIAN_FRONTEND=noninteractive
	quietly apt-get -o Acquire::Retries=2 update
	# shellcheck disable=SC2086 # a list of words
	quietly apt-get install -y --no-install-recommends $missing
}

free_hugepages()
{
	cat "$hugepages/free_hugepages" 2>/dev/null || echo 0
}

# 1 GB of 2 MB pages, or a quarter of the memory that is available where that is less.
wanted_hugepages()
{
	awk '/^MemAvailable:/ { n = int($2 / 8192); print n < 512 ? n : 512 }' /proc/meminfo
}

# Sees to it that there are hugepages, when there are none in all. They stay reserved.
reserve_hugepages()
{
	if [ "$(cat "$hugepages/nr_hugepages" 2>/dev/null)" = 0 ]; then
		wanted=$(wanted_hugepages)
		echo "$wanted" 2>/dev/null >"$hugepages/nr_hugepages" || true
		say "reserved $(free_hugepages) of $wanted hugepages of 2 MB" \
			"(given back by: echo 0 >$hugepages/nr_hugepages)"
	fi
	if [ "$(free_hugepages)" -lt 128 ]; then
		say "$(free_hugepages) hugepages of 2 MB are free, 128 are needed:" \
			'running with --no-huge'
	fi
}

# Prints the first directory, from $1 upwards, that everyone may write to.
world_writable()
{
	dir=$1
	while :; do
		find "$dir" -maxdepth 0 -perm -0002
		[ "$dir" != / ] || return 0
		dir=$(dirname "$dir")
	done | head -n 1
}

# Prints where to build: $1 in the checkout, or below the user's cache where EAL would refuse to
# load the plugin from the checkout.
build_dir()
{
	open=$(world_writable "$root")
	if [ -z "$open" ]; then
		echo "$root/$1"
		return
	fi
	home=${XDG_CACHE_HOME:-${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}/.cache}
	mkdir -p "$home/mempool-slab"
	cache=$(cd "$home/mempool-slab" && pwd -P)
	[ -z "$(world_writable "$cache")" ] ||
		die "EAL loads no plugin from below $open, which everyone may write to, and $cache" \
			'is no better: move the checkout, or set XDG_CACHE_HOME'
	dir=$cache/$(echo "$root" | cksum | cut -d ' ' -f 1)-$1
	say "EAL loads no plugin from below $open, which everyone may write to: building in $dir"
	echo "$dir"
}

# configure DIR [meson options]: once; meson itself sees to changes after that.
configure()
{
	where=$1
	shift
	[ -e "$where/build.ninja" ] || quietly meson setup "$@" "$where" "$root"
}
