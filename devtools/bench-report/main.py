#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""main.py FOLDER BUILD EAL-ARGUMENT...: runs all groups, then writes the report to FOLDER.

Fails when a group did, after the report of the others has been written.
"""

import os
import signal
import sys

import groups
import page
import plots
import results


def affinity():
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        sys.exit('bench-report.sh: two CPUs are needed')
    return cpus


def main():
    out, build, eal = sys.argv[1], sys.argv[2], sys.argv[3:]
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    runner = groups.Runner(out, build, eal, affinity())
    done = {g.name: results.Results(g, os.path.join(out, f'{g.name}.json'))
            for g in runner.run_all()}
    figures = plots.draw_all(out, done)
    path = page.write(out, build, eal, done, figures)
    failed = [name for name, g in done.items() if g.failure]
    groups.say(f'wrote {path}' + (f'; failed: {", ".join(failed)}' if failed else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
