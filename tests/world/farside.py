"""The servers of the far side, and the counter of what comes from near."""
import asyncio
import json
import os
import socket
import ssl
import struct

import services

PACKET_OUTGOING = 4
SOL_PACKET, PACKET_STATISTICS = 263, 6
DEAD6 = '2001:db8:dead::1'	# nobody there, and nobody says so
NEIGHBOURS = {130, 131, 132, 133, 134, 135, 136, 137, 143}  # ICMPv6


class Counter:
    """Counts IP packets that arrive on far0, but for the kernel's own
    neighbour and multicast talk; keeps a word about the last few, and for
    each name how often it was asked for or its addresses were called."""

    def __init__(self, loop, names):
        self.packets = self.dns = 0
        self.owners = {a: n for n, pair in names.items() for a in pair}
        self.of = dict.fromkeys(names, 0)
        self.seen = []
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(3))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.sock.bind(('far0', 3))
        self.sock.setblocking(False)
        loop.add_reader(self.sock, self.drain)

    def drain(self):
        while True:
            try:
                data, addr = self.sock.recvfrom(256)
            except BlockingIOError:
                return
            if addr[2] != PACKET_OUTGOING:
                self.note(data)

    def note(self, frame):
        kind, = struct.unpack_from('!H', frame, 12)
        ip = frame[14:]
        if kind == 0x0800 and len(ip) >= 20:
            proto, rest = ip[9], ip[(ip[0] & 15) * 4:]
            dst = socket.inet_ntop(socket.AF_INET, ip[16:20])
        elif kind == 0x86dd and len(ip) >= 40:
            proto, rest = ip[6], ip[40:]
            dst = socket.inet_ntop(socket.AF_INET6, ip[24:40])
            if proto == 0 and len(rest) >= 8:	# hop-by-hop, as MLD has
                proto, rest = rest[0], rest[8 + rest[1] * 8:]
            if proto == 58 and rest and rest[0] in NEIGHBOURS:
                return
        else:
            return
        self.packets += 1
        if dst in self.owners:
            self.of[self.owners[dst]] += 1
        port = 0
        if proto in (6, 17) and len(rest) >= 4:
            port, = struct.unpack_from('!H', rest, 2)
        if len(self.seen) < 50:
            self.seen.append(f'proto {proto} to {dst} port {port}')

    def report(self):
        self.drain()
        # Reading the statistics resets them; drops are packets as well.
        raw = self.sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        self.packets += struct.unpack('II', raw)[1]
        return {'packets': self.packets, 'queries': self.dns,
                'seen': self.seen, 'of': self.of}


def by_hex(text):
    """The address a name spells: 7f000001.addr.test is at 127.0.0.1."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return None
    if len(raw) == 4:
        return socket.inet_ntop(socket.AF_INET, raw), None
    return None, socket.inet_ntop(socket.AF_INET6, raw)


class Names:
    """The resolver: the world's names and everything below them.  Names below
    dead.test and dead2.test are never answered; flip.addr.test is public at
    every other question only."""

    def __init__(self, names, counter):
        self.names, self.counter, self.flips = names, counter, 0
        self.special = {'loop.test': ('127.0.0.1', '::1'),
                        'meta.test': ('169.254.169.254', None),
                        'private.test': ('10.1.2.3', None),
                        'dual.test': ('198.51.100.10', DEAD6),
                        'self.test': ('203.0.113.2', '2001:db8:1::2')}

    def find(self, name):
        if name in self.special:
            return self.special[name]
        if name == 'flip.addr.test':
            return ('127.0.0.1' if self.flips % 2 else '198.51.100.10', None)
        if name.endswith('.addr.test'):
            return by_hex(name.split('.')[0])
        for known, addrs in self.names.items():
            if name == known or name.endswith('.' + known):
                self.counter.of[known] += 1
                return addrs
        return None

    def answer(self, q):
        if len(q) < 17:
            return None
        self.counter.dns += 1
        labels, at = [], 12
        while at < len(q) and q[at]:
            labels.append(q[at + 1:at + 1 + q[at]].decode('latin-1').lower())
            at += 1 + q[at]
        question = q[12:at + 5]
        kind, = struct.unpack_from('!H', q, at + 1)
        if labels[-2:] in (['dead', 'test'], ['dead2', 'test']):
            return None
        self.flips += kind == 1 and labels[0] == 'flip'
        addrs = self.find('.'.join(labels))
        data = None
        if addrs and kind == 1 and addrs[0]:
            data = socket.inet_pton(socket.AF_INET, addrs[0])
        if addrs and kind == 28 and addrs[1]:
            data = socket.inet_pton(socket.AF_INET6, addrs[1])
        head = q[:2] + struct.pack('!HHHHH', 0x8580 | (0 if addrs else 3),
                                   1, 1 if data else 0, 0, 0)
        if not data:
            return head + question
        return head + question + struct.pack('!HHHIH', 0xc00c, kind, 1, 60,
                                             len(data)) + data

    async def tcp(self, reader, writer):
        n, = struct.unpack('!H', await reader.readexactly(2))
        a = self.answer(await reader.readexactly(n))
        if a:
            writer.write(struct.pack('!H', len(a)) + a)
        writer.close()


class NamesUdp(asyncio.DatagramProtocol):
    def __init__(self, names):
        self.names = names

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        a = self.names.answer(data)
        if a:
            self.transport.sendto(a, addr)


def web(scheme, owners, ca, work):
    """GET /anything answers '<scheme> <name of the address>'; /bytes/N
    answers N bytes; the rest is in services.py."""
    async def handle(reader, writer):
        request = await reader.readuntil(b'\r\n\r\n')
        words = request.split(b' ')
        local = writer.get_extra_info('sockname')[0]
        name = owners.get(local, local)
        body = f'{scheme} {name}\n'.encode()
        if await services.web_path(reader, writer, request, name, ca,
                                   work):
            return
        if len(words) > 1 and words[1].startswith(b'/bytes/'):
            body = b'x' * min(int(words[1][7:]), 1 << 30)
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
                     b'Connection: close\r\nContent-Length: %d\r\n\r\n'
                     % len(body))
        writer.write(body)
        await writer.drain()
        writer.close()
    return handle


async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


def quiet(handler):
    """A client that goes away early is no news."""
    async def wrapped(reader, writer):
        try:
            await handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError,
                asyncio.LimitOverrunError, ValueError):
            writer.close()
    return wrapped


async def run(names, traps, ca, count_path, is_ready):
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)
    counter = Counter(loop, names)
    resolver = Names(names, counter)
    owners = counter.owners
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(f'{ca}/server.pem')

    async def count(reader, writer):
        writer.write(json.dumps(counter.report()).encode() + b'\n')
        writer.close()

    work = os.path.dirname(count_path)
    listeners = [(80, web('http', owners, ca, work), None),
                 (443, web('https', owners, ca, work), tls),
                 (7, echo, None), (53, resolver.tcp, None)]
    services.prepare(ca, work)
    listeners += [(port, handler, None) for port, handler in
                  services.ports(owners, ca, work).items()]
    for family, host in ((socket.AF_INET, '0.0.0.0'), (socket.AF_INET6, '::')):
        for port, handler, ctx in listeners:
            await asyncio.start_server(quiet(handler), host, port,
                                       family=family, ssl=ctx, backlog=512)
    for host in ['203.0.113.1'] + [t for t in traps if t == '8.8.8.8']:
        await loop.create_datagram_endpoint(lambda: NamesUdp(resolver),
                                            local_addr=(host, 53))
    for host in [pair[0] for pair in names.values()]:
        await loop.create_datagram_endpoint(UdpEcho, local_addr=(host, 7))
    await asyncio.start_unix_server(count, count_path)
    os.chmod(count_path, 0o666)
    is_ready()
    await asyncio.Event().wait()


class UdpEcho(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        self.transport.sendto(data, addr)


def serve(names, traps, ca, count_path, is_ready):
    asyncio.run(run(names, traps, ca, count_path, is_ready))
