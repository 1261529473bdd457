# SPDX-License-Identifier: BSD-3-Clause

"""The plots: medians with quartiles, drawn by gnuplot."""

import os
import subprocess
from collections import namedtuple

from groups import KERNEL_SIZES, SCATTER_SIZES, SHARED_SIZES, SIZES

# Colour and mark of each series.
STYLES = {
    'slab': ('#d00000', 7), 'ring_mp_mc': ('#0050c0', 5), 'ring_sp_sc': ('#60a0ff', 4),
    'ring_mt_rts': ('#008080', 9), 'ring_mt_hts': ('#40c0c0', 8), 'stack': ('#208020', 11),
    'lf_stack': ('#90c020', 10), 'bucket': ('#a050c0', 13), 'array': ('#606060', 2),
}
BULK_STYLES = {
    'reuse/slab': ('#d00000', 7), 'fallback/slab': ('#ff9090', 6),
    'reuse/ring_mp_mc': ('#0050c0', 5), 'fallback/ring_mp_mc': ('#80a0ff', 4),
}
CYCLES = 'cycles by object'

# points: (x or label, name with {} where the series stands).
Plot = namedtuple('Plot', 'group file title xlabel ylabel counter styles points')


def by_burst(group, file, title, name, sizes, styles=None):
    return Plot(group, file, title, 'objects in a burst (n)', CYCLES, 'cycles_per_obj',
                styles or STYLES, [(n, name.replace('N', str(n))) for n in sizes])


def by_case(group, file, title, ylabel, counter, points):
    return Plot(group, file, title, '', ylabel, counter, STYLES, points)


def pools(pattern):
    return [(f'{size} objects\\ncache {c}', f'{pattern}/{{}}/cache:{c}/n:32/touch:2{part}')
            for size, part in (('16,384', ''), ('262,144', '/objects:262144')) for c in (0, 512)]


PLOTS = (
    by_burst('reuse', 'reuse-0', 'reuse, cache 0', 'reuse/{}/cache:0/n:N', SIZES),
    by_burst('cached', 'reuse-512', 'reuse, cache 512', 'reuse/{}/cache:512/n:N', SIZES),
    by_burst('shared', 'shared-0', 'shared by two lcores, cache 0', 'shared/{}/cache:0/n:N',
             SHARED_SIZES),
    by_burst('shared', 'shared-512', 'shared by two lcores, cache 512', 'shared/{}/cache:512/n:N',
             SHARED_SIZES),
    by_case('pipeline', 'pipeline', 'pipeline, n=32, two lines written',
            'cycles that pass by object', 'cycles_per_obj', pools('pipeline')),
    by_case('pipeline', 'pipeline-scatter', 'pipeline_scatter, n=32, two lines written',
            'cycles that pass by object', 'cycles_per_obj', pools('pipeline_scatter')),
    by_case('pipeline', 'pipeline-pool', "the pool's own share, 262,144 objects",
            'cycles in get and put by object', 'pool_cycles',
            [(f'{p}\\ncache {c}', f'{p}/{{}}/cache:{c}/n:32/touch:2/objects:262144')
             for p in ('pipeline', 'pipeline_scatter') for c in (0, 512)]),
    by_burst('scatter', 'scatter-0', 'scatter, 4,000 held, cache 0', 'scatter/{}/cache:0/n:N',
             SCATTER_SIZES),
    by_burst('scatter', 'scatter-512', 'scatter, 4,000 held, cache 512',
             'scatter/{}/cache:512/n:N', SCATTER_SIZES),
    by_case('oversubscribed', 'oversubscribed', 'four lcores on two CPUs, n=32',
            'million objects a second', 'Mobjs_per_s',
            [(f'cache {c}', f'oversubscribed/{{}}/cache:{c}/n:32') for c in (0, 512)]),
    by_burst('bulk', 'bulk', 'one by one (fallback) and in bulk (reuse), 256-byte objects, cache 0',
             '{}/cache:0/n:N/size:256', KERNEL_SIZES, BULK_STYLES),
    by_case('sizes', 'sizes', "reuse by the pool's size, 256-byte objects, n=32, cache 0", CYCLES,
            'cycles_per_obj',
            [(f'{size} objects', f'reuse/{{}}/cache:0/n:32/size:256{part}') for size, part in
             (('1,024', '/objects:1024'), ('16,384', ''), ('1,048,576', '/objects:1048576'))]),
    by_case('create', 'create', 'a pool of 262,144 objects is made', CYCLES, 'cycles_per_obj',
            [('', 'create/{}/size:256/objects:262144')]),
    by_case('testpmd', 'testpmd', 'testpmd, io forwarding over net_null',
            'million packets a second', 'Mpps',
            [(f'cache {c}', f'testpmd/{{}}/cache:{c}') for c in (0, 256)]),
)


def is_by_burst(plot):
    return isinstance(plot.points[0][0], int)


def rows(plot, results, series):
    """x, median and quartiles. A logarithmic scale shows nothing below zero."""
    for i, (x, name) in enumerate(plot.points):
        found = results.summary(name.format(series), plot.counter)
        if found is not None and found[0] > 0:
            median, low, high = found
            yield x if is_by_burst(plot) else i, median, max(low, median / 100), high


def all_series(plot, results):
    """Series that have figures; where x is a case, their marks stand side by side."""
    found = {s: list(rows(plot, results, s)) for s in plot.styles}
    found = {s: r for s, r in found.items() if r}
    if is_by_burst(plot):
        return found
    return {s: [(x + (i - (len(found) - 1) / 2) * 0.07, *rest) for x, *rest in r]
            for i, (s, r) in enumerate(found.items())}


def x_axis(plot):
    if is_by_burst(plot):
        tics = ', '.join(str(x) for x, _ in plot.points if x & (x - 1) == 0)
        return f'set logscale x\nset xtics ({tics})\nset xrange [0.9:{plot.points[-1][0] * 1.1}]\n'
    tics = ', '.join(f'"{x}" {i}' for i, (x, _) in enumerate(plot.points))
    return f'set bmargin 3\nset xtics ({tics})\nset xrange [-0.5:{len(plot.points) - 0.5}]\n'


def y_axis(plot, series):
    if plot.counter == 'Mpps':
        return 'set yrange [0:*]\n'
    low = min(row[2] for points in series.values() for row in points)
    high = max(row[3] for points in series.values() for row in points)
    tics = ', '.join(f'{m}e{e}' for e in range(-3, 6) for m in (1, 2, 5))
    return f'set logscale y\nset ytics ({tics})\nset yrange [{low * 0.8}:{high * 1.25}]\n'


def script(plot, series, path):
    blocks = ''.join(f'$s{i} << END\n' + ''.join(f'{" ".join(map(str, r))}\n' for r in points) +
                     'END\n' for i, points in enumerate(series.values()))
    how = 'yerrorlines' if is_by_burst(plot) else 'yerrorbars'
    lines = ', '.join(f'$s{i} with {how} lc rgb "{plot.styles[s][0]}" '
                      f'pt {plot.styles[s][1]} lw {2 if "slab" in s else 1} title "{s}"'
                      for i, s in enumerate(series))
    return (f'set terminal svg size 860,480 noenhanced font "sans-serif,13" background "white"\n'
            f'set output "{path}"\nset title "{plot.title}"\nset xlabel "{plot.xlabel}"\n'
            f'set ylabel "{plot.ylabel}"\nset grid\nset key outside right\n'
            f'{x_axis(plot)}{y_axis(plot, series)}{blocks}plot {lines}\n')


def draw(out, plot, results):
    """The file's name; None when there is nothing to draw."""
    series = all_series(plot, results)
    path = os.path.join(out, f'{plot.file}.svg')
    if os.path.exists(path):
        os.remove(path)
    if not series:
        return None
    subprocess.run(['gnuplot'], input=script(plot, series, path), text=True, check=True)
    return f'{plot.file}.svg'


def draw_all(out, done):
    """(plot, file) of each group."""
    return {name: [(p, draw(out, p, r)) for p in PLOTS if p.group == name]
            for name, r in done.items()}
