#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""mkcap and capcmp judge everything else, so they are judged first: by a reader of their own."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

MKCAP = os.environ['SLAB_MKCAP']
CAPCMP = os.environ['SLAB_CAPCMP']


def run(*argv):
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def frames(path):
    """(bytes kept, length on the wire) of each record; pcap, this machine's byte order."""
    with open(path, 'rb') as f:
        data = f.read()
    out, at = [], 24
    while at < len(data):
        kept, length = struct.unpack_from('=II', data, at + 8)
        out.append((data[at + 16:at + 16 + kept], length))
        at += 16 + kept
    return out


def sum16(data):
    """0xffff for a header whose checksum is right."""
    total = sum(struct.unpack(f'!{(len(data) + 1) // 2}H', data + b'\0' * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


class Scratch(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def mkcap(self, name, *args):
        done = run(MKCAP, *args, self.path(name))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return self.path(name)


class Mkcap(Scratch):
    def check_udp(self, ip):
        self.assertEqual(ip[0], 0x45)
        self.assertEqual(struct.unpack_from('!H', ip, 2)[0], len(ip))
        self.assertEqual(sum16(ip[:20]), 0xffff)
        pseudo = ip[12:20] + struct.pack('!HH', 17, len(ip) - 20)
        self.assertEqual(struct.unpack_from('!H', ip, 24)[0], len(ip) - 20)
        self.assertEqual(sum16(pseudo + ip[20:]), 0xffff)

    def test_sizes_and_checksums(self):
        sizes = [14, 41, 42, 43, 60, 1518, 9000, 65535]
        cap = self.mkcap('a', '--count', '200', '--sizes', ','.join(map(str, sizes)))
        got = frames(cap)
        self.assertEqual(len(got), 200)
        self.assertEqual(sorted({len(data) for data, _ in got}), sizes)
        for data, length in got:
            self.assertEqual(len(data), length)
            small = len(data) < 42
            self.assertEqual(data[12:14], b'\x88\xb5' if small else b'\x08\x00')
            if not small:
                self.check_udp(data[14:])

    def test_vlan(self):
        for data, _ in frames(self.mkcap('a', '--count', '50', '--vlan', '4094')):
            self.assertEqual(data[12:18], b'\x81\x00\x0f\xfe\x08\x00')
            self.check_udp(data[18:])

    def test_flows(self):
        got = frames(self.mkcap('a', '--count', '500', '--flows', '3'))
        self.assertEqual(len({data[:12] for data, _ in got}), 3)
        self.assertFalse(any(data[0] & 1 or data[6] & 1 for data, _ in got))

    def test_snaplen(self):
        got = frames(self.mkcap('a', '--count', '20', '--sizes', '100', '--snaplen', '60'))
        self.assertEqual({(len(data), length) for data, length in got}, {(60, 100)})

    def test_same_arguments_same_file(self):
        args = ('--count', '100', '--seed', '7')
        with open(self.mkcap('a', *args), 'rb') as a, open(self.mkcap('b', *args), 'rb') as b:
            self.assertEqual(a.read(), b.read())

    def test_other_seed_other_frames(self):
        a = self.mkcap('a', '--seed', '1')
        b = self.mkcap('b', '--seed', '2')
        self.assertEqual(run(CAPCMP, a, b).returncode, 1)

    def test_mkcap_errors(self):
        wrong = (['--sizes', '13'], ['--sizes', '65536'], ['--sizes', ''], ['--sizes', '64,x'],
                 ['--count', '-1'], ['--flows', '0'], ['--vlan', '4095'], ['--bad'],
                 ['--vlan', '5', '--sizes', '17'])
        for args in wrong:
            done = run(MKCAP, *args, self.path('a'))
            self.assertNotEqual(done.returncode, 0, args)
            self.assertEqual(len(done.stderr.splitlines()), 1, args)
        self.assertNotEqual(run(MKCAP).returncode, 0)
        self.assertNotEqual(run(MKCAP, self.path('no/such/dir')).returncode, 0)

    def test_full_disk(self):
        done = run(MKCAP, '/dev/full')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('No space left', done.stderr)


class Capcmp(Scratch):
    def changed(self, name, frame, byte):
        """A copy of capture a with one byte of one frame inverted."""
        with open(self.path('a'), 'rb') as f:
            data = bytearray(f.read())
        at = 24
        for _ in range(frame - 1):
            at += 16 + struct.unpack_from('=I', data, at + 8)[0]
        data[at + 16 + byte] ^= 0xff
        with open(self.path(name), 'wb') as f:
            f.write(data)
        return self.path(name)

    def setUp(self):
        super().setUp()
        self.a = self.mkcap('a', '--count', '30', '--sizes', '100,200')

    def test_equal(self):
        done = run(CAPCMP, self.a, self.a)
        self.assertEqual((done.returncode, done.stdout), (0, '30 frames equal\n'))

    def test_every_byte_counts(self):
        for byte in (0, 11, 12, 99):
            done = run(CAPCMP, self.a, self.changed('b', 30, byte))
            self.assertEqual(done.returncode, 1)
            self.assertIn('frame 30 ', done.stdout)
            self.assertIn(f'from byte {byte} on', done.stdout)

    def test_ignore_macs(self):
        for byte, status in ((0, 0), (11, 0), (12, 1)):
            done = run(CAPCMP, '--ignore-macs', self.a, self.changed('b', 2, byte))
            self.assertEqual(done.returncode, status, byte)

    def test_limit(self):
        b = self.changed('b', 1, 60)
        self.assertEqual(run(CAPCMP, '--limit', '60', self.a, b).returncode, 0)
        self.assertEqual(run(CAPCMP, '--limit', '61', self.a, b).returncode, 1)

    def test_frames_missing(self):
        b = self.mkcap('b', '--count', '29', '--sizes', '100,200')
        for pair in ((self.a, b), (b, self.a)):
            done = run(CAPCMP, *pair)
            self.assertEqual(done.returncode, 1)
            self.assertIn('ends after 29 frames', done.stdout)

    def test_length(self):
        b = self.mkcap('b', '--count', '30', '--sizes', '100,200', '--snaplen', '150')
        self.assertEqual(run(CAPCMP, self.a, b).returncode, 1)
        self.assertEqual(run(CAPCMP, '--limit', '150', self.a, b).returncode, 0)

    def test_unusable(self):
        with open(self.path('b'), 'wb') as f, open(self.a, 'rb') as a:
            f.write(a.read()[:-1])
        for args in ((self.a, self.path('b')), (self.a, self.path('none')), (self.a,),
                     ('--limit', '0', self.a, self.a)):
            done = run(CAPCMP, *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertNotEqual(done.stderr, '')


if __name__ == '__main__':
    sys.exit(unittest.main())
