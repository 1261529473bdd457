#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""rseq.py [long]: searches rseq.pml, with spin, for all that can happen: as it is, and with each mutant.

As it is nothing may be found, and the search has to be complete; each mutant has to be found by one of
the casts at least. The long search has threads that get and put twice, with a taker.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rseq.pml')
CASTS = {
    'two threads, taker of theirs': 'ROUNDS=1 TAKERS_A=1',
    'two threads, taker of another process': 'ROUNDS=1 TAKERS_B=1',
    'threads of two processes': 'THREADS_A=1 THREADS_B=1',
    'threads of two processes, taker': 'ROUNDS=1 THREADS_A=1 THREADS_B=1 TAKERS_A=1',
    'a thread and two takers': 'ROUNDS=1 THREADS_A=1 TAKERS_A=1 TAKERS_B=1',
}
LONG = {
    'two threads, twice, taker of theirs': 'TAKERS_A=1',
    'two threads, twice, taker of another process': 'TAKERS_B=1',
}


def fail(why):
    sys.exit(f'rseq.py: {why}')


def run(argv, directory):
    done = subprocess.run(argv, cwd=directory, capture_output=True, text=True, timeout=600,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def search(directory, defines):
    """Whether something was found, and how many states there are."""
    for argv in (['spin', '-a', *(f'-D{d}' for d in defines), MODEL],
                 ['gcc', '-O1', '-DSAFETY', '-DCOLLAPSE', '-o', 'pan', 'pan.c']):
        status, output = run(argv, directory)
        if status != 0:
            fail(f'{argv[0]}: {output}')
    _, output = run(['./pan', '-m1000000'], directory)
    errors = re.search(r'errors: (\d+)', output)
    states = re.search(r'(\d+(?:e\+\d+)?) states, stored', output)
    if errors is None or states is None or 'too small' in output or 'out of memory' in output:
        fail(f'the search did not end: {output}')
    return errors[1] != '0', states[1]


def mutants():
    with open(MODEL, encoding='utf-8') as f:
        return sorted(set(re.findall(r'MUTANT_\w+', f.read())))


def main():
    if shutil.which('spin') is None:
        print('skipped: spin is not installed')
        sys.exit(77)
    casts = LONG if sys.argv[1:] == ['long'] else CASTS
    with tempfile.TemporaryDirectory() as directory:
        for name, defines in casts.items():
            found, states = search(directory, defines.split())
            print(f'{name}: {states} states, {"an error" if found else "no error"}', flush=True)
            if found:
                fail(f'{name}: this must not happen')
        if casts is LONG:
            return
        for mutant in mutants():
            by = next((name for name, defines in CASTS.items()
                       if search(directory, [*defines.split(), mutant])[0]), None)
            print(f'{mutant}: {"caught with " + by if by else "SURVIVES"}', flush=True)
            if by is None:
                fail(f'{mutant} survives')


if __name__ == '__main__':
    main()
