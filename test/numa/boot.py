#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs a command under Debian's cloud kernel on an emulated machine of several NUMA nodes.

    boot.py --cache DIR [OPTION...] [--file HOSTPATH[:GUESTPATH]]... -- COMMAND [ARGUMENT...]

The machine is qemu's, emulated in software, and has neither disk nor network. It gets busybox,
COMMAND, each --file and the shared libraries of all of these, at the paths that they have here.
What a program opens by itself, plugins above all, needs a --file. A COMMAND that does not exist
here is one of busybox's or the GUESTPATH of a --file. Hugepages of 2 MB are reserved on each node
and mounted at /dev/hugepages. EAL loads plugins from any directory but /dev/shm.

What COMMAND writes, on either stream, comes out on stdout, and its exit status is that of this
script. Exits with 1 and a line on stderr where there is none, with 2 for wrong arguments, and
with 77 (skipped) where qemu, busybox or the kernel cannot be had.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

PACKAGES = {'qemu-system-x86_64': 'qemu-system-x86', 'busybox': 'busybox-static'}
KERNEL_PACKAGE = 'linux-image-cloud-amd64'

# EAL refuses plugins where others may write, and / is such a place at first. The mark tells what
# this says from what the command says; the kernel must not write into the last line.
INIT = '''#!/bin/busybox sh
mark={mark} pages={pages}
stop() {{
	dmesg -n 1
	echo "$mark $*"
	sleep 2 && poweroff -f
}}
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
chmod 755 / && mount -t proc none /proc && mount -t sysfs none /sys &&
	mount -t devtmpfs none /dev && mkdir /dev/shm /dev/hugepages &&
	mount -t tmpfs none /dev/shm && mount -t hugetlbfs -o pagesize=2M none /dev/hugepages ||
	stop 'failed: a mount'
stty -opost -echo </dev/console
for file in /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages; do
	echo $pages >$file
	[ $(cat $file) -eq $pages ] || stop "failed: $(cat $file) of $pages hugepages, see $file"
done
echo "$mark started"
{command} </dev/null
stop exited $?
'''


def skip(reason):
    print(f'SKIP: {reason}')
    sys.exit(77)


def quietly(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False,
                          env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive', 'LC_ALL': 'C'})


def apt_get(*args, cwd=None):
    return quietly('apt-get', '-qq', *args, cwd=cwd).returncode == 0


def need_programs():
    """Only root can install them, or renew the lists of packages."""
    missing = [package for name, package in PACKAGES.items() if not shutil.which(name)]
    install = ['install', '-y', '--no-install-recommends', *missing]
    if missing and not (apt_get(*install) or apt_get('update') and apt_get(*install)):
        skip(f'to get what is missing: apt-get {shlex.join(install)}')


def need_kernel(path):
    """Downloads it once. The package is only unpacked: no boot loader hears of it."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    apt_get('update')
    depends = quietly('apt-cache', 'depends', KERNEL_PACKAGE).stdout
    version = ''.join(re.findall(r'Depends: linux-image-(\S+)', depends))
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as directory:
        if not version or not apt_get('download', f'linux-image-{version}', cwd=directory):
            skip(f'no kernel: apt-get download {KERNEL_PACKAGE} and what it depends on')
        subprocess.run(['dpkg-deb', '-x', *os.listdir(directory), '.'], cwd=directory, check=True)
        os.replace(f'{directory}/boot/vmlinuz-{version}', path)


def libraries(path):
    """All shared libraries of a file, also those that its libraries need."""
    text = quietly('ldd', path).stdout
    if '=> not found' in text:
        sys.exit(f'boot.py: {path} lacks {", ".join(re.findall("([^ ]+) => not found", text))}')
    return map(os.path.normpath, re.findall(r'(/\S+) \(0x', text))


def guest_files(files, command):
    """({path there: path here}, the path of the command there), without libraries."""
    mapped = {}
    for here, _, there in (file.partition(':') for file in files):
        mapped[os.path.abspath(there or here)] = os.path.abspath(here)
    if os.path.abspath(command) in mapped:
        command = os.path.abspath(command)
    elif shutil.which(command):
        command = os.path.abspath(shutil.which(command))
        mapped[command] = command
    return mapped, command


class Archive:
    """A cpio archive ("newc"), written into a file. Directories come by themselves."""

    def __init__(self, file):
        self.file = file
        self.names = {'/'}

    def add(self, name, mode, data=b''):
        """The first of a name counts."""
        if name in self.names:
            return
        self.add(os.path.dirname(name), stat.S_IFDIR | 0o755)
        self.names.add(name)
        path = os.fsencode(name[1:]) + b'\0'
        fields = [len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0]
        for part in (b'070701' + b''.join(b'%08X' % field for field in fields) + path, data):
            self.file.write(part + bytes(-len(part) % 4))

    def add_copy(self, there, here):
        with open(here, 'rb') as f:
            self.add(there, stat.S_IFREG | 0o755, f.read())

    def add_same(self, path):
        """What is one file here must not be two there, or EAL loads a plugin twice. Hence a name
        that leads to another file is a link there too."""
        real = os.path.realpath(path)
        self.add_copy(real, real)
        self.add(path, stat.S_IFLNK | 0o777, os.fsencode(real))


def write_initramfs(file, mapped, init):
    archive = Archive(file)
    for name in ('/proc', '/sys', '/dev', '/var/run', '/tmp', '/root'):
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add('/init', stat.S_IFREG | 0o755, os.fsencode(init))
    archive.add_same('/etc/ld.so.cache')
    for there, here in {'/bin/busybox': shutil.which('busybox'), **mapped}.items():
        if there == here:
            archive.add_same(here)
        archive.add_copy(there, here)
        for library in libraries(here):
            archive.add_same(library)
    archive.add('/TRAILER!!!', 0)
    file.flush()


def qemu_command(kernel, initramfs, args):
    """The machine does not outlive this script, however that ends. The kernel would not trust
    the emulated TSC and be slow to tell the time, and it would clear each page before it uses it,
    which takes half of the time that it needs to start."""
    nodes, cpus = args.nodes, args.cpus_per_node
    command = [
        'setpriv', '--pdeathsig', 'KILL', 'qemu-system-x86_64', '-nodefaults', '-no-reboot',
        '-display', 'none', '-serial', 'stdio', '-M', 'q35', '-cpu', 'max',
        '-accel', 'tcg,thread=multi', '-m', f'{nodes * args.mb_per_node}M',
        '-smp', f'{nodes * cpus},sockets={nodes},cores={cpus},threads=1',
        '-kernel', kernel, '-initrd', initramfs,
        '-append', 'console=ttyS0 quiet panic=-1 tsc=reliable init_on_alloc=0']
    for n in range(nodes):
        command += ['-object', f'memory-backend-ram,id=m{n},size={args.mb_per_node}M', '-numa',
                    f'node,nodeid={n},cpus={n * cpus}-{n * cpus + cpus - 1},memdev=m{n}']
    for a, b in ((a, b) for a in range(nodes) for b in range(nodes)):
        command += ['-numa', f'dist,src={a},dst={b},val={10 if a == b else 20}']
    return command


def follow(lines, mark):
    """Passes on what the command writes; returns its status, or why there is none."""
    started, telling = False, b''
    for line in lines:
        before, _, after = line.partition(mark)
        if started:
            sys.stdout.buffer.write(before)
            sys.stdout.buffer.flush()
        verb, _, value = after.strip().partition(b' ')
        if verb == b'exited':
            return int(value)
        if verb == b'failed:':
            return f'boot.py: {after.decode().strip()}'
        started = started or verb == b'started'
        if b'Kernel panic' not in telling and line.strip():
            telling = line.strip()
    return f'boot.py: no status, the machine stopped: "{telling.decode(errors="replace")}"'


def run(command, mark):
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as qemu:
        try:
            return follow(qemu.stdout, mark)
        finally:
            qemu.kill()


def arguments():
    parser = argparse.ArgumentParser()
    for option, default, what in (
            ('--nodes', 2, 'NUMA nodes'), ('--cpus-per-node', 1, 'CPUs of each node'),
            ('--mb-per-node', 512, 'MB of memory of each node'),
            ('--hugepages-per-node', 128, 'hugepages of 2 MB to reserve on each node'),
            ('--timeout', 120, 'seconds from power-on to the end of the command')):
        parser.add_argument(option, type=int, default=default, help=f'{what} ({default})')
    parser.add_argument('--file', action='append', default=[], metavar='HOSTPATH[:GUESTPATH]')
    parser.add_argument('--cache', required=True, help='directory that keeps the kernel')
    parser.add_argument('command', nargs='+')
    return parser.parse_args()


def main():
    args = arguments()
    late = f'boot.py: no status within {args.timeout} seconds'
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(late))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    need_programs()
    kernel = f'{args.cache}/vmlinuz'
    need_kernel(kernel)
    mapped, command = guest_files(args.file, args.command[0])
    command = shlex.join([command, *args.command[1:]])
    mark = f'boot.py-{os.urandom(8).hex()}'
    with tempfile.NamedTemporaryFile(suffix='.cpio') as file:
        init = INIT.format(mark=mark, pages=args.hugepages_per_node, command=command)
        write_initramfs(file, mapped, init)
        signal.alarm(args.timeout)
        return run(qemu_command(kernel, file.name, args), mark.encode())


if __name__ == '__main__':
    try:
        sys.exit(main())
    except OSError as error:
        sys.exit(f'boot.py: {error}')
