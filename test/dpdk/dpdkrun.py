# SPDX-License-Identifier: BSD-3-Clause

"""What the scripts of this directory share: running a DPDK program and judging what it said."""

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HUGEPAGES = '/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages'


def skip(reason):
    print(f'SKIP: {reason}')
    sys.exit(SKIPPED)


def fail(reason, output=''):
    if output:
        print(tail(output))
    print(f'FAIL: {reason}')
    sys.exit(1)


def tail(output, lines=60):
    return '\n'.join(output.splitlines()[-lines:])


def plugin():
    """The plugin under test; a build that has none has failed, so that is no skip."""
    path = os.environ['SLAB_PLUGIN']
    if not os.path.exists(path):
        fail(f'there is no plugin {path}')
    check_loadable(path)
    return path


def check_loadable(path):
    """EAL refuses what others could replace; say so in one line instead of in its words."""
    path = os.path.realpath(path)
    while True:
        if os.stat(path).st_mode & 0o002:
            skip(f'EAL loads no plugin from below {path}, which everyone may write to; '
                 'build elsewhere')
        if path == '/':
            return
        path = os.path.dirname(path)


def program(name, package):
    path = shutil.which(name)
    if path is None:
        skip(f'{name} is not installed (package {package})')
    return path


def scratch():
    """A directory in the build directory that goes away with the test."""
    return tempfile.TemporaryDirectory(prefix='scratch-', dir=os.environ.get('SLAB_SCRATCH'))


def free_hugepages_mb():
    try:
        with open(HUGEPAGES, encoding='ascii') as f:
            return 2 * int(f.read())
    except OSError:
        return 0


def available_mb():
    with open('/proc/meminfo', encoding='ascii') as f:
        return int(re.search(r'MemAvailable:\s+(\d+)', f.read()).group(1)) // 1024


def no_huge_args(need_mb):
    if available_mb() < need_mb + 256:
        skip(f'{need_mb} MB of memory are needed, {available_mb()} MB are available')
    return ['--no-huge', '--no-shconf', '-m', str(need_mb)]


def memory_args(kind, need_mb):
    """How a process gets its memory: 'auto' takes hugepages where there are enough of them."""
    if kind == 'auto' and free_hugepages_mb() < need_mb:
        print(f'note: {need_mb} MB are needed and {free_hugepages_mb()} MB of hugepages are '
              'free: running with --no-huge')
        kind = 'no-huge'
    if kind == 'no-huge':
        return no_huge_args(need_mb)
    return ['--in-memory']


def mounted(mount, argv):
    """argv where it alone, and its children, see what mount(8) is told to mount."""
    return ['unshare', '--mount', 'sh', '-c', f'mount {shlex.join(mount)} && exec "$@"', 'sh',
            *argv]


def can_mount(mount):
    return run(mounted(mount, ['true']), timeout=30)[0] == 0


def run_shared(argv, need_mb, timeout, env=None):
    """As run(), with memory in files that a second process can map; none is left behind."""
    prefix = f'slabtest{os.getpid()}'
    with scratch() as directory:
        mount = ['-t', 'hugetlbfs', '-o', 'pagesize=2M', 'none', directory]
        if free_hugepages_mb() < need_mb or not can_mount(mount):
            skip(f'{need_mb} MB of hugepages are needed ({free_hugepages_mb()} are free) in a '
                 'hugetlbfs, which only root can mount')
        try:
            return run(mounted(mount, [*argv, f'--file-prefix={prefix}',
                                       f'--huge-dir={directory}']), timeout, env)
        finally:
            shutil.rmtree(f'{runtime_directory()}/dpdk/{prefix}', ignore_errors=True)


def runtime_directory():
    """Where EAL keeps what processes find each other by."""
    return os.environ.get('RUNTIME_DIRECTORY') or (
        '/var/run' if os.geteuid() == 0 else os.environ.get('XDG_RUNTIME_DIR', '/tmp'))


def lcore_args(n):
    """n lcores on the CPUs that this process may use, shared when there are fewer."""
    cpus = sorted(os.sched_getaffinity(0))
    return ['--lcores', ','.join(f'{i}@{cpus[i % len(cpus)]}' for i in range(n))]


def pool_args(ops):
    """The driver under test is loaded only where it is asked for: a baseline is without it.
    With it, -d and the path come first."""
    if ops != 'slab':
        return [f'--mbuf-pool-ops-name={ops}']
    return ['-d', plugin(), '--mbuf-pool-ops-name=slab', '--log-level=mempool.slab:debug']


def run(argv, timeout, env=None, stdin=None):
    """(status, what it printed, seconds); a status of None is a time-out."""
    start = time.monotonic()
    try:
        done = subprocess.run(argv, env={**os.environ, **(env or {})}, input=stdin,
                              stdin=None if stdin is not None else subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = None, late.stdout or b''
    return status, output.decode(errors='replace'), time.monotonic() - start


def slab_pools(output):
    """The pools that the driver says it made: the proof that the run was on slab."""
    return re.findall(r'\bpool (\S+): created', output)


def make_capture(path, *args):
    subprocess.run([os.environ['SLAB_MKCAP'], *args, path], check=True, timeout=60)
    return path


def compare_captures(expected, got, *args):
    """Fails with the first difference; returns the number of frames found equal."""
    done = subprocess.run([os.environ['SLAB_CAPCMP'], *args, expected, got],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    print(done.stdout, end='')
    if done.returncode != 0:
        fail('what came out is not what went in')
    return int(done.stdout.split()[0])


def frame_starts(path, n):
    """The first n bytes of each frame of a pcap file."""
    with open(path, 'rb') as f:
        data = f.read()
    out, at = [], 24
    while at < len(data):
        out.append(data[at + 16:at + 16 + n])
        at += 16 + struct.unpack_from('=I', data, at + 8)[0]
    return out
