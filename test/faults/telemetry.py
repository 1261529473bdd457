#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Clients of telemetry that misbehave, on a process whose slab pools are in use. They leave at
each point, send rubbish, do not listen and come in crowds. Whatever slab answers must be JSON; in
the end good questions have the right answers, and each pool is whole."""

import json
import os
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

import dpdkrun

OBJECTS, BURST, MOST_CLIENTS = 1000, 32, 10
PACKETS, QUOTED, UTF8, THEIRS = 'packets', 'a "quoted", back\\slash', 'größe', 'theirs'
TUNABLES = {'depot': 40, 'lcore_partial': 64, 'min_partial': 4294967294}


class Pools:
    """The process that has the pools, its telemetry, and how many answers were judged."""

    def __init__(self, directory):
        self.errors = open(os.path.join(directory, 'errors'), 'w+b')
        argv = [os.environ['SLAB_POOLS'], '-l', '0', '--no-pci', '--no-huge', '-m', '64',
                '-d', dpdkrun.plugin(), '--log-level=mempool.slab:debug']
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env={**os.environ,
                                                                 'RUNTIME_DIRECTORY': directory})
        self.answers = self.checks = 0
        self.path = self.line()
        while self.path.startswith(('EAL:', 'TELEMETRY:')):
            self.path = self.line()
        self.path = os.path.join(self.path, 'dpdk_telemetry.v2')
        with Client(self) as client:
            client.greeted()
            self.commands = [name.removeprefix('/mempool_slab/')
                             for name in json.loads(client.ask(b'/'))['/']
                             if name.startswith('/mempool_slab/')]

    def fail(self, reason):
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        dpdkrun.fail(reason, self.errors.read().decode(errors='replace'))

    def line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        line = self.process.stdout.readline().decode().strip() if ready else ''
        if not line:
            self.fail(f'the process says nothing (status {self.process.poll()})')
        return line

    def say(self, word):
        self.process.stdin.write(f'{word}\n'.encode())
        self.process.stdin.flush()
        return self.line()

    def check(self):
        self.checks += 1
        if set(self.say('check').split()) != {'whole'}:
            self.fail('a pool is not whole')

    def end(self):
        self.process.stdin.close()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.fail('the process does not end')
        self.errors.seek(0)
        said = self.errors.read().decode(errors='replace')
        if status != 0:
            dpdkrun.fail(f'status {status}', said)
        bad = [line for line in said.splitlines() if 'mempool_slab: ' in line
               and ': created for' not in line]
        if bad:
            dpdkrun.fail('slab complained', '\n'.join(bad))


class Client:
    """A connection. Refused ones end where the greeting was due, as DPDK has it."""

    def __init__(self, pools):
        self.pools = pools
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(pools.path)
        self.socket.settimeout(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self):
        try:
            return self.socket.recv(1 << 17)
        except ConnectionResetError:
            return b''
        except TimeoutError:
            return self.pools.fail('no answer')

    def greeted(self):
        greeting = self.receive()
        return greeting != b'' and 'max_output_len' in json.loads(greeting)

    def send(self, command):
        self.socket.send(command)

    def ask(self, command):
        self.send(command)
        answer = self.receive()
        if answer == b'':
            self.pools.fail(f'no answer to {command}')
        return answer

    def ask_slab(self, command, parameters=None):
        """What slab answers: JSON with the command as its one key."""
        key = f'/mempool_slab/{command}'
        asked = key.encode()
        if parameters is not None:
            asked += b',' + (parameters if isinstance(parameters, bytes)
                             else parameters.encode())
        answer = self.ask(asked)
        try:
            parsed = json.loads(answer)
        except ValueError as error:
            self.pools.fail(f'{asked}: {answer} is no JSON: {error}')
        if not isinstance(parsed, dict) or list(parsed) != [key]:
            self.pools.fail(f'{asked}: {answer} has not the one key {key}')
        self.pools.answers += 1
        return parsed[key]


def connected(pools):
    """DPDK notices a moment later that a client has gone, and until then refuses the next."""
    deadline = time.monotonic() + 30
    while True:
        client = Client(pools)
        if client.greeted():
            return client
        client.socket.close()
        if time.monotonic() > deadline:
            pools.fail('no client is let in any more')
        time.sleep(0.01)


def expect(pools, what, got, wanted):
    if got != wanted:
        pools.fail(f'{what}: {got} where {wanted} was due')


def check_info(pools, client, name, **wanted):
    info = client.ask_slab('info', name)
    wanted = {'name': name, 'objects': OBJECTS, 'free': OBJECTS, 'object_size': 200,
              'cache_size': 0, 'nodes': 1, 'faults': 0, **wanted}
    expect(pools, f'info of {name}', {key: info.get(key) for key in wanted}, wanted)


def check_stats(pools, client, name):
    """At rest all is back; each check ends with one get that finds nothing."""
    stats = client.ask_slab('stats', name)
    expect(pools, f'{name} put', stats['put_objs'], stats['get_objs'])
    expect(pools, f'{name} got', stats['get_objs'],
           BURST * (stats['get_bulks'] - OBJECTS * pools.checks) + OBJECTS * pools.checks)
    expect(pools, f'{name} failed', stats['get_fails'], pools.checks)
    expect(pools, f'{name} faults', stats['faults'], 0)
    return stats['get_objs']


def check_set(pools, client, name, tunable, value):
    expect(pools, f'set of {name}', client.ask_slab('set', f'{name},{tunable},{value}'),
           {'name': name, tunable: value})
    expect(pools, f'tunables of {name}', client.ask_slab('tunables', name)[tunable], value)


def check_tunables(pools, client):
    before = client.ask_slab('tunables', PACKETS)
    expect(pools, 'limits', {key: before[f'{key}_max'] for key in TUNABLES}, TUNABLES)
    for tunable, most in TUNABLES.items():
        for value in (0, most, before[tunable]):
            check_set(pools, client, PACKETS, tunable, value)
        check_set(pools, client, QUOTED, tunable, 1)
    expect(pools, 'tunables', client.ask_slab('tunables', PACKETS), before)


def check_audit(pools, client):
    for name in (PACKETS, QUOTED):
        audit = client.ask_slab('audit', name)
        places = {place: n for place, n in audit.items()
                  if place in ('slabs', 'depots') or place.endswith('_caches')}
        expect(pools, f'audit of {name}: {audit}', sum(places.values()), OBJECTS)
        expect(pools, f'audit of {name}', [audit[key] for key in ('objects', 'in_use', 'lost',
                                                                  'twice', 'first_in_use')],
               [OBJECTS, 0, 0, 0, []])
        for place, parts in audit.items():
            if '_by_' in place:
                expect(pools, place, sum(parts.values()), audit[place.split('_by_')[0]])


def check_good(pools, after):
    """A client that behaves, after those that did not."""
    pools.check()
    with connected(pools) as client:
        names = client.ask_slab('list')
        expect(pools, 'list', [names[0], names[1], len(names)], [PACKETS, QUOTED, 3])
        check_info(pools, client, PACKETS, magazine=16, depot=40, check='off')
        check_info(pools, client, QUOTED, check='off')
        expect(pools, 'UTF-8', client.ask_slab('info', UTF8)['check'], 'on')
        objects = check_stats(pools, client, PACKETS) + check_stats(pools, client, QUOTED)
        check_tunables(pools, client)
        check_audit(pools, client)
        expect(pools, 'reclaim', client.ask_slab('reclaim', PACKETS),
               {'name': PACKETS, 'objects': 0})
        for command in ('info', 'stats', 'tunables', 'audit', 'reclaim'):
            for name in (THEIRS, 'nosuch', ''):
                expect(pools, f'{command} of {name}', client.ask_slab(command, name),
                       {'error': f"pool '{name}': there is no such pool of slab"})
    pools.say('work')
    print(f'{after}: {pools.answers} answers of slab so far, {objects} objects got and put')


def leave(pools):
    """Disconnects before the greeting, after it, and with a command that nobody waits for."""
    for _ in range(100):
        Client(pools).socket.close()
    for _ in range(100):
        connected(pools).socket.close()
    for command in pools.commands * 20:
        with connected(pools) as client:
            client.send(f'/mempool_slab/{command},{PACKETS},depot,40'.encode())
    for command in pools.commands * 5:
        with Client(pools) as client:
            try:
                client.send(f'/mempool_slab/{command},{PACKETS}'.encode())
            except BrokenPipeError:
                pass  # one too many at once


def every_byte():
    for byte in range(1, 256):
        yield bytes([byte])
        yield f'{PACKETS},depot,'.encode() + bytes([byte])
        yield f'{PACKETS},'.encode() + bytes([byte]) + b',1'


def out_of_range():
    for tunable, most in TUNABLES.items():
        for value in (most + 1, -1, 1 << 32, 1 << 64, 10 ** 900, '1e1', '0x1', '', ' ', '1 ', '+1',
                      '\\', '"', '%s%n', '1\n'):
            yield f'{PACKETS},{tunable},{value}'[:1000].encode()


def odd():
    yield from (b'', b',', b',,', b',,,', b',' * 900, b'"', b'\\', b'"' * 900, b'\\' * 900)
    for name in (PACKETS, QUOTED, UTF8, THEIRS, 'nosuch', 'x' * 900, '"}', "'", '%s%n%n', '\n'):
        for rest in ('', ',', ',,', ',depot', ',depot,', ',nosuch,1', ',depot,x', ',"\\,"\\',
                     ',depot,1,', ',,1', ',' + 'depot' * 100 + ',1', ',depot,' + '9' * 500):
            yield f'{name}{rest}'[:1000].encode()


def pieces(seed):
    rng = random.Random(seed)
    words = [PACKETS, QUOTED, UTF8, *TUNABLES, ',', ',', ',', '"', '\\', '\\u', '0', '7', '-', '{',
             '}', '\t', '\x7f']
    for _ in range(1000):
        out = b''.join(rng.choice(words).encode() if rng.random() < 0.7 else
                       bytes([rng.randrange(1, 256)]) for _ in range(rng.randrange(1, 30)))
        yield out


def refused(pools, client, parameters):
    """What cannot be set is answered by why, and nothing is set."""
    answer = client.ask_slab('set', parameters)
    if (list(answer) != ['error'] or
            re.search('allowed: 0 to|wanted: POOL', answer['error']) is None):
        pools.fail(f'set,{parameters}: {answer}')


def rubbish(pools):
    with connected(pools) as client:
        before = client.ask_slab('tunables', PACKETS)
        for parameters in out_of_range():
            refused(pools, client, parameters)
        expect(pools, 'tunables', client.ask_slab('tunables', PACKETS), before)
        for parameters in [*odd(), *every_byte(), *pieces(1)]:
            for command in pools.commands:
                client.ask_slab(command, parameters)
        for tunable in TUNABLES:
            check_set(pools, client, PACKETS, tunable, before[tunable])


def unknown(pools):
    """Commands that nobody knows: DPDK answers itself, though not always in JSON."""
    rng = random.Random(2)
    with connected(pools) as client:
        for command in (b'x', b'/', b'//', b'"', b'\\', b',', b'\0', b'\0' * 900, b'\n', b'%s%n',
                        b'x' * 55, b'x' * 56, b'x' * 57, b'x' * 1023, b'x' * 1024, b'x' * 60000,
                        b'/mempool_slab', b'/mempool_slab/', b'/mempool_slab/nosuch',
                        b'/mempool_slab/list\0,x', b'/MEMPOOL_SLAB/LIST'):
            client.ask(command)
        for _ in range(1000):
            client.ask(rng.randbytes(rng.randrange(1, 1500)))
    with connected(pools) as client:
        client.send(b'')  # to DPDK the end of the connection
        expect(pools, 'nothing', client.receive(), b'')


def deaf(pools):
    """Ask on and on, until nothing goes out any more, and leave without reading an answer."""
    for command in pools.commands:
        with connected(pools) as client:
            client.socket.setblocking(False)
            sent = 0
            try:
                while sent < 100000:
                    client.send(f'/mempool_slab/{command},{PACKETS},depot,40'.encode())
                    sent += 1
                    time.sleep(0.0001)
            except BlockingIOError:
                pass
            if sent == 100000:
                pools.fail('someone reads the answers')


def crowd(pools):
    """As many at once as DPDK lets in, and one more."""
    clients = [connected(pools) for _ in range(MOST_CLIENTS)]
    with Client(pools) as late:
        if late.greeted():
            pools.fail(f'{MOST_CLIENTS + 1} clients at once')
    for round_ in range(50):
        for client in clients:
            client.send(f'/mempool_slab/set,{PACKETS},depot,{round_ % 41}'.encode())
        for client in clients:
            expect(pools, 'set', json.loads(client.receive()),
                   {'/mempool_slab/set': {'name': PACKETS, 'depot': round_ % 41}})
    check_set(pools, clients[0], PACKETS, 'depot', 40)
    for client in clients:
        client.socket.close()


def rush(pools):
    """Threads that come and go at once: each is greeted and answered, or refused."""
    trouble, seen = [], {True: 0, False: 0}

    def visit(seed):
        rng = random.Random(seed)
        for _ in range(50):
            with Client(pools) as client:
                greeted = client.greeted()
                seen[greeted] += 1
                if greeted and rng.random() < 0.8:
                    command = rng.choice([name for name in pools.commands if name != 'set'])
                    client.send(f'/mempool_slab/{command},{PACKETS}'.encode())
                    if rng.random() < 0.8 and PACKETS not in client.receive().decode():
                        trouble.append(command)

    threads = [threading.Thread(target=visit, args=(i,)) for i in range(2 * MOST_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if trouble or sum(seen.values()) != 50 * len(threads) or seen[True] < 50:
        pools.fail(f'a rush: {seen} clients, wrong answers to {trouble}')
    print(f'rush: {seen[True]} clients were let in, {seen[False]} refused')


def main():
    # Not in the build directory: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix='slab') as directory:
        pools = Pools(directory)
        check_good(pools, 'start')
        for misbehave in (leave, rubbish, unknown, deaf, crowd, rush):
            misbehave(pools)
            check_good(pools, misbehave.__name__)
        pools.check()
        pools.end()


if __name__ == '__main__':
    sys.exit(main())
