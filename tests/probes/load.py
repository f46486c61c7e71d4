"""load WHAT ADDRESS...: what a heavy client inside a jail does; standard
library alone.  Prints one line, "WHAT N good, N bad", and exits 0.

	hold N FILE	N tunnels by CONNECT, echo through each, wait for FILE,
			echo again through each
	short N WIDE	N connections of one byte there and back, WIDE at once
	slow N BYTES	N transfers whose reader takes its time, all bytes counted
	half N		N half-closed clients: all of what they sent comes back
	resets N	N clients that reset in the middle
	vanish N	N clients that close while the origin goes on listening
	open N		N connections that say nothing
	queries N	N DNS queries without reading an answer
"""
import asyncio
import os
import random
import resource
import socket
import struct
import sys

HOST, PROXY = 'allowed.test', ('127.0.0.1', 3128)


async def tunnel(port=7, host=HOST):
    r, w = await asyncio.open_connection(*PROXY)
    w.write(f'CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}\r\n\r\n'.encode())
    head = await r.readuntil(b'\r\n\r\n')
    if b' 200 ' not in head.split(b'\r\n')[0]:
        w.close()
        raise OSError(head)
    return r, w


async def echo(r, w, data=b'y'):
    w.write(data)
    if await r.readexactly(len(data)) != data:
        raise OSError('other bytes')


async def tally(what, jobs):
    got = await asyncio.gather(*jobs, return_exceptions=True)
    bad = [g for g in got if isinstance(g, BaseException)]
    print(f'{what} {len(got) - len(bad)} good, {len(bad)} bad', *bad[:3],
          flush=True)


async def hold(count, until):
    conns = []
    for _ in range(int(count)):
        conns.append(await tunnel())
    await asyncio.gather(*[echo(*c) for c in conns])
    print('up', flush=True)
    while not os.path.exists(until):
        await asyncio.sleep(0.05)
    await tally('hold', [echo(*c) for c in conns])


async def short(count, wide):
    gate = asyncio.Semaphore(int(wide))

    async def one(i):
        async with gate:
            if i % 2:
                r, w = await tunnel()
            else:		# no proxy: the transparent gate
                r, w = await asyncio.open_connection(HOST_ADDRESS, 7)
            await echo(r, w)
            w.close()
    await tally('short', [one(i) for i in range(int(count))])


async def slow(count, nbytes):
    async def one():
        r, w = await tunnel(80)
        w.write(f'GET /bytes/{nbytes} HTTP/1.0\r\n\r\n'.encode())
        await r.readuntil(b'\r\n\r\n')
        left = int(nbytes)
        while left:
            part = await r.read(random.choice((1, 100, 65536)))
            if not part:
                raise OSError('cut short')
            left -= len(part)
            if random.random() < 0.05:
                await asyncio.sleep(0.01)
    await tally('slow', [one() for _ in range(int(count))])


async def half(count):
    async def one(i):
        r, w = await tunnel()
        data = bytes([i % 256]) * 20000
        w.write(data)
        w.write_eof()
        if await r.read(-1) != data:
            raise OSError('other bytes')
    await tally('half', [one(i) for i in range(int(count))])


async def resets(count):
    async def one():
        r, w = await tunnel(80)
        w.write(b'GET /bytes/1000000 HTTP/1.0\r\n\r\n')
        await r.read(1)
        w.get_extra_info('socket').setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        w.transport.abort()
    await tally('resets', [one() for _ in range(int(count))])


async def vanish(count, port):
    async def one():
        _, w = await tunnel(port, '203.0.113.2')
        w.close()
    await tally('vanish', [one() for _ in range(int(count))])


async def open_many(count):
    socks, bad = [], 0
    for _ in range(int(count)):
        s = socket.socket()
        s.setblocking(False)
        try:
            s.connect(PROXY)
        except BlockingIOError:
            pass
        except OSError:
            bad += 1
        socks.append(s)
    print(f'open {len(socks)} tried', flush=True)
    await asyncio.sleep(float(os.environ.get('LOAD_HOLD', '0')))


async def queries(count):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(('127.0.0.1', 53))
    s.setblocking(False)
    sent = 0
    for i in range(int(count)):
        name = b'x%07d' % i
        q = (b'\x12\x34\1\0\0\1\0\0\0\0\0\0\x08' + name +
             b'\6denied\4test\0\0\1\0\1')
        try:
            sent += s.send(q) > 0
        except OSError:
            pass
    print(f'queries {sent} sent', flush=True)

resource.setrlimit(resource.RLIMIT_NOFILE,
                   (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
HOST_ADDRESS = None
if sys.argv[1] == 'short':
    HOST_ADDRESS = socket.gethostbyname(HOST)
JOBS = {'hold': hold, 'short': short, 'slow': slow, 'half': half,
        'resets': resets, 'vanish': vanish, 'open': open_many,
        'queries': queries}
asyncio.run(JOBS[sys.argv[1]](*sys.argv[2:]))
