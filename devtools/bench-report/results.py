# SPDX-License-Identifier: BSD-3-Clause

"""The figures of a group, read from its JSON."""

import json
import statistics

SAME_FOR_ALL = ('family_index', 'per_family_instance_index', 'run_name', 'repetitions', 'threads')


def summary(values):
    """Median and quartiles."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method='inclusive')
    return median, low, high


def essence(entry):
    return {key: float(f'{value:.6g}') if isinstance(value, float) else value
            for key, value in entry.items() if key not in SAME_FOR_ALL}


def rewrite(path, data):
    """Only what was measured, one line each: no means of it, nor the machine's name."""
    lines = ',\n'.join(json.dumps(essence(b)) for b in data['benchmarks'])
    with open(path, 'w', encoding='utf-8') as f:
        f.write(f'{{"context": {json.dumps(data["context"])},\n"benchmarks": [\n{lines}\n]}}\n')


class Results:
    def __init__(self, group, path):
        self.group, self.failure = group, ''
        self.context, self.entries = {}, {}
        if group.status != 0:
            self.failure = f'status {group.status} after {group.seconds:.0f} s'
        try:
            self.read(path)
        except (OSError, ValueError) as error:
            self.failure = self.failure or f'no figures: {error}'

    def read(self, path):
        with open(path, encoding='utf-8') as f:
            data = json.load(f)
        data['benchmarks'] = [b for b in data['benchmarks'] if b['run_type'] == 'iteration']
        data['context'].pop('host_name', None)
        rewrite(path, data)
        self.context = data['context']
        for b in data['benchmarks']:
            if not b.get('error_occurred'):
                self.entries.setdefault(b['name'], {})[b['repetition_index']] = b

    def values(self, name, counter):
        """By repetition; nothing where it was not measured."""
        return {i: b[counter] for i, b in self.entries.get(name, {}).items() if counter in b}

    def summary(self, name, counter):
        values = list(self.values(name, counter).values())
        return summary(values) if values else None

    def ratios(self, above, below):
        """Of two (name, counter), repetition by repetition."""
        a, b = self.values(*above), self.values(*below)
        return [a[i] / b[i] for i in sorted(a.keys() & b.keys()) if b[i] > 0]
