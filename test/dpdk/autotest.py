#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs one of DPDK's own autotests, unchanged, with its packet pools on slab.

The verdict is what dpdk-test prints. When that is not 'Test OK', the same run is repeated
with DPDK's default pools: what fails there too says nothing about slab and counts as skipped,
with both outputs shown.
"""

import argparse
import os
import re
import sys

import dpdkrun

BASELINE = 'ring_mp_mc'


def parse_arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('name', help='as in mempool_autotest')
    p.add_argument('--memory', choices=('auto', 'no-huge', 'shared'), default='auto')
    p.add_argument('--need', type=int, default=512, metavar='MB', help='memory it takes')
    p.add_argument('--lcores', type=int, default=2)
    p.add_argument('--own-cpus', action='store_true', help='skip it where lcores share CPUs')
    p.add_argument('--eal', action='append', default=[], metavar='ARG',
                   help='one more EAL argument, as in --eal=--iova-mode=va')
    p.add_argument('--expect', action='append', default=[], metavar='REGEX',
                   help='what the output must have, beside the verdict')
    p.add_argument('--no-pool', action='store_true', help='the test makes no packet pool')
    p.add_argument('--preload', action='store_true',
                   help='by LD_PRELOAD, not -d: the test starts a secondary that needs it too, '
                   'with a command line of its own')
    p.add_argument('--runs', type=int, default=1, help='how often: a race shows in some runs only')
    p.add_argument('--timeout', type=int, default=60, metavar='S')
    return p.parse_args()


def pool_args(args, ops):
    """What the command line and the environment have to say of pools."""
    argv, env = dpdkrun.pool_args(ops), {}
    if args.preload and ops == 'slab':
        argv, env = argv[2:], {'LD_PRELOAD': dpdkrun.plugin()}
    return argv, env


def run_test(args, ops):
    pool, env = pool_args(args, ops)
    argv = [dpdkrun.program('dpdk-test', 'dpdk-dev'), '--no-pci', '--no-telemetry',
            *dpdkrun.lcore_args(args.lcores), *args.eal, *pool, args.name]
    if args.memory == 'shared':
        return dpdkrun.run_shared(argv, args.need, args.timeout, env)
    return dpdkrun.run([*argv, *dpdkrun.memory_args(args.memory, args.need)], args.timeout, env)


def verdict(status, output):
    """The last one counts: the suites of DPDK print more of them on the way."""
    said = re.findall(r'Test (OK|Failed|Skipped)', output)
    if 'invalid test command' in output:
        dpdkrun.fail('dpdk-test knows no such test', output)
    if status is None:
        return 'timed out'
    if not said:
        return f'ended with status {status} and no verdict'
    if said[-1] == 'OK' and status != 0:
        return f'said OK and ended with status {status}'
    passed = re.findall(r'Tests Passed *: *(\d+)', output)
    if said[-1] == 'OK' and passed and passed[-1] == '0':
        return 'passed none of its cases'
    return said[-1]


def judge_failure(args, result, output):
    """Blames slab only for what works without it."""
    status, base_output, _ = run_test(args, BASELINE)
    base = verdict(status, base_output)
    print(f'--- with slab: {result}\n{dpdkrun.tail(output)}')
    print(f'--- with {BASELINE}: {base}\n{dpdkrun.tail(base_output)}')
    if base == 'OK':
        dpdkrun.fail(f'{args.name}: {result} with slab, OK with {BASELINE}')
    dpdkrun.skip(f'{args.name}: {result} with slab, and {base} with {BASELINE} as well')


def judge_success(args, output, seconds):
    for regex in args.expect:
        if re.search(regex, output) is None:
            dpdkrun.fail(f'{args.name}: OK, but without /{regex}/ in its output', output)
    pools = dpdkrun.slab_pools(output)
    if not pools and not args.no_pool:
        dpdkrun.fail(f'{args.name}: OK, but no pool was made on slab', output)
    print(f'{args.name}: OK in {seconds:.1f} s; pools on slab: {", ".join(pools) or "none"}')


def main():
    args = parse_arguments()
    cpus = len(os.sched_getaffinity(0))
    if args.own_cpus and cpus < args.lcores:
        dpdkrun.skip(f'{args.lcores} lcores that spin need as many CPUs, here are {cpus}')
    for _ in range(args.runs):
        status, output, seconds = run_test(args, 'slab')
        result = verdict(status, output)
        if result == 'OK':
            judge_success(args, output, seconds)
        else:
            judge_failure(args, result, output)


if __name__ == '__main__':
    sys.exit(main())
