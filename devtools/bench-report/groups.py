# SPDX-License-Identifier: BSD-3-Clause

"""The groups of benchmarks, one process each, and how they are run."""

import os
import subprocess
import sys
import tempfile
import time

QUICK = bool(os.environ.get('BENCH_QUICK'))
TIMEOUT = 240   # seconds for a group
MIN_TIME = 0.002 if QUICK else 0.02

# A group has what its plots and targets need: each benchmark costs half a second.
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024)
SCATTER_SIZES = SHARED_SIZES = (1, 8, 32, 64, 256)
KERNEL_SIZES = (1, 2, 3, 4, 8, 16, 30, 32, 34, 48, 64, 128, 158, 250)


def any_of(sizes):
    return f'n:({"|".join(map(str, sizes))})'


# Name, repetitions, and what is run: regular expressions for all of a name.
GROUPS = (
    ('reuse', 15, f'reuse/[a-z_]+/cache:0/{any_of(SIZES)}',
     f'reuse/ring_mp_mc/cache:256/{any_of(n for n in SIZES if n >= 32)}'),
    ('cached', 15, f'reuse/[a-z_]+/cache:(256|512)/{any_of(SIZES)}'),
    ('shared', 15, f'shared/[a-z_]+/cache:(0|512)/{any_of(SHARED_SIZES)}',
     'reuse/slab/cache:0/n:32'),
    ('pipeline', 15, 'pipeline(_scatter)?/[a-z_]+/cache:(0|512)/n:32/touch:2(/objects:262144)?',
     'pipeline_scatter/[a-z_]+/cache:512/n:32/touch:2/hold:4000/objects:262144'),
    ('scatter', 15, f'scatter/[a-z_]+/cache:(0|512)/{any_of(SCATTER_SIZES)}(/touch:2)?'),
    ('oversubscribed', 9, 'oversubscribed/[a-z_]+/cache:(0|512)/n:32'),
    ('bulk', 15, f'(reuse|fallback)/(slab|ring_mp_mc)/cache:0/{any_of(KERNEL_SIZES)}/size:256'),
    ('sizes', 15, 'reuse/[a-z_]+/cache:0/n:32/size:256(/objects:[0-9]+)?'),
    ('create', 9, 'create/[a-z_]+/size:256/objects:262144'),
    ('testpmd', 5),
)


def say(text, end='\n'):
    print(f'bench-report.sh: {text}', end=end, file=sys.stderr, flush=True)


class Group:
    """What is known of a group besides its figures."""

    def __init__(self, name, repetitions, *patterns):
        self.name = name
        self.repetitions = min(2, repetitions) if QUICK else repetitions
        self.patterns = patterns
        self.status = self.seconds = None
        self.said = []

    def keep_words(self, text):
        """The programs' own lines, each once; without any, the last one of all."""
        lines = text.splitlines()
        own = [line for line in lines if line.startswith(('slab-bench: ', 'testpmd: '))]
        self.said = list(dict.fromkeys(own if own or self.status == 0 else lines[-1:]))


class Runner:
    def __init__(self, out, build, eal, cpus):
        self.out, self.build, self.eal, self.cpus = out, build, eal, cpus
        self.start = time.monotonic()

    def lcores(self, group):
        a, b = self.cpus
        twice = f',2@{a},3@{b}' if group.name == 'oversubscribed' else ''
        return ['--lcores', f'0@{a},1@{b}{twice}']

    def argv(self, group, json):
        eal = self.lcores(group) + self.eal
        if group.name == 'testpmd':
            script = os.path.join(os.path.dirname(__file__), 'testpmd.py')
            return [sys.executable, '-B', script, json, str(group.repetitions), *eal]
        return [f'{self.build}/apps/slab-bench/slab-bench', *eal, '--',
                f'--benchmark_filter=^({"|".join(group.patterns)})$',
                f'--benchmark_min_time={MIN_TIME}', f'--benchmark_out={json}',
                f'--benchmark_repetitions={group.repetitions}',
                '--benchmark_enable_random_interleaving=true']

    def progress(self, i, group, started, end):
        now = time.monotonic()
        say(f'{i} of {len(GROUPS)}: {group.name}, {now - started:.0f} s '
            f'({now - self.start:.0f} s in all)', end)

    def wait(self, i, group, process, started):
        while process.poll() is None:
            if time.monotonic() - started > TIMEOUT:
                process.terminate()
            if sys.stderr.isatty():
                self.progress(i, group, started, '  \r')
            time.sleep(0.2)
        return process.returncode

    def run(self, i, group):
        json = os.path.join(self.out, f'{group.name}.json')
        started = time.monotonic()
        if os.path.exists(json):
            os.remove(json)
        with tempfile.TemporaryFile('w+') as errors:
            process = subprocess.Popen(self.argv(group, json), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=errors)
            try:
                group.status = self.wait(i, group, process, started)
            finally:
                process.kill()
            errors.seek(0)
            group.keep_words(errors.read())
        group.seconds = time.monotonic() - started
        failed = '' if group.status == 0 else f', failed ({group.status})'
        self.progress(i, group, started, f'{failed}\n')

    def run_all(self):
        for i, what in enumerate(GROUPS, 1):
            group = Group(*what)
            self.run(i, group)
            yield group
