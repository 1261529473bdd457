#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Forwards a capture that mkcap makes through l2fwd-slab: what comes out is what went in."""

import argparse
import json
import os
import re
import shlex
import sys

import dpdkrun


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--capture', metavar='ARGS', default='', help="mkcap's arguments")
    p.add_argument('--mode', choices=('rtc', 'pipeline'), default='rtc')
    p.add_argument('--cache', type=int, default=0, help="rte_mempool's cache in front of slab")
    p.add_argument('--pools', default='slab', metavar='NAME,...')
    p.add_argument('--macs', action='store_true', help='let it rewrite the addresses')
    p.add_argument('--arg', action='append', default=[], help='one more argument of l2fwd-slab')
    p.add_argument('--compare', action='append', default=[], help='one more argument of capcmp')
    p.add_argument('--expect', action='append', default=[], metavar='REGEX',
                   help='what the output must have')
    p.add_argument('--memory', choices=('auto', 'no-huge'), default='auto')
    p.add_argument('--timeout', type=int, default=60, metavar='S')
    return p.parse_args()


def argv_of(args, into, out, report):
    return [os.environ['SLAB_L2FWD'], '--no-pci', '--no-telemetry',
            *dpdkrun.lcore_args(2 if args.mode == 'pipeline' else 1),
            *dpdkrun.memory_args(args.memory, 256), *dpdkrun.pool_args('slab'),
            f'--vdev=net_pcap0,rx_pcap={into},tx_pcap={out}', '--', '-T', '0',
            '--portmap', '(0,0)', '--idle-exit', '200', '--pool-ops', args.pools,
            '--cache', str(args.cache), '--mode', args.mode, '--json', report,
            *([] if args.macs else ['--no-mac-updating']), *args.arg]


def judge_report(path, output, count, pools):
    """The JSON counts the frames over all runs, and misses neither frame nor buffer."""
    with open(path, encoding='utf-8') as f:
        report = json.load(f)
    runs = sum(len(driver['rounds']) for driver in report['drivers'])
    port = report['ports'][0]
    if [driver['driver'] for driver in report['drivers']] != pools:
        dpdkrun.fail('the JSON has other drivers than asked for', output)
    if not port['received'] == port['sent'] == runs * count:
        dpdkrun.fail(f'{port["received"]} received and {port["sent"]} sent in {runs} runs of '
                     f'{count} frames', output)
    if report['missing_buffers'] != 0 or report['unaccounted_frames'] != 0:
        dpdkrun.fail('buffers or frames are missing', output)


def judge_output(args, status, output):
    if status != 0:
        dpdkrun.fail(f'l2fwd-slab ended with status {status}', output)
    if not dpdkrun.slab_pools(output):
        dpdkrun.fail('no pool was made on slab', output)
    for regex in args.expect:
        if re.search(regex, output) is None:
            dpdkrun.fail(f'nothing like /{regex}/ in the output', output)
    audits = re.findall(r'^Buffers of slab at the end: (\d+) of (\d+) free \((\d+) in slabs, '
                        r'(\d+) in depots, (\d+) in lcore caches, (\d+) in CPU caches, '
                        r'(\d+) in mempool caches\), 0 in use$', output, re.M)
    if len(audits) != 1:
        dpdkrun.fail('not one line says where the buffers are', output)
    free, all_buffers, *places = (int(n) for n in audits[0])
    if free != all_buffers or sum(places) != free:
        dpdkrun.fail('the line about buffers does not add up', output)
    for pool in args.pools.split(','):
        if re.search(rf'^{pool} +\d', output, re.M) is None:
            dpdkrun.fail(f'the table has no line for {pool}', output)


def judge_macs(path, count):
    """As DPDK's l2fwd: to 02:00:00:00:00:PORT, from the port's own address."""
    macs = dpdkrun.frame_starts(path, 12)
    if len(macs) != count or {mac[:6] for mac in macs} != {b'\x02\0\0\0\0\0'}:
        dpdkrun.fail('not every frame goes to 02:00:00:00:00:00')
    if len({mac[6:] for mac in macs}) != 1:
        dpdkrun.fail('the frames come from different addresses')


def run(args, directory):
    into, out, report = (os.path.join(directory, n) for n in ('in.pcap', 'out.pcap', 'json'))
    dpdkrun.make_capture(into, *shlex.split(args.capture))
    count = dpdkrun.compare_captures(into, into)
    status, output, seconds = dpdkrun.run(argv_of(args, into, out, report), args.timeout)
    judge_output(args, status, output)
    judge_report(report, output, count, args.pools.split(','))
    compare = [*args.compare, *(['--ignore-macs'] if args.macs else [])]
    if count == 0 or dpdkrun.compare_captures(into, out, *compare) != count:
        dpdkrun.fail(f'these are not all of {count} frames', output)
    if args.macs:
        judge_macs(out, count)
    print(f'l2fwd-slab: {count} frames out as they came in, {seconds:.1f} s')


def main():
    args = parse_arguments()
    with dpdkrun.scratch() as directory:
        run(args, directory)


if __name__ == '__main__':
    sys.exit(main())
