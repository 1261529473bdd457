#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Forwards through DPDK's testpmd, unchanged, with its packet pool on slab.

With --capture, frames come from a capture that mkcap makes and go to another, which must be
equal byte for byte; without, net_null makes frames for a second. Either way what was received
must have been sent, and the pool must be full again in the end.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import time

import dpdkrun

POOL = 'mb_pool_0'


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--capture', metavar='ARGS', help="mkcap's arguments")
    p.add_argument('--fwd', default='io', help='forwarding mode of testpmd')
    p.add_argument('--cache', type=int, default=250, help="rte_mempool's cache in front of slab")
    p.add_argument('--arg', action='append', default=[], help='one more argument of testpmd')
    p.add_argument('--compare', action='append', default=[], help='one more argument of capcmp')
    p.add_argument('--memory', choices=('auto', 'no-huge'), default='auto')
    p.add_argument('--timeout', type=int, default=60, metavar='S')
    return p.parse_args()


class Testpmd:
    """testpmd at its prompt. The output goes to a file, so that nobody waits for a reader, and
    by lines (stdbuf), so that what it says is there to be read at once."""

    def __init__(self, argv, log, timeout):
        self.log = log
        self.deadline = time.monotonic() + timeout
        with open(log, 'wb') as f:
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=f,
                                            stderr=subprocess.STDOUT)

    def output(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return f.read()

    def fail(self, reason):
        self.process.kill()
        self.process.wait()
        dpdkrun.fail(reason, self.output())

    def say(self, command):
        if self.process.poll() is not None:
            self.fail(f'testpmd ended with status {self.process.returncode} before "{command}"')
        self.process.stdin.write(f'{command}\n'.encode())
        self.process.stdin.flush()

    def wait_for(self, what, done, command=None):
        """Asks with the command, if there is one, until done(output) holds."""
        while not done(self.output()):
            if time.monotonic() > self.deadline:
                self.fail(f'no {what} in time')
            if command is not None:
                self.say(command)
            time.sleep(0.1)

    def end(self):
        self.say('quit')
        try:
            self.process.wait(max(1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.fail('testpmd did not end')
        if self.process.returncode != 0:
            self.fail(f'testpmd ended with status {self.process.returncode}')
        return self.output()


def argv_of(args, vdev):
    return ['stdbuf', '-oL', dpdkrun.program('dpdk-testpmd', 'dpdk-dev'), '--no-pci',
            '--no-telemetry', *dpdkrun.lcore_args(2), *dpdkrun.memory_args(args.memory, 512),
            *dpdkrun.pool_args('slab'), f'--vdev={vdev}', '--', '-i', '--no-flush-rx',
            f'--forward-mode={args.fwd}', f'--mbcache={args.cache}', '--total-num-mbufs=16384',
            *args.arg]


def sent(output):
    """The port's own count, as of the last time it was shown."""
    counts = re.findall(r'TX-packets: (\d+) +TX-errors', output)
    return int(counts[-1]) if counts else 0


def forward(testpmd, enough):
    """Starts, waits until the port has sent enough, stops and asks how full the pool is."""
    testpmd.wait_for('prompt', lambda out: 'testpmd>' in out)
    testpmd.say('start')
    testpmd.wait_for(f'{enough} frames sent', lambda out: sent(out) >= enough,
                     'show port stats 0')
    testpmd.say('stop')
    testpmd.wait_for('statistics', lambda out: 'Accumulated' in out)
    testpmd.say(f'dump_mempool {POOL}')
    testpmd.wait_for('pool', lambda out: 'common_pool_count' in out)
    return testpmd.end()


def number(regex, output):
    found = re.search(regex, output)
    if found is None:
        dpdkrun.fail(f'no /{regex}/ in the output', output)
    return int(found.group(1))


def judge_counts(output):
    total = output[output.index('Accumulated'):]
    received = number(r'RX-packets: (\d+)', total)
    if received == 0 or received != number(r'TX-packets: (\d+)', total):
        dpdkrun.fail('received and sent differ, or are nothing', output)
    return received


def judge_pool(output):
    if POOL not in dpdkrun.slab_pools(output) or 'ops_name: <slab>' not in output:
        dpdkrun.fail(f'{POOL} is not on slab', output)
    size = number(r'populated_size=(\d+)', output)
    cached = number(r'total_cache_count=(\d+)', output) if 'total_cache' in output else 0
    if number(r'common_pool_count=(\d+)', output) + cached != size:
        dpdkrun.fail(f'the pool is not full again ({size} buffers)', output)
    return size


def run(args, vdev, log, enough):
    output = forward(Testpmd(argv_of(args, vdev), log, args.timeout), enough)
    frames, buffers = judge_counts(output), judge_pool(output)
    print(f'testpmd {args.fwd}: {frames} frames received and sent; {buffers} buffers of slab, '
          'all back')
    return frames


def run_capture(args, directory):
    into = dpdkrun.make_capture(os.path.join(directory, 'in.pcap'), *shlex.split(args.capture))
    out = os.path.join(directory, 'out.pcap')
    count = dpdkrun.compare_captures(into, into)
    frames = run(args, f'net_pcap0,rx_pcap={into},tx_pcap={out}',
                 os.path.join(directory, 'log'), count)
    if frames != count or dpdkrun.compare_captures(into, out, *args.compare) != count:
        dpdkrun.fail(f'{frames} frames forwarded of {count}')


def main():
    args = parse_arguments()
    with dpdkrun.scratch() as directory:
        if args.capture is not None:
            run_capture(args, directory)
        else:
            run(args, 'net_null0', os.path.join(directory, 'log'), 1000000)


if __name__ == '__main__':
    sys.exit(main())
