#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""The model of pool.pml under spin: each configuration searched as a whole, and mutants found.

    run.py [--long] [--programs DIR] GROUP...

Groups are those of CONFIGS, and "mutants". A configuration passes if spin has seen all states and
no error, a mutant if spin has found an error.
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CC = os.environ.get('SLAB_CC', 'cc')
SKIPPED = 77
MOST_DEPTH = 100000

# What pool.pml calls the kinds of steps in which somebody is killed.
PLACES = ('at rest', 'with objects in hand', 'filling its cache', 'with a magazine', 'with a slab',
          'making room', 'in the cache of another', 'taking own slabs')

SOURCES = ('pool', 'check', 'layers', 'user', 'get', 'take', 'put', 'aside')

# What is not said otherwise.
PARAMETERS = {'LCORE_0': 0, 'LCORE_1': 0, 'THREAD': 0, 'OTHER': 0, 'HEIR': 0, 'OPERATIONS': 2,
              'OTHERS': 1, 'SCENE': 0, 'OWN': 0, 'MORTAL': 0, 'DEATHS': 1, 'EARLY': 0,
              'ALONE': 0, 'MUTANT': 0}
FIVE = {'OBJECTS': 5, 'SLAB': 3, 'MAGAZINE': 2, 'CACHE': 4, 'DEPOT': 1}
SIX = {**FIVE, 'OBJECTS': 6}
GET, PUT, BLOCK, TUNE, RECLAIM = 1, 2, 4, 8, 16
BOTH = GET | PUT
# How it begins.
ALL_FREE, FULL_CACHE, IN_PART, FULL_MAGAZINE = range(4)


def of(pool, begin, **more):
    return {**pool, 'SCENE': begin, **more}


def mortal(*who):
    """Processes as pool.pml numbers them."""
    numbers = {'lcore 0': 1, 'lcore 1': 2, 'thread': 3, 'other': 4}
    return sum(1 << numbers[name] for name in who)


LCORE_DIES = {'LCORE_0': BOTH, 'HEIR': BOTH, 'OTHER': RECLAIM, 'MORTAL': mortal('lcore 0')}
TAKER_DIES = {'LCORE_0': BOTH, 'THREAD': 31, 'OTHER': RECLAIM, 'MORTAL': mortal('thread'),
              'OPERATIONS': 1}

CONFIGS = {
    'whole': {
        'two lcores, all free': of(FIVE, ALL_FREE, LCORE_0=BOTH, LCORE_1=BOTH, OTHERS=2),
        'two lcores, a full cache': of(FIVE, FULL_CACHE, LCORE_0=BOTH, LCORE_1=BOTH),
        'two lcores, a full magazine': of(FIVE, FULL_MAGAZINE, LCORE_0=BOTH, LCORE_1=BOTH,
                                          OTHERS=2),
        'lcore and thread': of(FIVE, FULL_CACHE, LCORE_0=BOTH, THREAD=BOTH),
        'two takers': of(FIVE, FULL_CACHE, LCORE_0=PUT, THREAD=GET, OTHER=GET, OPERATIONS=1),
        'two magazines': of({**SIX, 'DEPOT': 2}, FULL_CACHE, LCORE_0=BOTH, THREAD=BOTH, OTHERS=2),
        'no depot, three': of(SIX, IN_PART, LIMIT=0, THREAD=BOTH, OTHER=GET, LCORE_1=GET,
                              OPERATIONS=1),
        'no depot, puts': of(SIX, IN_PART, LIMIT=0, LCORE_0=BOTH, THREAD=BOTH, OTHERS=2,
                             OPERATIONS=1),
        'own slab': of(SIX, IN_PART, LIMIT=0, OWN=1, LCORE_0=BOTH, THREAD=BOTH),
        'two own slabs': of(SIX, IN_PART, LIMIT=0, OWN=2, LCORE_0=BOTH, THREAD=BOTH, OTHERS=2),
        'tune': of(FIVE, FULL_CACHE, LCORE_0=BOTH, THREAD=PUT | GET | TUNE),
        'tune, a full magazine': of(FIVE, FULL_MAGAZINE, LCORE_0=BOTH, THREAD=GET, OTHER=TUNE),
        'block': of(FIVE, FULL_CACHE, LCORE_0=BOTH, THREAD=BLOCK),
        'block, a full magazine': of(FIVE, FULL_MAGAZINE, LCORE_0=BOTH, THREAD=BLOCK | PUT,
                                     OTHERS=2),
    },
    'death': {
        'lcore': of(FIVE, ALL_FREE, **LCORE_DIES),
        'lcore, a full cache': of(FIVE, FULL_CACHE, **LCORE_DIES),
        'lcore, parks early': of(FIVE, FULL_CACHE, EARLY=1, **LCORE_DIES),
        'lcore, a full magazine': of(FIVE, FULL_MAGAZINE, **LCORE_DIES, OPERATIONS=3),
        'lcore, own slabs': of(SIX, IN_PART, LIMIT=0, OWN=2, **LCORE_DIES),
        'lcore, and a taker': of(FIVE, FULL_CACHE, **{**LCORE_DIES, 'HEIR': PUT}, THREAD=GET),
        'taker': of(FIVE, FULL_CACHE, **TAKER_DIES),
        'taker, a full magazine': of(FIVE, FULL_MAGAZINE, **TAKER_DIES),
        'two lcores': of(FIVE, FULL_CACHE, LCORE_0=BOTH, LCORE_1=BOTH, OTHER=RECLAIM, OPERATIONS=1,
                         MORTAL=mortal('lcore 0', 'lcore 1'), DEATHS=2),
        'lcore, and who reclaims': of(FIVE, FULL_CACHE, LCORE_0=PUT, THREAD=RECLAIM, OTHER=RECLAIM,
                                      MORTAL=mortal('lcore 0', 'other'), DEATHS=2, OPERATIONS=1),
    },
    'alone': {
        'a full cache': of(FIVE, FULL_CACHE, ALONE=1, LCORE_0=BOTH, THREAD=BOTH),
        'all free': of(FIVE, ALL_FREE, ALONE=1, LCORE_0=BOTH, THREAD=GET | BLOCK | TUNE),
        'two lcores': of(FIVE, FULL_MAGAZINE, ALONE=1, LCORE_0=BOTH, LCORE_1=BOTH),
    },
    'long': {
        'two lcores and a thread': of(FIVE, FULL_CACHE, LCORE_0=BOTH, LCORE_1=BOTH, THREAD=BOTH),
        'three operations': of(FIVE, FULL_CACHE, LCORE_0=BOTH, THREAD=BOTH, OPERATIONS=3, OTHERS=3),
        'lcore, heir, taker': of(FIVE, FULL_CACHE, **LCORE_DIES, THREAD=BOTH),
        'two takers die': of(SIX, FULL_CACHE, LIMIT=0, LCORE_0=BOTH, LCORE_1=BOTH, THREAD=BOTH,
                             MORTAL=mortal('lcore 1', 'thread'), DEATHS=2, OPERATIONS=1),
        'lcore, heir, two reclaim': of(FIVE, FULL_CACHE, LCORE_0=BOTH, HEIR=GET, THREAD=RECLAIM,
                                       OTHER=RECLAIM, MORTAL=mortal('lcore 0', 'other'), DEATHS=2,
                                       OPERATIONS=1),
        'heir rests on own slabs': of(SIX, IN_PART, LIMIT=1, OWN=1, LCORE_0=GET, THREAD=BOTH, HEIR=GET,
                                      OTHERS=3, OPERATIONS=1, MORTAL=mortal('lcore 0')),
        'three, one alone': of(FIVE, FULL_CACHE, ALONE=1, LCORE_0=BOTH, LCORE_1=BOTH, THREAD=BOTH,
                               OPERATIONS=1),
    },
}

# Name in pool.pml, and the configuration in which it has to be found, which is right without it.
MUTANTS = (
    ('PARK_FIRST', 'death', 'lcore, a full cache'),
    ('CLAIM_TWICE', 'whole', 'two takers'),
    ('NOT_LOOKING', 'whole', 'lcore and thread'),
    ('NO_FENCE', 'whole', 'lcore and thread'),
    ('ALWAYS_PUSH', 'whole', 'no depot, puts'),
    ('NO_TAG', 'whole', 'no depot, three'),
    ('BLIND_RECLAIM', 'death', 'lcore, a full cache'),
    ('FORGET', 'whole', 'lcore and thread'),
    ('LEN_FIRST', 'death', 'lcore'),
    ('KEEP_LEN', 'death', 'lcore, a full cache'),
    ('KEEP_MARK', 'death', 'lcore'),
    ('STAY_SHUT', 'whole', 'lcore and thread'),
    ('WAIT', 'alone', 'a full cache'),
    ('DROP_TRIMMED', 'whole', 'tune'),
    ('NEVER_PUSH', 'whole', 'no depot, puts'),
    ('NEVER_SHUT', 'whole', 'lcore and thread'),
    ('LEAD_ON', 'whole', 'own slab'),
)


def call(argv, directory, env=None, limit=120):
    try:
        done = subprocess.run(argv, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=env, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f'{argv[0]} took more than {limit} s')
    if done.returncode != 0:
        sys.exit(f'{argv[0]} ended with status {done.returncode}:\n{done.stdout}')
    return done.stdout


def sources():
    return {name: pathlib.Path(HERE, f'{name}.pml').read_text('utf-8') for name in SOURCES}


def program(shape, optimize, directory):
    """Path of the program that searches pools of this shape: made once for all who ask for it."""
    defines = [f'-D{name}={value}' for name, value in sorted(shape.items())]
    text = ' '.join([CC, optimize, *defines, *sources().values()])
    where = os.path.join(directory, hashlib.sha256(text.encode()).hexdigest()[:12])
    os.makedirs(where, exist_ok=True)
    with open(os.path.join(where, 'lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(where, 'pan')):
            for name, source in sources().items():
                pathlib.Path(where, f'{name}.pml').write_text(source, 'utf-8')
            call(['spin', '-a', *defines, 'pool.pml'], where)
            call([CC, optimize, '-w', '-DSAFETY', '-DCOLLAPSE', '-DNOFAIR', '-DVECTORSZ=2048',
                  '-DMEMLIM=8000', '-o', 'pan.new', 'pan.c'], where)
            os.rename(os.path.join(where, 'pan.new'), os.path.join(where, 'pan'))
    return os.path.join(where, 'pan')


def number_of(mutant):
    found = re.search(rf'^#define {mutant} (\d+)', sources()['pool'], re.M)
    if found is None:
        sys.exit(f'pool.pml has no mutant {mutant}')
    return int(found.group(1))


class Search:
    """What a search of one configuration came to."""

    def __init__(self, config, is_long, directory):
        self.parameters = {**PARAMETERS, 'LIMIT': config['DEPOT'], **config}
        shape = {name: self.parameters.pop(name) for name in FIVE}
        pan = program(shape, '-O2' if is_long else '-Og', directory)
        # Who stands still while one goes on alone is in no end state; that one's is asserted.
        ends = ['-E'] if self.parameters['ALONE'] else []
        self.argv = [pan, f'-m{MOST_DEPTH}', '-w26' if is_long else '-w22', '-n', *ends]
        env = {**os.environ, **{name: str(value) for name, value in self.parameters.items()}}
        start = time.monotonic()
        # In a directory of its own: trails of searches at the same time have one name.
        with tempfile.TemporaryDirectory() as scratch:
            self.output = call(self.argv, scratch, env, 7200 if is_long else 200)
        self.seconds = time.monotonic() - start
        self.errors = int(self.find(r'errors: (\d+)'))
        self.states = int(float(self.find(r'([\d.e+]+) states, stored')))
        self.depth = int(self.find(r'depth reached (\d+)'))
        self.lost = {int(at): int(n) for at, n in re.findall(r'^lost: (\d+) (\d+)', self.output,
                                                             re.M)}

    def find(self, pattern):
        found = re.search(pattern, self.output)
        if found is None:
            sys.exit(f'no "{pattern}" in what pan says:\n{self.output}')
        return found.group(1)

    def complete(self):
        return not re.search(r'max search depth too small|Search not completed|out of memory|'
                             r'memory limit|hash table full', self.output)

    def why(self):
        found = re.search(r'pan:\d+: (.*) \(at depth', self.output)
        return ' '.join(found.group(1).split())[:60] if found else ''


class Runner:
    def __init__(self, directory, is_long):
        self.directory, self.is_long = directory, is_long
        self.failed, self.searched, self.lost = 0, 0, {}

    def search(self, config):
        return Search(config, self.is_long, self.directory)

    def say(self, good, title, search, end):
        self.searched += 1
        self.failed += not good
        print(f'{"ok" if good else "FAILED":6} {title:34} {search.states:10} states, depth '
              f'{search.depth:6}, {search.seconds:6.1f} s, errors: {search.errors}, {end}',
              flush=True)
        if not good:
            print('       repeat:', *(f'{k}={v}' for k, v in search.parameters.items() if v),
                  *search.argv)

    def run(self, group, title):
        search = self.search(CONFIGS[group][title])
        whole = search.complete()
        end = 'complete' if whole else 'NOT complete'
        self.say(whole and search.errors == 0, title, search, f'{end} {search.why()}'.strip())
        for at, n in search.lost.items():
            if search.parameters['DEATHS'] == 1:
                self.lost[at] = max(n, self.lost.get(at, 0))

    def run_mutant(self, name, group, title):
        search = self.search({**CONFIGS[group][title], 'MUTANT': number_of(name)})
        self.say(search.errors != 0, name, search, search.why() or 'NOT FOUND')

    def run_group(self, group):
        if group == 'mutants':
            for mutant in MUTANTS:
                self.run_mutant(*mutant)
            return
        for title in CONFIGS[group]:
            self.run(group, title)
        if group == 'death':
            self.say_lost()

    def say_lost(self):
        """Each kind of step must have seen a death, or the table of losses proves nothing."""
        for at, place in enumerate(PLACES):
            if at in self.lost:
                print(f'       killed {place}: {self.lost[at]} objects lost at most')
            else:
                print(f'FAILED nobody was killed {place}')
                self.failed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--long', action='store_true', help='optimize, and let each take two hours')
    parser.add_argument('--programs', metavar='DIR', help='where programs are left for others')
    parser.add_argument('groups', nargs='+', choices=[*CONFIGS, 'mutants'])
    args = parser.parse_args()
    if shutil.which('spin') is None:
        print('skipped: spin is not installed')
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(args.programs or scratch, args.long)
        for group in args.groups:
            runner.run_group(group)
    print(f'{runner.searched - runner.failed} of {runner.searched} as expected')
    return 1 if runner.failed else 0


if __name__ == '__main__':
    sys.exit(main())
