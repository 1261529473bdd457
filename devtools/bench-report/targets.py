# SPDX-License-Identifier: BSD-3-Clause

"""The speed to reach: what is compared with what, and what came out."""

from collections import namedtuple

from groups import KERNEL_SIZES, SCATTER_SIZES, SIZES
from results import summary

PEERS = ('ring_mp_mc', 'ring_sp_sc', 'ring_mt_rts', 'ring_mt_hts', 'stack', 'lf_stack', 'bucket')
LARGE = 'n:32/touch:2/objects:262144'
HELD = 'n:32/touch:2/hold:4000/objects:262144'

# pairs: of (name, counter) and (name, counter), the second None where the figure itself counts.
Target = namedtuple('Target', 'text group pairs most limit')
# rows: (what was compared, median, low, high), the worst first.
Outcome = namedtuple('Outcome', 'target rows within reached')


def pair(above, below, counter='cycles_per_obj'):
    return (above, counter), (below, counter)


def reuse():
    for n, limit in ((1, .30), (8, .36), (32, .42), (64, .48), (256, .45), (768, 1.0)):
        yield Target(f'reuse, cache 0, n={n}: of ring_mp_mc', 'reuse',
                     [pair(f'reuse/slab/cache:0/n:{n}', f'reuse/ring_mp_mc/cache:0/n:{n}')],
                     True, limit)
    yield Target('reuse, slab with cache 0, n=32 and above: of ring_mp_mc with cache 256', 'reuse',
                 [pair(f'reuse/slab/cache:0/n:{n}', f'reuse/ring_mp_mc/cache:256/n:{n}')
                  for n in SIZES if n >= 32], True, .95)
    yield Target('reuse, cache 0, n=32: of array', 'reuse',
                 [pair('reuse/slab/cache:0/n:32', 'reuse/array/cache:0/n:32')], True, 1.5)
    for c in (256, 512):
        yield Target(f'reuse, cache {c}: of the best driver', 'cached',
                     [pair(f'reuse/slab/cache:{c}/n:{n}', f'reuse/{peer}/cache:{c}/n:{n}')
                      for n in SIZES for peer in PEERS], True, 1.02)


def shared():
    name = 'shared/slab/cache:0/n:32'
    yield Target('shared, cache 0, n=32: the slower lcore, of one lcore alone', 'shared',
                 [((name, 'worst_lcore'), ('reuse/slab/cache:0/n:32', 'cycles_per_obj'))],
                 True, 1.1)
    yield Target('shared, cache 0, n=32: of ring_mp_mc', 'shared',
                 [pair(name, 'shared/ring_mp_mc/cache:0/n:32')], True, .25)


def pipes(text, patterns, cache, peer, limit, counter='cycles_per_obj'):
    """Against a peer with cache 512."""
    return Target(f'{text}, slab with cache {cache}: of {peer} with cache 512', 'pipeline',
                  [pair(f'{p}/slab/cache:{cache}/{rest}', f'{p}/{peer}/cache:512/{rest}', counter)
                   for p, rest in patterns], True, limit)


def pipeline():
    plain = (('pipeline', LARGE),)
    scattered = (('pipeline_scatter', LARGE), ('pipeline_scatter', HELD))
    yield pipes('pipeline', plain, 512, 'ring_mp_mc', .6)
    yield pipes('pipeline', plain, 512, 'stack', 1.0)
    yield pipes('pipeline', plain, 0, 'ring_mp_mc', .65)
    yield pipes('pipeline_scatter', scattered, 512, 'ring_mp_mc', .6)
    yield pipes('pipeline_scatter', scattered, 512, 'stack', 1.05)
    for peer, limit in (('stack', .75), ('ring_mp_mc', 1.0)):
        yield pipes("both pipelines, the pool's own share", plain + scattered, 512, peer, limit,
                    'pool_cycles')


def oversubscribed():
    name = 'oversubscribed/{}/cache:0/n:32'
    for text, peers, limit in (('of ring_mp_mc', ('ring_mp_mc',), 100),
                               ('of the best peer', PEERS, 8)):
        yield Target(f'oversubscribed, cache 0, n=32: objects a second, {text}', 'oversubscribed',
                     [pair(name.format('slab'), name.format(peer), 'Mobjs_per_s')
                      for peer in peers], False, limit)


def scatter():
    for c in (0, 512):
        yield Target(f'scatter, one lcore, cache {c}, hold 4000: of the best peer', 'scatter',
                     [pair(f'scatter/slab/cache:{c}/n:{n}{t}', f'scatter/{peer}/cache:{c}/n:{n}{t}')
                      for n in SCATTER_SIZES for t in ('', '/touch:2') for peer in PEERS],
                     True, 1.05)


def testpmd():
    for own, cache, limit in ((0, 0, 1.75), (0, 256, 1.0), (256, 256, 1.0)):
        yield Target(f'testpmd io, net_null, slab with cache {own}: packets a second, of '
                     f'ring_mp_mc with cache {cache}', 'testpmd',
                     [pair(f'testpmd/slab/cache:{own}', f'testpmd/ring_mp_mc/cache:{cache}',
                           'Mpps')], False, limit)


def bulk():
    name = '{}/slab/cache:0/n:{}/size:256'
    yield Target('bulk, n=16 to 64: of one by one (0.163 is 83.7 % saved)', 'bulk',
                 [pair(name.format('reuse', n), name.format('fallback', n))
                  for n in KERNEL_SIZES if 16 <= n <= 64], True, .163)
    yield Target('bulk, n=32: cycles by object', 'bulk',
                 [((name.format('reuse', 32), 'cycles_per_obj'), None)], True, 1.0)
    name = 'reuse/slab/cache:0/n:32/size:256/objects:'
    yield Target('reuse, cache 0, n=32: 1,048,576 objects, of 1,024 objects', 'sizes',
                 [pair(f'{name}1048576', f'{name}1024')], True, 1.1)


def create():
    name = 'create/{}/size:256/objects:262144'
    yield Target('a pool of 262,144 objects is made: time, of ring_mp_mc', 'create',
                 [pair(name.format('slab'), name.format('ring_mp_mc'))], True, 1.1)


def label(above, below):
    if below is None:
        return above[0]
    for peer in PEERS:
        if above[0].replace('/slab/', f'/{peer}/') == below[0]:
            return f'{above[0]}, of {peer}'
    return f'{above[0]}, of {below[0]}'


def judge(target, results):
    """Pairs that a driver does not run are left out; the worst of the others decides."""
    rows = []
    for above, below in target.pairs:
        values = (list(results.values(*above).values()) if below is None else
                  results.ratios(above, below))
        if values:
            rows.append((label(above, below), *summary(values)))
    rows.sort(key=lambda row: row[1], reverse=target.most)
    within = sum(row[1] <= target.limit if target.most else row[1] >= target.limit
                 for row in rows)
    return Outcome(target, rows, within, bool(rows) and within == len(rows))


def judge_all(done):
    return [judge(target, done[target.group])
            for kind in (reuse, shared, pipeline, oversubscribed, scatter, testpmd, bulk,
                         create)
            for target in kind()]
