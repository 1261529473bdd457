#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""What doc/slab-bench.md says of slab-bench: names, counters, the table, and what mistakes get.

No speed is compared: each benchmark runs for the shortest time that there is.
"""

import itertools
import json
import math
import os
import re
import sys
from pathlib import Path

import dpdkrun

DRIVERS = ('slab slab-check ring_mp_mc ring_sp_sc ring_mt_rts ring_mt_hts stack lf_stack '
           'bucket array').split()
WAYS = 'slab-lcore slab-rseq slab-lock slab-depot'.split()
ONE_LCORE = ['reuse', 'fallback', 'scatter', 'keep', 'trace']
PIPELINES = ['pipeline', 'pipeline_scatter']
LCORES = [*ONE_LCORE, 'shared', *PIPELINES, 'oversubscribed']
THREADS = ['thread', 'threads']
HOLDS = {'keep': ['/keep:1024'], **{p: ['', '/hold:4000'] for p in PIPELINES}}
BURSTS = '1 2 3 4 8 16 30 32 34 48 64 128 158 250 256 512 768 1024'.split()
# Linux' bulk calls: cycles by object for each burst. One by one, all took 95.
KERNEL = {1: 42, 2: 27, 3: 22, 4: 21, 8: 18, 16: 17, 30: 16, 32: 16, 34: 18, 48: 17, 64: 17,
          128: 19, 158: 18, 250: 20}
# Linux' path without locks: by size, cycles before and percent saved, of get, put and both.
KERNEL_THREADS = {8: '79 30.4 92 2.2 124 34.7', 64: '124 19.4 132 -6.8 124 34.7',
                  16384: '646 2.5 471 -15.9 539 0.6'}

NAME = re.compile(
    rf'({"|".join(LCORES)})/({"|".join(DRIVERS)})/cache:(0|256|512)/n:(\d+)(/touch:2)?'
    r'(/hold:4000|/keep:(1024|8192))?(/size:256)?(/objects:(1024|262144|1048576))?(/lcores:[24])?'
    rf'|({"|".join(THREADS)})/({"|".join(WAYS + DRIVERS)})/cache:0/n:(\d+)/size:(8|64|16384)'
    rf'|create/({"|".join(DRIVERS[:-1])})/size:256/objects:262144')
# What the documentation says is left out.
LEFT_OUT = re.compile(
    r'(shared|pipeline|pipeline_scatter|oversubscribed)/(ring_sp_sc|array)/'
    r'|(scatter|shared|oversubscribed)/bucket/|\w+/bucket/.*/hold:'
    r'|threads?/(slab|slab-check|bucket|ring_sp_sc|array)/'
    r'|pipeline(_scatter)?/bucket/cache:[^0]|\w+/array/cache:[^0]')

# Google Benchmark's own columns; the rest of its JSON are counters.
COLUMNS = set('name family_index per_family_instance_index run_name run_type repetitions '
              'repetition_index threads iterations real_time cpu_time time_unit'.split())
COUNTERS = {'cycles_per_obj', 'ns_per_obj', 'loop_cycles', 'distinct'}
VISITS = {'depot_per_1000', 'slab_per_1000'}
ROWS = {'get_cycles', 'put_cycles'}
CALLS = ['p50', 'p99', 'p9999', 'max']
DRIVER_COUNTERS = {'array': set(), **{d: {'left_cache', *VISITS} for d in ['slab', 'slab-check', *WAYS]}}
MORE_COUNTERS = {'shared': {'worst_lcore', 'Mobjs_per_s'}, 'thread': ROWS,
                 'threads': {'worst_lcore', 'Mobjs_per_s', *ROWS},
                 'oversubscribed': {'Mobjs_per_s', *CALLS},
                 **{p: {'pool_cycles', 'Mobjs_per_s'} for p in PIPELINES}}

# How many objects a pattern must touch: those held and one burst, where objects lie in a row, and
# all where they go round in a ring.
DISTINCT = {'reuse/slab/cache:0/n:32': 32, 'reuse/slab/cache:256/n:32': 32,
            'reuse/ring_mp_mc/cache:0/n:32': 16384, 'reuse/ring_mp_mc/cache:256/n:32': 32,
            'reuse/array/cache:0/n:32': 32, 'fallback/array/cache:0/n:32': 32,
            'thread/slab-lcore/cache:0/n:32/size:64': 32,
            'thread/ring_mp_mc/cache:0/n:32/size:64': 16384,
            'scatter/array/cache:0/n:32': 4032, 'keep/array/cache:0/n:32/keep:1024': 1056}


def check(what, holds, found, output=''):
    if not holds:
        dpdkrun.fail(f'{what}: {found}', output)


def said(output):
    """Lines to the user; where no benchmark was run, all lines that are no log."""
    ran = 'Running slab-bench' in output
    return [line for line in output.splitlines() if line.startswith('slab-bench: ') or
            (not ran and re.match(r'\w+: ', line) is None)]


def start(args, status=0, lines=None, lcores=1, ops='slab', memory='auto', need=256):
    """What it prints, once the status and what it says are as expected. Telemetry stays on: visits
    of slab are asked for there."""
    what = ' '.join(args)
    got, output, seconds = dpdkrun.run(
        [os.environ['SLAB_BENCH'], '--no-pci', *dpdkrun.lcore_args(lcores),
         *dpdkrun.memory_args(memory, need), *dpdkrun.pool_args(ops), '--', *args], timeout=60)
    print(f'{what}: status {got}, {seconds:.1f} s')
    check(what, got == status, f'status {got} where {status} was due', output)
    if lines is not None:
        found = said(output)
        check(what, len(found) == len(lines) and all(map(re.search, lines, found)),
              f'said {found}, where this was due: {lines}', output)
        print(''.join(f'    {line}\n' for line in found), end='')
    return output


def counters_of(name):
    pattern, driver = name.split('/')[:2]
    if pattern == 'create':
        return {'cycles_per_obj', 'free_cycles'}
    return (COUNTERS | MORE_COUNTERS.get(pattern, set()) |
            DRIVER_COUNTERS.get(driver, {'left_cache'}))


def judge_cycles(name, c, mhz):
    """The loop's cost is taken off but in pipelines, and may be more than a noisy measurement:
    only both together must be above nothing."""
    loop = 0 if name.startswith('pipeline') else c['loop_cycles']
    for key in {'cycles_per_obj', 'worst_lcore', *ROWS} & c.keys():
        check(name, c[key] + loop > 0, f'{key} is {c[key]}, loop_cycles {c["loop_cycles"]}')
    for key in {'pool_cycles', 'Mobjs_per_s', 'loop_cycles'} & c.keys():
        check(name, c[key] > 0, f'{key} is {c[key]}')
    check(name, math.isclose(c['ns_per_obj'], c['cycles_per_obj'] * 1000 / mhz, rel_tol=0.01),
          f'{c["ns_per_obj"]} ns are no {c["cycles_per_obj"]} cycles at {mhz} MHz')


def judge_counts(name, c):
    """In reuse, a cache is filled once, and is enough from then on."""
    due, cached = DISTINCT.get(name), '/cache:0/' not in name
    most = 0.001 if cached and name.startswith('reuse/') else 1
    left = c.get('left_cache', 1)
    check(name, (0 if cached else 1) <= left <= most, f'left_cache is {left}')
    check(name, 1 <= c['distinct'] <= 16384 and due in (None, c['distinct']),
          f'distinct is {c["distinct"]}, not {due}')
    for key in VISITS & c.keys():
        check(name, 0 <= c[key] <= 2000, f'{key} is {c[key]}')


def judge_way(name, c):
    """A burst of 32 is got and put: all of them at the depot where there is no cache."""
    if name.startswith('thread/slab-'):
        visits, due = c['depot_per_1000'], '/slab-depot/' in name
        check(name, (visits > 60) == due, f'depot_per_1000 is {visits}')


def judge_calls(name, c):
    """Of the shorter no more than of the longer."""
    calls = [c[key] for key in CALLS if key in c]
    check(name, calls == sorted(calls) and min(calls, default=0) >= 0, f'{CALLS} are {calls}')


def judge(b, mhz):
    """All counters that are documented, and no others; numbers; and as they must be."""
    name, c = b['name'], {key: b[key] for key in b.keys() - COLUMNS}
    check(name, c.keys() == counters_of(name), f'has the counters {sorted(c)}')
    for key, value in c.items():
        check(name, math.isfinite(value), f'{key} is {value}')
    if name.startswith('create/'):
        check(name, c['cycles_per_obj'] > 0 and c['free_cycles'] > 0, 'made in no time')
    else:
        check(name, b['iterations'] >= 65536, f'only {b["iterations"]} objects')
        judge_cycles(name, c, mhz)
        judge_counts(name, c)
        judge_way(name, c)
        judge_calls(name, c)


def measure(regex, names, *args, **expected):
    """The JSON of what the filter selects: these names, as documented; None without names."""
    with dpdkrun.scratch() as directory:
        path = Path(directory, 'json')
        output = start([f'--benchmark_filter=^{regex}$', '--benchmark_min_time=0.00001',
                        f'--benchmark_out={path}', *args], **expected)
        if not names:
            return None
        report = json.loads(path.read_text(encoding='utf-8'))
    found = sorted(b['name'] for b in report['benchmarks'])
    check(regex, found == sorted(names), f'{found} were run, not {sorted(names)}', output)
    check(regex, dpdkrun.slab_pools(output) or '/slab' not in str(names), 'not on slab', output)
    for b in report['benchmarks']:
        if not b.get('error_occurred'):
            judge(b, float(report['context']['tsc_mhz']))
    print(f'{len(found)} benchmarks as documented')
    return report


def names_of(pattern):
    return [f'{pattern}/{driver}/cache:{cache}/n:32{hold}' for driver, cache, hold in
            itertools.product(('slab', 'ring_mp_mc', 'array'), (0, 256), HOLDS.get(pattern, ['']))
            if driver != 'array' or (cache == 0 and pattern in ONE_LCORE)]


def run_patterns(patterns, lcores, *args):
    """With a few drivers; one line is about array where it cannot take part."""
    return measure(
        f'({"|".join(patterns)})/(slab|ring_mp_mc|array)/cache:(0|256)/n:32'
        '(/keep:1024|/hold:4000)?', sum(map(names_of, patterns), []), *args, lcores=lcores,
        lines=[] if lcores == 1 else [r'left out \d of array: made for one lcore at a time$'])


def run_oversubscribed():
    """On two CPUs: two lcores on each, and four, of which the first may work alone."""
    run_patterns(['oversubscribed'], 4)
    names = [f'oversubscribed/{driver}/cache:0/n:32{lcores}' for driver, lcores in
             itertools.product(('slab', 'ring_mt_hts'), ('', '/lcores:2', '/lcores:4'))]
    measure('oversubscribed/(slab|ring_mt_hts)/cache:0/n:32(/lcores:.*)?', names, lcores=8,
            lines=[])


def run_threads():
    """Threads that are no lcores, one and two, with all drivers that can."""
    drivers = [*WAYS, *(d for d in DRIVERS if d not in ('slab', 'slab-check', 'bucket', 'ring_sp_sc', 'array'))]
    names = [f'{pattern}/{driver}/cache:0/n:32/size:{size}' for pattern, driver, size in
             itertools.product(THREADS, drivers, (8, 64, 16384))]
    measure('threads?/.*/n:32/.*', names, lcores=2, need=512, lines=[
        r'left out 6 of ring_sp_sc: made for one lcore at a time$',
        r'left out 6 of bucket: crashes in threads that are no lcores$',
        r'left out 6 of array: made for one lcore at a time$'])


def run_trace():
    """Packets of two objects each come as one burst, or each alone where they are far apart."""
    with dpdkrun.scratch() as directory:
        capture = dpdkrun.make_capture(f'{directory}/a', '--count=100', '--sizes=2049',
                                       '--snaplen=96')
        for gap, bursts, most in (1000000, '1 bursts of 200.0', 32), (0, '100 bursts of 2.0', 2):
            report = run_patterns(['trace'], 1, '--trace', capture, f'--trace-gap={gap}')
            about = f'100 packets, 2049 bytes on average, in {bursts} objects on average'
            check('trace', report['context']['trace'] == about, report['context']['trace'])
            for b in report['benchmarks']:
                due = 16384 if 'ring_mp_mc/cache:0' in b['name'] else most
                check(b['name'], b['distinct'] == due, f'distinct is {b["distinct"]}, not {due}')


def run_create():
    names = [f'create/{driver}/size:256/objects:262144' for driver in ('slab', 'ring_mp_mc')]
    measure('create/(slab|ring_mp_mc|array)/.*', names, lines=[])


def run_table():
    output = start(['--table'])
    rows = re.findall(r'^ *(\d+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)% +95 +(\d+) +([\d.]+)%$',
                      output, re.M)
    check('--table', len(rows) == len(KERNEL) and {int(r[0]): int(r[4]) for r in rows} == KERNEL,
          "these are not the kernel's sizes and figures", output)
    for n, single, bulk, saved, kernel, kernel_saved in rows:
        for a, b, percent in (single, bulk, saved), (95, kernel, kernel_saved):
            check(f'--table, {n}', abs(100 * (1 - float(b) / float(a)) - float(percent)) < 0.3,
                  f'from {a} to {b} is no {percent} %')


def run_table_threads():
    output = start(['--table=threads'], need=512)
    cycles = re.findall(r'^ *(\d+) +(\d+)((?: +-?[\d.]+){12})$', output, re.M)
    check('--table=threads', [row[:2] for row in cycles] ==
          list(itertools.product(map(str, KERNEL_THREADS), ('1', '8', '32'))),
          'these are not the sizes and bursts that are documented', output)
    saved = re.findall(r'^ *(\d+)((?: +-?[\d.]+%){6})((?: +\d+ +-?[\d.]+%){3})$', output, re.M)
    check('--table=threads', {int(row[0]): ' '.join(row[2].replace('%', '').split())
                              for row in saved} == KERNEL_THREADS,
          "these are not the kernel's figures", output)
    start(['--table=nosuch'], status=1,
          lines=['^slab-bench: --table=nosuch: there is --table, and --table=threads$'])


def list_names(lcores, *args):
    output = start(['--benchmark_list_tests=true', *args], lcores=lcores)
    names = [line for line in said(output) if not line.startswith('slab-bench: ')]
    check('list', len(names) == len(set(names)), 'names come twice')
    return set(names)


def run_names():
    """The names of all patterns, which no set of lcores can run together."""
    with dpdkrun.scratch() as directory:
        capture = dpdkrun.make_capture(f'{directory}/a.pcap')
        names = list_names(2, '--trace', capture) | list_names(8)
    for name in names:
        check(name, NAME.fullmatch(name), 'is no name as documented')
        check(name, LEFT_OUT.match(name) is None, 'is to be left out')
    every = (('^([^/]+)', [*LCORES, *THREADS, 'create']), ('^[^/]+/([^/]+)', [*WAYS, *DRIVERS]),
             (r'/n:(\d+)', BURSTS), (r'/lcores:(\d+)', ['2', '4']))
    for regex, due in every:
        seen = set(re.findall(regex, '\n'.join(names), re.M))
        check('list', seen == set(due), f'{seen} where {due} was due')
    print(f'{len(names)} names')
    run_no_list()


def run_no_list():
    """Told not to list, it would run the small part that is run without a filter."""
    for no in '=false', '=No', '=0':
        start([f'--benchmark_list_tests{no}', '--benchmark_out=/proc/none/x'], status=1,
              lines=['^slab-bench: no --benchmark_filter: a small part is run',
                     "^invalid file name: '/proc/none/x'"])


MISTAKES = {
    '--benchmark_filter=^nosuch$': r'^Failed to match .*\^nosuch\$$',
    '--benchmark_filter=(': r'^Could not compile benchmark re: ',
    '--benchmark_filter=x --benchmark_out=/proc/none/x': r"^invalid file name: '/proc/none/x'",
    '--nosuch=1': r"^slab-bench: '--nosuch=1' is no option",
    '--trace-gap x': r"^slab-bench: --trace-gap 'x': give microseconds",
    '--trace DIR/none': r'^slab-bench: --trace: \S+/none cannot be read.*No such file',
    '--trace DIR/empty': r'^slab-bench: --trace: \S+/empty cannot be read as a capture: ',
    '--trace DIR/no-packets': r'^slab-bench: --trace: \S+/no-packets holds no packets$',
    '--trace DIR/cut': r'^slab-bench: --trace: \S+/cut: ends inside packet 10\b',
}


def run_mistakes():
    """Each ends slab-bench with one line that names what is wrong."""
    with dpdkrun.scratch() as directory:
        whole = Path(dpdkrun.make_capture(f'{directory}/whole', '--count', '10')).read_bytes()
        for name, part in ('cut', whole[:-7]), ('no-packets', whole[:24]), ('empty', b''):
            Path(directory, name).write_bytes(part)
        for args, line in MISTAKES.items():
            start(args.replace('DIR', directory).split(' '), status=1, lines=[line])


# Which driver is given, what is asked for, what of it is run, and the lines about the rest.
LEFT_OUT_CASES = [
    ('ring_mp_mc', 'reuse/(slab|array)/cache:0/n:32', ['reuse/array/cache:0/n:32'],
     ['left out 1 of slab: the driver is not loaded: -d librte_mempool_slab.so$']),
    ('slab', '(reuse|shared|oversubscribed)/slab/cache:0/n:32', ['reuse/slab/cache:0/n:32'],
     ['left out 1 of shared: needs at least two lcores.* as -l 0,1$',
      r'left out 1 of oversubscribed: needs two lcores on each CPU.* as --lcores \S+$']),
    ('slab', 'pipeline/slab/cache:0/n:32', [],
     ['left out 1 of pipeline: needs two lcores on different CPUs.* as -l 0,1$',
      '^Failed to match any']),
    ('slab', 'oversubscribed/slab/cache:0/n:32/lcores:1', [],
     ['left out 1 of oversubscribed: needs two lcores on each CPU', '^Failed to match any']),
    ('slab', 'thread/(slab|slab-rseq|bucket)/cache:0/n:32/size:64',
     ['thread/slab-rseq/cache:0/n:32/size:64'],
     ['left out 1 of bucket: crashes in threads that are no lcores$']),
    ('slab', '(reuse|scatter)/bucket/cache:0/n:32', ['reuse/bucket/cache:0/n:32'],
     ['left out 1 of bucket: runs dry when objects that lie side by side are not freed together']),
    ('slab', 'trace/slab/cache:0/n:32', [],
     ['left out 1 of trace: needs a capture: --trace FILE$', '^Failed to match any']),
    ('slab', 'reuse/slab/cache:0/n:(512|1024)/size:256/objects:1024',
     ['reuse/slab/cache:0/n:512/size:256/objects:1024'],
     ['left out 1 of reuse: the pool is too small for bursts and caches$']),
]


def run_no_sequences():
    """The C library is told to leave them alone."""
    os.environ['GLIBC_TUNABLES'] = 'glibc.pthread.rseq=0'
    measure('thread/slab-(rseq|lock)/cache:0/n:32/size:64',
            ['thread/slab-lock/cache:0/n:32/size:64'],
            lines=['left out 1 of slab-rseq: the C library or the kernel has no restartable '])
    del os.environ['GLIBC_TUNABLES']


def run_left_out():
    """Without -d, slab is there all the same where it is installed."""
    run_no_sequences()
    installed = os.path.exists(f'{os.environ["SLAB_PMD_DIR"]}/librte_mempool_slab.so')
    for ops, regex, names, lines in LEFT_OUT_CASES:
        if ops == 'slab' or not installed:
            measure(regex, names, ops=ops, lines=lines, status=0 if names else 1)
    if not installed:
        for table in '--table', '--table=threads':
            start([table], ops='ring_mp_mc', status=1,
                  lines=['--table is about slab, which is not loaded: -d'])


def run_no_memory():
    """One pool does not fit: that benchmark ends with an error, and the others run."""
    large = 'reuse/slab/cache:0/n:32/objects:262144'
    report = measure(f'reuse/(slab|array)/cache:0/n:32$|^{large}',
                     ['reuse/slab/cache:0/n:32', 'reuse/array/cache:0/n:32', large],
                     memory='no-huge', need=128, status=1,
                     lines=[r'no memory for 262144 objects .* takes \d+ MB'])
    failed = [b['name'] for b in report['benchmarks'] if b.get('error_occurred')]
    check('no memory', failed == [large], f'errors in {failed}')
    start(['--benchmark_filter=^create/(slab|ring_mp_mc)/'], memory='no-huge', need=64, status=1,
          lines=[f'^slab-bench: no pool of 262144 objects of 256 bytes with {driver}, cache 0: '
                 'Cannot allocate memory; ' for driver in ('slab', 'ring_mp_mc')])


def run_nodes():
    """Pools of slab over all nodes of this machine, which may be one; others' beside them. What is
    wrong is said by slab and by slab-bench, in one line each."""
    names = [f'{pattern}/{driver}/cache:{cache}/n:32' for pattern, driver, cache in
             itertools.product(('scatter', 'shared', 'pipeline'), ('slab', 'ring_mp_mc'), (0, 256))]
    os.environ['MEMPOOL_SLAB'] = 'magazine=64'
    report = measure('((scatter|shared|pipeline)/(slab|ring_mp_mc)/cache:(0|256)/n:32'
                     '|create/slab/.*)', [*names, 'create/slab/size:256/objects:262144'],
                     '--nodes=all', lcores=2, lines=[], need=512)
    given = report['context']['MEMPOOL_SLAB']
    check('nodes', given == 'magazine=64,nodes=all', f'MEMPOOL_SLAB is {given}')
    for nodes, seen in ('0+999', '0+999'), ('0,1', '[0,1]'):
        output = start(['--nodes', nodes, '--benchmark_filter=^reuse/'], status=1,
                       lines=[rf"^slab-bench: --nodes '{re.escape(nodes)}': no pool of slab "])
        told = re.findall(r'^mempool_slab: .* option nodes=(.*): allowed: all', output, re.M)
        check(nodes, told == [seen], f'slab said {told}', output)


PARTS = {
    'one-lcore': lambda: run_patterns(['reuse', 'fallback', 'scatter', 'keep'], 1),
    'two-lcores': lambda: run_patterns(['shared', *PIPELINES], 2),
    'oversubscribed': run_oversubscribed, 'threads': run_threads, 'trace': run_trace,
    'create': run_create, 'table': run_table, 'table-threads': run_table_threads,
    'names': run_names,
    'mistakes': run_mistakes, 'left-out': run_left_out, 'no-memory': run_no_memory,
    'nodes': run_nodes,
}


NEED_TWO_CPUS = 'two-lcores', 'oversubscribed', 'threads', 'names', 'nodes'


def main():
    """On two CPUs at most, so that four lcores are two on each."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2 and sys.argv[1] in NEED_TWO_CPUS:
        dpdkrun.skip('two CPUs are needed, here is one')
    os.sched_setaffinity(0, cpus)
    PARTS[sys.argv[1]]()


if __name__ == '__main__':
    sys.exit(main())
