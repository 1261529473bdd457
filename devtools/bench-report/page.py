# SPDX-License-Identifier: BSD-3-Clause

"""The page: machine, targets, and for each group its plots, how to read them, and its figures."""

import json
import os
import platform
import re
import subprocess
import time
from html import escape

import groups
import targets

STYLE = '''body { font: 16px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em }
img { max-width: 100% } table { border-collapse: collapse; margin: 1em 0 }
td, th { border: 1px solid #bbb; padding: .2em .6em; text-align: left; vertical-align: top }
.number { text-align: right; white-space: nowrap } .yes { background: #d8f0d8 }
.no { background: #f8dcdc } .failed { background: #f8dcdc; padding: .5em }
code, td { font-size: 90% }
code { overflow-wrap: anywhere }'''

HOW = '''Each mark is the median over the repetitions, each bar spans the quartiles: half of the
repetitions lie within. All benchmarks of a group ran in one process, in random order over all
repetitions; those of testpmd in processes of their own, in turns. Cycles are those of the TSC,
which counts at a constant rate: they are time. What the empty loop costs has been taken off, but in
pipelines. Scales are logarithmic, but that of testpmd is not.'''

# Title, and how its plots are read.
TEXTS = {
    'reuse': ('One lcore, no cache in front', '''One lcore gets n objects and puts them back. Lower
is better. <code>array</code> is no pool: for one lcore alone, it copies pointers from and to the
end of a row.'''),
    'cached': ("One lcore, rte_mempool's cache in front", '''As above, with a cache of 512 objects
by lcore. While bursts fit into the cache, no driver is called, and all should be alike; differences
there are noise, or those of memory. Larger bursts go to the driver.'''),
    'shared': ('Two lcores on one pool', '''Both lcores do what the one above does, at once and on
the same pool. Cycles are those of an lcore for an object. A driver that scales shows here what it
shows alone.'''),
    'pipeline': ('One lcore gets, another puts', '''One lcore gets 32 objects, writes two lines of
each and sends them through a ring; the other reads and puts them. Cycles that pass between two
objects include that writing, the ring and the waiting: they cannot go below what those cost. In
<code>pipeline_scatter</code>, the objects of the pool lie in random order at the start. The
third plot shows what both lcores spend inside get and put alone. Figures across CPUs vary most of
all: look at the bars first.'''),
    'scatter': ('Objects in mixed order', '''One lcore exchanges each object that it gets for one
of 4,000 held at random, and puts that. The plots are of pools whose objects are not written; the
list below and the targets have those with two lines written, too.'''),
    'oversubscribed': ('Two lcores on each CPU', '''Four lcores on two CPUs share a pool, and get
preempted in the middle of a get or put. Higher is better. A driver in which one waits for another
stands still until that one runs again; such runs end after a second.'''),
    'bulk': ('In bulk against one by one', '''The same number of objects, got and put with one call
or with one call each.'''),
    'sizes': ("The pool's size", '''One lcore gets and puts 32 objects of 256 bytes from pools of
three sizes. Objects are not written, so this is the cost of the driver and its own memory.'''),
    'create': ('Making a pool', '''A pool of 262,144 objects of 256 bytes is made in hugepages and
freed again: what an application waits for when it starts. Most of it is rte_mempool's own work.'''),
    'testpmd': ('An application: testpmd', '''dpdk-testpmd forwards between net_null's receive and
transmit, which makes and drops packets without any work: nothing but the pool and testpmd's own
loop. Higher is better.'''),
}

HEAD = ('What', 'Limit', 'Median', 'Quartiles', 'Within', '')


def read(path):
    try:
        with open(path, encoding='utf-8') as f:
            return f.read()
    except OSError:
        return ''


def first(regex, text, default='unknown'):
    found = re.search(regex, text, re.MULTILINE)
    return found.group(1) if found else default


def said(*argv):
    """What a program prints; nothing where there is none."""
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ''


def commit():
    root = os.path.dirname(os.path.abspath(__file__))
    return said('git', '-C', root, 'describe', '--always', '--dirty', '--abbrev=12') or 'unknown'


def compilers(build):
    """The first line that each compiler says of itself."""
    commands = json.loads(read(f'{build}/compile_commands.json') or '[]')
    names = sorted({c['command'].split()[0] for c in commands})
    return '; '.join(said(name, '--version').split('\n')[0] for name in names) or 'unknown'


def machine(build, eal, done):
    cpu, meminfo = read('/proc/cpuinfo'), read('/proc/meminfo')
    context = next((g.context for g in done.values() if 'dpdk' in g.context), {})
    guest = ', a virtual machine' if re.search(r'^flags.*\bhypervisor\b', cpu, re.M) else ''
    yield 'CPU', f'{first("^model name[^:]*: (.*)", cpu)}, {os.cpu_count()} CPUs{guest}'
    yield 'TSC', f'{context.get("tsc_mhz", "?")} MHz; reading it: {context.get("clock", "?")}'
    yield 'Memory', ('4 kB pages (--no-huge)' if '--no-huge' in eal else
                     f'{first("^HugePages_Total: *(.*)", meminfo)} hugepages of '
                     f'{first("^Hugepagesize: *(.*)", meminfo)}')
    yield 'Kernel', f'{platform.system()} {platform.release()}'
    yield 'DPDK', context.get('dpdk', 'unknown')
    yield 'Compiler', compilers(build)
    yield 'mempool-slab', f'commit {commit()}'
    yield 'MEMPOOL_SLAB', context.get('MEMPOOL_SLAB', 'not set')
    yield 'Finished', time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime())


def table(head, lines, of=''):
    """Cells are HTML already; where a cell is (class, text), it is of that class."""
    def cell(c, tag):
        kind, text = c if isinstance(c, tuple) else ('', c)
        return f'<{tag} class="{kind}">{text}</{tag}>' if kind else f'<{tag}>{text}</{tag}>'
    rows = [''.join(cell(c, 'th') for c in head)] if head else []
    rows += [''.join(cell(c, 'td') for c in line) for line in lines]
    return f'<table{of}>' + '\n'.join(f'<tr>{r}</tr>' for r in rows) + '</table>\n'


def number(text):
    return ('number', text)


def verdict(o):
    if not o.rows:
        return 'not measured'
    return ('yes', 'reached') if o.reached else ('no', 'not reached')


def target_row(o):
    t = o.target
    limit = f'{"at most" if t.most else "at least"} {t.limit:g}'
    if not o.rows:
        return escape(t.text), number(limit), '', '', '', verdict(o)
    name, median, low, high = o.rows[0]
    worst = f'<br>worst: <code>{escape(name)}</code>' if len(t.pairs) > 1 else ''
    return (escape(t.text) + worst, number(limit), number(f'{median:.3g}'),
            number(f'{low:.3g} to {high:.3g}'), number(f'{o.within} of {len(o.rows)}'), verdict(o))


def target_section(done):
    outcomes = targets.judge_all(done)
    reached = sum(o.reached for o in outcomes)
    return (f'<h2>Targets</h2>\n<p>{reached} of {len(outcomes)} are reached. Each figure is the '
            'median of ratios: the first repetition of slab over the first of what it is compared '
            'with, the second over the second, and so on, all of one group and run in random '
            'order. Quartiles are of those ratios, so they show what the machine did to both. '
            'Where a target is about several cases or peers, each has to be within the limit, and '
            'the row shows the worst. The worst of many medians is worse than most by chance '
            'alone: see how many are within.</p>\n' + table(HEAD, map(target_row, outcomes)))


def in_order(name):
    """With the numbers in it as numbers."""
    return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', name)]


def all_figures(results):
    for name in sorted(results.entries, key=in_order):
        for counter in ('cycles_per_obj', 'pool_cycles', 'Mobjs_per_s', 'Mpps'):
            found = results.summary(name, counter)
            if found is not None:
                yield (f'<code>{escape(name)}</code>', counter,
                       *(number(f'{x:.4g}') for x in found),
                       number(len(results.values(name, counter))))


def group_section(name, results, figures):
    title, text = TEXTS[name]
    group, load = results.group, results.context.get('load_avg')
    load = f'; load at the start {load[0]:.1f}' if load else ''
    failed = (f'<p class="failed">Failed: {escape(results.failure)}.</p>\n'
              if results.failure else '')
    lines = ''.join(f'<li><code>{escape(line)}</code></li>\n' for line in group.said)
    images = ''.join(f'<p><img src="{file}" alt="{escape(plot.title)}"></p>\n'
                     for plot, file in figures if file)
    return (f'<h2 id="{name}">{title}</h2>\n<p>{text}</p>\n{failed}{images}'
            f'<p>Group <code>{name}</code>: {len(results.entries)} benchmarks, {group.repetitions} '
            f'repetitions, {group.seconds:.0f} s{load}. <a href="{name}.json">JSON</a>.</p>\n'
            f'<ul>{lines}</ul>\n<details><summary>All figures</summary>\n' +
            table(('Benchmark', 'Counter', 'Median', 'Lower quartile', 'Upper quartile',
                   'Repetitions'),
                  all_figures(results)) + '</details>\n')


def write(out, build, eal, done, figures):
    seconds = sum(g.group.seconds for g in done.values())
    quick = ('<p class="failed">A trial with two short repetitions: these figures are worth '
             'nothing.</p>\n' if groups.QUICK else '')
    facts = table((), ((k, escape(v)) for k, v in machine(build, eal, done)))
    sections = ''.join(group_section(name, g, figures[name]) for name, g in done.items())
    path = os.path.join(out, 'index.html')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('<!DOCTYPE html>\n<!-- SPDX-License-Identifier: BSD-3-Clause -->\n'
                '<html lang="en"><head><meta charset="utf-8"><title>slab-bench report</title>\n'
                f'<style>{STYLE}</style></head><body>\n<h1>slab-bench report</h1>\n{quick}{facts}'
                f'<p>Measured in {seconds / 60:.1f} minutes. {HOW}</p>\n{target_section(done)}'
                f'{sections}</body></html>\n')
    return path
