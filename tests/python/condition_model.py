# SPDX-License-Identifier: BSD-3-Clause
"""What conditions mean, written from docs/reference/conditions.md alone: random conditions, their text, and their answers."""

import math
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import libpubsub
from libpubsub import Count, EnumValue, Port, Timespan, Timestamp

COLUMNS = ("a", "b.c", "odd name", "in", "e", "f")
TOPICS = ("zeek/records/conn", "zeek/records/dns", "t", "", "a//b")
_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_SECOND = 0xD1B54A32D192ED03


# --- answers ------------------------------------------------------------------------------------------

def negation(x):
    return {"yes": "no", "no": "yes"}.get(x, x)


def both(answers):
    return next((each for each in ("no", "unknown", "absent") if each in answers), "yes")


def either(answers):
    return next((each for each in ("yes", "unknown", "absent") if each in answers), "no")


def said(x):
    return "yes" if x else "no"


def kind(x):
    """What `x` can be compared with; None for nothing."""
    if x is None or isinstance(x, (tuple, frozenset, dict)) or (isinstance(x, float) and math.isnan(x)):
        return None
    for types, name in (((bool,), "bool"), ((int, float), "number"), ((EnumValue,), "label"), ((str,), "text"), ((IPv4Address, IPv6Address), "host"),
                        ((IPv4Network, IPv6Network), "network"), ((Port,), "port"), ((Timestamp,), "time"), ((Timespan,), "span")):
        if isinstance(x, types):
            return name
    raise AssertionError(f"{x!r} has no kind")


def number_of(address):
    """128 bits; IPv4 is mapped into IPv6."""
    return int(address) if address.version == 6 else 0xFFFF_0000_0000 | int(address)


def length_of(network):
    return network.prefixlen if network.version == 6 else 96 + network.prefixlen


def key(x):
    """What decides order and equality."""
    what = kind(x)
    if what == "host":
        return number_of(x)
    if what == "network":
        return number_of(x.network_address), length_of(x)
    if what == "port":
        return x.number, x.protocol
    if what in ("time", "span"):
        return x.ns
    if what in ("text", "label"):
        return str(x).encode()
    return x


def order(x, y):
    """-1, 0, 1; None where there is no order."""
    if kind(x) == "port" and x.protocol != y.protocol:
        return None
    return (key(x) > key(y)) - (key(x) < key(y))


ORDERS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


def in_order(sign, x, y):
    how = order(x, y)
    return "absent" if how is None else said(how in ORDERS[sign])


def within(x, network):
    if kind(x) == "network" and length_of(x) < length_of(network):
        return "no"
    bits = number_of(x.network_address if kind(x) == "network" else x)
    shift = 128 - length_of(network)
    return said(bits >> shift == number_of(network.network_address) >> shift)


PATTERN_KINDS = {"within": ("host", "network"), "prefix": ("text", "label")}


def kinds_of(pattern):
    return set(PATTERN_KINDS.get(pattern[0], (kind(pattern[1]),)))


def match(pattern, x):
    """x is of a kind the pattern is about."""
    name, *arguments = pattern
    if name == "equal":
        return said(key(x) == key(arguments[0]))
    if name == "range":
        return both([in_order(">=", x, arguments[0]), in_order("<=", x, arguments[1])])
    if name == "within":
        return within(x, arguments[0])
    return said(key(x).startswith(arguments[0].encode()))


def sample_hash(seed, data):
    result = ((seed + 1) * _GOLDEN + len(data)) & _MASK
    for at in range(0, len(data), 8):
        result = ((result ^ int.from_bytes(data[at:at + 8].ljust(8, b"\0"), "big")) * _GOLDEN) & _MASK
        result ^= result >> 29
    result = (result * _SECOND) & _MASK
    return result ^ (result >> 32)


def is_event(value):
    return (isinstance(value, tuple) and len(value) >= 3 and all(isinstance(each, Count) and each == 1 for each in value[:2])
            and isinstance(value[2], tuple) and len(value[2]) >= 2 and kind(value[2][0]) == "text" and isinstance(value[2][1], tuple))


def record_of(value):
    if not isinstance(value, tuple):
        return None
    if not is_event(value):
        return value
    name, arguments = value[2][:2]
    is_log = name.startswith("log_") and len(arguments) == 1 and isinstance(arguments[0], tuple)
    return arguments[0] if is_log else arguments


class Missing(Exception):
    """There is no value; says which answer that is."""


def look(field, value, topic, columns):
    name, *arguments = field
    if name == "whole":
        return value
    if name == "topic":
        return topic
    if name == "part":
        parts = topic.split("/")
        if arguments[0] >= len(parts):
            raise Missing("absent")
        return parts[arguments[0]]
    if name == "size":
        return Count(len(libpubsub.encode(value)))
    if name == "event":
        if not is_event(value):
            raise Missing("absent")
        return value[2][0]
    if name == "column":
        if not columns:
            raise Missing("unknown")
        arguments = [columns.index(arguments[0])]
    found = record_of(value)
    for number in arguments:
        if not isinstance(found, tuple) or number >= len(found):
            raise Missing("absent")
        found = found[number]
    return found


def sampled(field, x, keep, of):
    if field == ("whole",):
        return said(sample_hash(0, libpubsub.encode(x)) % of < keep)
    what = kind(x)
    if what is None:
        return "absent"
    encoded = libpubsub.encode(x)
    data = str(x).encode() if what in ("text", "label") else encoded[1:]
    return said(sample_hash(encoded[0], data) % of < keep)


def answer(test, value, topic, columns):
    """Of one comparison."""
    name, field, *arguments = test
    try:
        x = look(field, value, topic, columns)
    except Missing as missing:
        if name == "exists" and str(missing) == "absent":
            return "no"
        return str(missing)
    if name == "exists":
        return said(x is not None)
    if name == "sample":
        return sampled(field, x, *arguments)
    patterns = arguments[0]
    kinds = set.intersection(*map(kinds_of, patterns))
    if name == "has":
        if not isinstance(x, (tuple, frozenset, dict)):
            return "absent"
        return either([either([match(pattern, each) for pattern in patterns]) for each in x if kind(each) in kinds])
    if kind(x) not in kinds:
        return "absent"
    if name in ORDERS:
        return in_order(name, x, patterns[0][1])
    result = either([match(pattern, x) for pattern in patterns])
    return negation(result) if name == "!=" else result


def judge(condition, value, topic, columns):
    name, *arguments = condition
    if name == "not":
        return negation(judge(arguments[0], value, topic, columns))
    if name == "and":
        return both([judge(each, value, topic, columns) for each in arguments])
    if name == "or":
        return either([judge(each, value, topic, columns) for each in arguments])
    return answer(condition, value, topic, columns)


# --- text ---------------------------------------------------------------------------------------------

def literal_text(x):
    what = kind(x)
    if what == "bool":
        return "true" if x else "false"
    if what in ("text", "label"):
        quote = '"' if what == "text" else "`"
        return quote + "".join(c if c.isalnum() else f"\\x{ord(c):02x}" for c in str(x)) + quote
    if what == "port":
        return f"{x.number}/{'?' if x.protocol == 'unknown' else x.protocol}"
    if what == "time":
        return x.isoformat(timespec="nanoseconds").replace("+00:00", "Z")
    if what == "span":
        return f"{x.ns}ns"
    return repr(float(x)) if isinstance(x, float) else str(int(x) if what == "number" else x)


def pattern_text(pattern):
    name, *arguments = pattern
    if name == "range":
        return f"{literal_text(arguments[0])} .. {literal_text(arguments[1])}"
    return literal_text(arguments[0]) + ("*" if name == "prefix" else "")


def field_text(field):
    name, *arguments = field
    if name == "column":
        return f"`{arguments[0]}`"
    return {"whole": "$", "topic": "@topic", "size": "@size", "event": "@event"}.get(name) or (
        f"@topic.{arguments[0]}" if name == "part" else "$" + ".".join(map(str, arguments)))


def text(condition):
    name, *arguments = condition
    if name == "not":
        return f"!({text(arguments[0])})"
    if name in ("and", "or"):
        return "(" + {"and": " && ", "or": " or "}[name].join(map(text, arguments)) + ")"
    field = field_text(arguments[0])
    if name == "exists":
        return f"exists({field})"
    if name == "sample":
        by = "" if arguments[0] == ("whole",) else f" by {field}"
        return f"{arguments[1]} in {arguments[2]}{by}"
    if name in ("in", "has"):
        return f"{field} {name} {{{', '.join(map(pattern_text, arguments[1]))}}}"
    return f"{field} {name} {pattern_text(arguments[1][0])}"


# --- chance -------------------------------------------------------------------------------------------

_TEXTS = ("", "a", "ab", "abc", "b", "log_conn", "log_fields", "http", "é", "zeek", "a/b")
_WHOLE = (0, 1, 2, 5, 80, 2**53, 2**53 + 1, 2**63 - 1)
_REAL = (0.0, -0.0, 0.5, 1.0, -1.5, 2.0**53, 2.0**63, 2.0**64, 1e300, math.inf, -math.inf, math.nan)
_ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.1.0.1", "192.168.0.1", "::1", "2001:db8::1", "2001:db8:8000::1", "::")
_NETWORKS = ("10.0.0.0/8", "10.0.0.0/31", "10.0.0.1/32", "0.0.0.0/0", "2001:db8::/32", "2001:db8::/33", "::/0", "::/96")


class Chance:
    """Makes conditions and values from a seeded generator; both from few constants, so that they meet."""

    def __init__(self, random):
        self._random = random

    def scalar(self):
        pick = self._random.choice
        return pick((
            lambda: pick((True, False)), lambda: Count(pick(_WHOLE + (2**64 - 1,))), lambda: pick(_WHOLE + (-1, -2**63)), lambda: pick(_REAL),
            lambda: pick(_TEXTS), lambda: EnumValue(pick(_TEXTS)), lambda: ip_address(pick(_ADDRESSES)), lambda: ip_network(pick(_NETWORKS)),
            lambda: Port(pick((0, 53, 80, 443)), pick(Port.PROTOCOLS)), lambda: Timestamp(pick((0, 1, 1_700_000_000_000_000_001))),
            lambda: Timespan(pick((0, 1, -1, 5_000_000_000)))))()

    def literal(self):
        while True:
            x = self.scalar()
            if not (isinstance(x, float) and not math.isfinite(x)):
                return x

    def value(self, depth=3):
        roll = self._random.random()
        if depth == 0 or roll < 0.5:
            return None if roll < 0.05 else self.scalar()
        members = [self.value(depth - 1) for _ in range(self._random.randrange(5))]
        if roll < 0.85:
            return tuple(members)
        unique = {libpubsub.encode(each): each for each in members if not isinstance(each, (tuple, frozenset, dict)) and not _is_odd(each)}
        return frozenset(unique.values()) if roll < 0.95 else libpubsub.Table({each: Count(1) for each in unique.values()})

    def message(self):
        roll = self._random.random()
        if roll < 0.2:
            return self.value()
        record = tuple(self.value(2) for _ in range(self._random.randrange(8)))
        if roll < 0.5:
            return record
        name = self._random.choice(("log_conn", "log_fields", "Site::seen", "log_"))
        arguments = (record,) if self._random.random() < 0.5 else record
        return (Count(1), Count(1), (name, arguments, ()))

    def field(self):
        pick = self._random.choice
        return pick((
            lambda: ("column", pick(COLUMNS)), lambda: ("column", pick(COLUMNS)), lambda: ("position", self._random.randrange(6)),
            lambda: ("position", self._random.randrange(6)), lambda: ("position", self._random.randrange(4), self._random.randrange(4)),
            lambda: ("whole",), lambda: ("topic",), lambda: ("part", self._random.randrange(4)), lambda: ("size",), lambda: ("event",)))()

    def pattern(self, allowed):
        while True:
            x = self.literal()
            if allowed == {"number"} and not _is_natural(x):  # which the size of a message is never equal to
                continue
            y = self.literal()
            roll = self._random.random()
            made = ("equal", x)
            if kind(x) == "network":
                made = ("within", x)
            elif kind(x) == "text" and roll < 0.3:
                made = ("prefix", x)
            elif roll < 0.4 and kind(x) == kind(y) and kind(x) not in ("bool", "label") and order(x, y) in (-1, 0):
                made = ("range", x, y)
            if allowed is None or kinds_of(made) & allowed:
                return made

    def patterns(self, allowed):
        result = [self.pattern(allowed)]
        for _ in range(self._random.randrange(4)):
            result.append(self.pattern(set.intersection(*map(kinds_of, result)) & (allowed or kinds_of(result[0]))))
        return result

    def test(self):
        field = self.field()
        allowed = {"topic": {"text"}, "part": {"text"}, "event": {"text"}, "size": {"number"}}.get(field[0])
        pick = self._random.choice
        name = pick(("==", "!=", "<", "<=", ">", ">=", "in", "in", "has", "exists", "sample"))
        if name == "exists":
            return name, field
        if name == "sample":
            return name, field, pick((1, 2)), pick((2, 3, 10))
        if name == "has" and allowed:
            name = "in"
        if name in ("in", "has"):
            return name, field, self.patterns(allowed)
        while True:
            x = self.literal()
            fits = allowed is None or kind(x) in allowed
            fits = fits and (allowed != {"number"} or _is_natural(x))
            if fits and (name in ("==", "!=") or kind(x) not in ("bool", "label", "network")):
                return name, field, [("equal", x)]

    def condition(self, depth=3):
        roll = self._random.random()
        if depth == 0 or roll < 0.4:
            return self.test()
        if roll < 0.55:
            return "not", self.condition(depth - 1)
        return ("and" if roll < 0.8 else "or", *(self.condition(depth - 1) for _ in range(self._random.randrange(2, 4))))


def _is_natural(x):
    return kind(x) == "number" and x >= 0 and x == int(x)


def _is_odd(x):
    """What is no key: NaN, and zeros that are one in Python's sets and two in bytes."""
    return isinstance(x, (bool, int, float)) and not isinstance(x, Count)
