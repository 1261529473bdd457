#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""What people get wrong when they start l2fwd-slab: each ends it with one line that says so."""

import os
import re
import sys

import dpdkrun

DLT_RAW = 101


def made(directory, name, change=None):
    path = dpdkrun.make_capture(os.path.join(directory, name), '--count', '10')
    if change is not None:
        with open(path, 'rb') as f:
            data = change(bytearray(f.read()))
        with open(path, 'wb') as f:
            f.write(data)
    return path


def cut(data):
    return data[:-7]


def raw_link_type(data):
    data[20:24] = DLT_RAW.to_bytes(4, sys.byteorder)
    return data


# name: (the capture to forward, arguments of the application, what the line must have)
CASES = {
    'missing-capture': (lambda d: os.path.join(d, 'none.pcap'), [], r'none\.pcap'),
    'cut-capture': (lambda d: made(d, 'cut.pcap', cut), [], r'cut\.pcap.*record 10'),
    'not-ethernet': (lambda d: made(d, 'raw.pcap', raw_link_type), [],
                     r'raw\.pcap.*not Ethernet'),
    'not-a-capture': (lambda d: made(d, 'text.pcap', lambda _: b'no capture\n' * 9), [],
                      r'text\.pcap'),
    'no-ports': (None, [], r'\bports?\b'),
    'portmask-beyond-ports': (lambda d: made(d, 'a.pcap'), ['-p', '0x2'], r'\b0x2\b|port 1\b'),
    'portmask-no-number': (lambda d: made(d, 'a.pcap'), ['-p', 'x'], r"'x'"),
    'portmap-beyond-ports': (lambda d: made(d, 'a.pcap'), ['--portmap', '(0,7)'], r'\b7\b'),
    'unknown-pool': (lambda d: made(d, 'a.pcap'), ['--pool-ops', 'nosuch'],
                     r"'nosuch'(?=.*\bslab\b)(?=.*\bring_mp_mc\b)"),
    'bad-nodes': (lambda d: made(d, 'a.pcap'), ['--nodes', '0+999'], r"--nodes '0\+999'.* above"),
    'too-many-mbufs': (lambda d: made(d, 'a.pcap'), ['--mbufs', '400000000'],
                       r'400000000 buffers.* MB'),
    'unwritable-json': (lambda d: made(d, 'a.pcap'), ['--json', '/proc/none/report.json'],
                        r'/proc/none/report\.json'),
}

# The line of slab that comes before, where it was slab that refused something.
DRIVER_SAYS = {'bad-nodes': r'option nodes=0\+999: allowed: all, or'}


def argv_of(directory, capture, arguments):
    vdev = []
    if capture is not None:
        vdev = [f'--vdev=net_pcap0,rx_pcap={capture(directory)},'
                f'tx_pcap={os.path.join(directory, "out.pcap")}']
    return [os.environ['SLAB_L2FWD'], '--no-pci', '--no-telemetry', *dpdkrun.lcore_args(1),
            *dpdkrun.memory_args('auto', 256), *dpdkrun.pool_args('slab'), *vdev, '--',
            '-T', '0', '--idle-exit', '200', *arguments]


def judge_driver(output, regex):
    lines = [line for line in output.splitlines() if line.startswith('mempool_slab: ')]
    if len(lines) != 1 or re.search(regex, lines[0]) is None:
        dpdkrun.fail(f'not one line of slab with /{regex}/', output)
    print(lines[0])


def judge(status, output, regex):
    lines = [line for line in output.splitlines() if line.startswith('l2fwd-slab: ')]
    if status is None or status <= 0:
        dpdkrun.fail(f'status {status} where one above 0 was due', output)
    if len(lines) != 1 or re.search(regex, lines[0]) is None:
        dpdkrun.fail(f'not one line of l2fwd-slab with /{regex}/', output)
    print(f'status {status}: {lines[0]}')


def main():
    capture, arguments, regex = CASES[sys.argv[1]]
    with dpdkrun.scratch() as directory:
        status, output, _ = dpdkrun.run(argv_of(directory, capture, arguments), timeout=60)
    if sys.argv[1] in DRIVER_SAYS:
        judge_driver(output, DRIVER_SAYS[sys.argv[1]])
    judge(status, output, regex)


if __name__ == '__main__':
    sys.exit(main())
