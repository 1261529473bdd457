#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""testpmd.py FILE ROUNDS EAL-ARGUMENT...: packets that testpmd forwards over net_null.

Drivers and caches take turns in each round. FILE gets million packets a second in the form of
Google Benchmark's JSON.
"""

import contextlib
import itertools
import json
import re
import signal
import subprocess
import sys
import time

SCRIPT = ((1.0, 'start'), (0.5, 'show port stats 0'), (1.5, 'show port stats 0'), (0, 'quit'))


def talk(process):
    """Its prompt answers nothing while it starts: what is said too early waits in the pipe."""
    for seconds, command in SCRIPT:
        time.sleep(seconds)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(f'{command}\n')
            process.stdin.flush()
    return process.communicate(timeout=30)[0]


def forward(eal, ops, cache):
    """Million packets a second between the two looks at the port; None when it failed."""
    argv = ['dpdk-testpmd', *eal, f'--mbuf-pool-ops-name={ops}', '--vdev=net_null0', '--', '-i',
            '--no-flush-rx', '--forward-mode=io', f'--mbcache={cache}',
            '--total-num-mbufs=16384']
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        try:
            output = talk(process)
        except subprocess.TimeoutExpired:
            output = 'it did not end'
        finally:
            process.kill()
    rates = re.findall(r'Tx-pps: +(\d+)', output)
    if process.returncode == 0 and len(rates) == 2 and int(rates[1]) > 0:
        return int(rates[1]) / 1e6
    last = (output.strip() or 'no output').splitlines()[-1]
    print(f'testpmd: {ops}, cache {cache}: status {process.returncode}; {last}', file=sys.stderr)
    return None


def measure(eal, rounds):
    for i, ops, cache in itertools.product(range(rounds), ('slab', 'ring_mp_mc'), (0, 256)):
        rate = forward(eal, ops, cache)
        if rate is not None:
            yield {'name': f'testpmd/{ops}/cache:{cache}', 'run_type': 'iteration',
                   'repetition_index': i, 'Mpps': rate}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    path, rounds, eal = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    found = list(measure(eal, rounds))
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'context': {}, 'benchmarks': found}, f, indent=1)
    return 0 if len(found) == 4 * rounds else 1


if __name__ == '__main__':
    sys.exit(main())
