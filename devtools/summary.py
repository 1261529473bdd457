#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""summary.py BUILD|NAME:STATUS:FILE...: adds up what meson recorded of the last test run in each build
directory, and what else was run, as one test each: a name, its status, and what it printed.

Prints the output of what failed and the reason of what was skipped, and last the counts. Fails
when anything failed, when nothing passed, or when a run left no record.
"""

import json
import os
import sys

PASSED = ('OK', 'EXPECTEDFAIL')


def read(build):
    if build.count(':') == 2:
        name, status, path = build.split(':')
        with open(path, encoding='utf-8') as f:
            return [{'name': name, 'result': 'OK' if status == '0' else 'FAIL',
                     'stdout': f.read()}]
    path = os.path.join(build, 'meson-logs', 'testlog.json')
    try:
        with open(path, encoding='utf-8') as f:
            return [json.loads(line) for line in f]
    except OSError as error:
        return [{'name': build, 'result': 'ERROR', 'stdout': f'no record of a run: {error}'}]


def output(test):
    return (test.get('stdout', '') + test.get('stderr', '')).strip()


def reason(test):
    """The line that says so, else the last one."""
    lines = output(test).splitlines() or ['no reason given']
    return next((line for line in lines if line.lower().startswith('skip')), lines[-1])


def main():
    tests = [(os.path.basename(build.split(':')[0]), test)
             for build in sys.argv[1:] for test in read(build)]
    skipped = [(where, test) for where, test in tests if test['result'] == 'SKIP']
    failed = [(where, test) for where, test in tests
              if test['result'] != 'SKIP' and test['result'] not in PASSED]
    for where, test in failed:
        print(f'\n{"=" * 80}\n{where}: {test["name"]}: {test["result"]}\n{output(test)[-20000:]}')
    for where, test in skipped:
        print(f'{where}: {test["name"]}: {reason(test)}')
    passed = len(tests) - len(failed) - len(skipped)
    print(f'{passed} passed, {len(failed)} failed, {len(skipped)} skipped', flush=True)
    return 1 if failed or passed == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
