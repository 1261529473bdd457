#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause

# Installs what is missing, builds, and forwards a capture through l2fwd-slab with the slab pool
# and two of DPDK's own in turn. Ends with the table of cycles per packet buffer.

set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/devtools/common.sh"

# shellcheck disable=SC2086 # a list of words
install_packages $build_packages
reserve_hugepages
build=$(build_dir build)
configure "$build"
say "building in $build"
quietly ninja -C "$build"

# In memory where there is room, or the disk would be measured along.
scratch_dir()
{
	room=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)
	if [ "${room:-0}" -gt 200000 ]; then
		mktemp -d -p /dev/shm
	else
		mktemp -d
	fi
}

scratch=$(scratch_dir)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

memory='--in-memory'
[ "$(free_hugepages)" -ge 128 ] || memory='--no-huge --no-shconf -m 256'
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')

# l2fwd DEVICE [options]: on one lcore, with no cache in front, so that bursts reach the driver.
l2fwd()
{
	device=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	if ! "$build/apps/l2fwd-slab/l2fwd-slab" --no-pci --no-telemetry --lcores "0@$cpu" $memory \
		-d "$build/drivers/mempool/slab/librte_mempool_slab.so" --vdev "$device" -- \
		--cache 0 --burst 32 --mbufs 16384 --portmap '(0,0)' --no-mac-updating -T 0 "$@" \
		>"$scratch/out" 2>"$scratch/errors"; then
		cat "$scratch/out" "$scratch/errors" >&2
		die 'l2fwd-slab failed'
	fi
}

frames=4000
"$build/test/tools/mkcap" --count "$frames" "$scratch/in.pcap"
say "forwarding a capture of $frames frames on buffers of slab"
l2fwd "net_pcap0,rx_pcap=$scratch/in.pcap,tx_pcap=$scratch/out.pcap" \
	--pool-ops slab --idle-exit 100
say "in and out: $("$build/test/tools/capcmp" "$scratch/in.pcap" "$scratch/out.pcap")"

say 'replaying it in bursts of 32 on slab, ring_mp_mc and stack in turn, five rounds'
l2fwd "net_pcap0,rx_pcap=$scratch/in.pcap,infinite_rx=1" \
	--pool-ops slab,ring_mp_mc,stack --duration 0.5 --rounds 5
cat "$scratch/out"
