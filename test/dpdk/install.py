#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""meson install: what it puts where, and that DPDK then finds the plugin by itself.

Everything goes below a directory of the test's own. For the second part it is laid over DPDK's
plugin directory in a mount namespace that ends with the test: the machine stays as it is.
"""

import os
import subprocess
import sys

import dpdkrun

PMD_DIR = os.environ['SLAB_PMD_DIR']
PLUGIN = 'librte_mempool_slab.so'


def install(directory):
    done = subprocess.run([os.environ['SLAB_MESON'], 'install', '--no-rebuild', '-C',
                           os.environ['SLAB_BUILD'], '--destdir', directory],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        dpdkrun.fail('meson install failed', done.stdout)


def installed(directory):
    """Paths as they will be seen on the machine that is installed to."""
    return sorted(os.path.join(where, name).removeprefix(directory)
                  for where, _, names in os.walk(directory) for name in names)


def check_plugin(directory):
    if not os.path.exists(f'{directory}{PMD_DIR}/{PLUGIN}'):
        dpdkrun.fail(f'no {PLUGIN} in {PMD_DIR}, which is where DPDK looks for plugins')


def check_programs(directory):
    paths = installed(directory)
    print('\n'.join(paths))
    programs = [path for path in paths if path.endswith('/bin/l2fwd-slab')]
    if len(programs) != 1 or not os.access(directory + programs[0], os.X_OK):
        dpdkrun.fail('no bin/l2fwd-slab that can be run')


def check_loading(directory):
    """Nothing but the name of the pool driver on the command line."""
    overlay = ['-t', 'overlay', 'overlay', '-o', f'ro,lowerdir={directory}{PMD_DIR}:{PMD_DIR}',
               PMD_DIR]
    if not dpdkrun.can_mount(overlay):
        dpdkrun.skip('no overlay can be mounted (only root can): whether DPDK finds the plugin '
                     'by itself after an installation was not tried')
    argv = [dpdkrun.program('dpdk-test', 'dpdk-dev'), '--no-pci', '--no-telemetry',
            *dpdkrun.lcore_args(2), *dpdkrun.memory_args('auto', 256),
            '--mbuf-pool-ops-name=slab', '--log-level=mempool.slab:debug', 'mempool_autotest']
    status, output, _ = dpdkrun.run(dpdkrun.mounted(overlay, argv), timeout=60)
    if status != 0 or 'Test OK' not in output or not dpdkrun.slab_pools(output):
        dpdkrun.fail(f'status {status}: not on slab without -d', output)
    print(f'mempool_autotest without -d; pools on slab: {", ".join(dpdkrun.slab_pools(output))}')


def main():
    with dpdkrun.scratch() as directory:
        directory = os.path.realpath(directory)
        install(directory)
        check_plugin(directory)
        if sys.argv[1] == 'files':
            check_programs(directory)
        else:
            check_loading(directory)


if __name__ == '__main__':
    sys.exit(main())
