"""Reads a --trace-file: one JSON object a line."""
import json


def load(path):
    with open(path, encoding='utf8') as f:
        return [json.loads(line) for line in f if line.strip()]


def get(record, dotted, default=None):
    for key in dotted.split('.'):
        if not isinstance(record, dict) or key not in record:
            return default
        record = record[key]
    return record


def is_denial(record):
    return record.get('action_id') == 2


def rule(record):
    return get(record, 'firewall_rule.uid', '')


OBJECTS = ('file.path', 'dst_endpoint.domain', 'dst_endpoint.ip',
           'dst_endpoint.name', 'dst_endpoint.hostname', 'query.hostname',
           'http_request.url.hostname', 'kernel.system_call', 'kernel.name')


def objects(record):
    """Every spelling of what a record is about."""
    found = {get(record, key) for key in OBJECTS}
    if record.get('class_uid') == 1007:
        found.add(get(record, 'process.path'))
        found.add(get(record, 'process.file.path'))
    return found - {None}


def denials(records, obj=None, key=''):
    return [r for r in records if is_denial(r) and rule(r).startswith(key) and
            (obj is None or obj in objects(r))]
