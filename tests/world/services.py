"""Servers of the far side that clients of all kinds call: ssh, git, rsync,
redis and HTTP/2 are the real ones, started by the first call; PostgreSQL and
MySQL have a stand-in that answers one question with the name of its host.
Everything answers with that name, so a client shows whom it reached."""
import asyncio
import base64
import ctypes
import hashlib
import os
import signal
import struct

import model

LOGIN = 'far'			# who serves when root made the world
LOGIN_ID = 64999
libc = ctypes.CDLL(None, use_errno=True)


def mapped_uid():
    """Which uid of the parent namespace is our 0."""
    with open('/proc/self/uid_map') as f:
        return int(f.read().split()[1])


def is_root():
    return os.getuid() == 0 and mapped_uid() == 0


def humble(parent):
    """A preexec_fn: the server ends with the far side and has no rights."""
    uid, real = mapped_uid(), is_root()

    def act():
        libc.prctl(1, signal.SIGKILL)		# PR_SET_PDEATHSIG
        if real:
            os.setgroups([])
            os.setresgid(LOGIN_ID, LOGIN_ID, LOGIN_ID)
            os.setresuid(LOGIN_ID, LOGIN_ID, LOGIN_ID)
        else:
            gid = os.getgid()
            if libc.unshare(0x10000000) != 0:	# CLONE_NEWUSER
                os._exit(1)
            for name, text in (('setgroups', 'deny'),
                               ('uid_map', f'{uid} 0 1'),
                               ('gid_map', f'{uid} {gid} 1')):
                with open(f'/proc/self/{name}', 'w') as f:
                    f.write(text)
        libc.prctl(1, signal.SIGKILL)		# the ids cleared it
        if os.getppid() != parent:
            os._exit(1)
    return act


async def spawn(*argv, **kw):
    null = asyncio.subprocess.DEVNULL
    args = dict(stdin=null, stdout=null, stderr=null,
                env={'PATH': os.environ['PATH'], 'HOME': '/nonexistent'})
    args.update(kw)
    return await asyncio.create_subprocess_exec(
        *argv, preexec_fn=humble(os.getpid()), **args)


async def join(reader, writer, reader2, writer2):
    """Bytes both ways until both sides are done."""
    async def one(r, w):
        try:
            while data := await r.read(65536):
                w.write(data)
                await w.drain()
            w.write_eof()
        except OSError:
            w.close()
    await asyncio.gather(one(reader, writer2), one(reader2, writer))
    for w in (writer, writer2):
        w.close()


def inetd(*argv):
    """One process for each connection, which it has as its standard input
    and output."""
    async def handle(reader, writer):
        pipe = asyncio.subprocess.PIPE
        p = await spawn(*argv, stdin=pipe, stdout=pipe)
        await join(reader, writer, p.stdout, p.stdin)
        await p.wait()
    return handle


def lazy(path, *argv):
    """A server of its own, begun by the first connection, that listens at a
    unix socket."""
    begun = []

    async def handle(reader, writer):
        if not begun:
            begun.append(True)
            await spawn(*argv)
        for _ in range(1000):
            try:
                r, w = await asyncio.open_unix_connection(path)
                break
            except OSError:
                await asyncio.sleep(0.02)
        else:
            writer.close()
            return
        await join(reader, writer, r, w)
    return handle


def owner_of(writer, owners):
    local = writer.get_extra_info('sockname')[0]
    return owners.get(local, local)


def postgres(owners):
    """Any user, any password, any question: one row with the name."""
    def msg(kind, body):
        return kind + struct.pack('!I', len(body) + 4) + body

    async def handle(reader, writer):
        ready = msg(b'Z', b'I')
        while True:
            n, code = struct.unpack('!II', await reader.readexactly(8))
            await reader.readexactly(n - 8)
            if code >> 16 == 3:			# version 3: the start
                break
            writer.write(b'N')			# no TLS, no GSS
        writer.write(msg(b'R', bytes(4)) +
                     msg(b'S', b'server_version\x0015.0\0') + ready)
        name = owner_of(writer, owners).encode()
        while True:
            kind = await reader.readexactly(1)
            n, = struct.unpack('!I', await reader.readexactly(4))
            await reader.readexactly(n - 4)
            if kind == b'X':
                break
            column = b'who\0' + struct.pack('!IHIhih', 0, 0, 25, -1, -1, 0)
            writer.write(msg(b'T', b'\0\1' + column) +
                         msg(b'D', struct.pack('!HI', 1, len(name)) + name) +
                         msg(b'C', b'SELECT 1\0') + ready)
        writer.close()
    return handle


def mysql(owners):
    """A greeting with the name as its version, and "OK" to everything."""
    async def handle(reader, writer):
        def send(n, body):
            writer.write(struct.pack('<I', len(body))[:3] + bytes([n]) + body)
        ok = bytes([0, 0, 0, 2, 0, 0, 0])
        caps = 0x0008a20d		# protocol 4.1, secure, plugin, db
        name = owner_of(writer, owners).encode()
        send(0, b'\x0a8.0.0-' + name + b'\0' + struct.pack('<I', 1) +
             b'12345678\0' + struct.pack('<HBHHB', caps & 0xffff, 33, 2,
                                         caps >> 16, 21) +
             bytes(10) + b'123456789012\0' + b'mysql_native_password\0')
        while True:
            head = await reader.readexactly(4)
            n = head[0] | head[1] << 8 | head[2] << 16
            body = await reader.readexactly(n)
            if head[3] == 0 and body[:1] == b'\1':	# COM_QUIT
                break
            send(head[3] + 1, ok)
        writer.close()
    return handle


# Paths of the web server beyond '/' and '/bytes/N'.

async def answer(writer, kind, body):
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close'
                 b'\r\nContent-Length: %d\r\n\r\n' % (kind, len(body)) + body)
    await writer.drain()
    writer.close()


async def git(reader, writer, head, path, ca):
    """git's smart protocol, as its own http-backend speaks it."""
    pipe = asyncio.subprocess.PIPE
    argv = ['git', '-c', 'safe.directory=*', 'upload-pack', '--stateless-rpc']
    body = b''
    if path.startswith('/repo.git/info/refs'):
        p = await spawn(*argv, '--advertise-refs', f'{ca}/repo.git',
                        stdout=pipe)
        body = b'001e# service=git-upload-pack\n0000'
        kind = b'application/x-git-upload-pack-advertisement'
    else:
        n = int(head.lower().split(b'content-length: ')[1].split(b'\r')[0])
        p = await spawn(*argv, f'{ca}/repo.git', stdin=pipe, stdout=pipe)
        p.stdin.write(await reader.readexactly(n))
        kind = b'application/x-git-upload-pack-result'
    if p.stdin:
        p.stdin.write_eof()
    await answer(writer, kind, body + await p.stdout.read())
    await p.wait()


async def events(writer, name):
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
                 b'Connection: close\r\n\r\n')
    for n in range(3):
        writer.write(b'data: %d %s\n\n' % (n, name.encode()))
        await writer.drain()
    writer.close()


async def websocket(reader, writer, head):
    """Echoes short text frames until the client closes."""
    key = [line.split(b': ')[1] for line in head.split(b'\r\n')
           if line.lower().startswith(b'sec-websocket-key')][0]
    proof = base64.b64encode(hashlib.sha1(
        key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    writer.write(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
                 b'Connection: Upgrade\r\nSec-WebSocket-Accept: ' + proof +
                 b'\r\n\r\n')
    while True:
        a, b = await reader.readexactly(2)
        mask = await reader.readexactly(4)
        data = await reader.readexactly(b & 127)
        data = bytes(c ^ mask[i % 4] for i, c in enumerate(data))
        writer.write(bytes([a, len(data)]) + data)
        if a & 15 == 8:
            break
    writer.close()


async def web_path(reader, writer, head, name, ca, work):
    """True if the path was one of ours."""
    words = head.split(b' ')
    path = words[1].decode('latin-1') if len(words) > 1 else ''
    if name in model.HOSTS:
        await model.serve(reader, writer, head, path, f'{work}/model.log')
    elif path.startswith('/repo.git/'):
        await git(reader, writer, head, path, ca)
    elif path == '/events':
        await events(writer, name)
    elif path == '/ws':
        await websocket(reader, writer, head)
    else:
        return False
    return True


def prepare(ca, work):
    """Files that the servers read; the world made the keys."""
    run = f'{work}/far'
    os.mkdir(run)
    if is_root():
        os.chown(run, LOGIN_ID, LOGIN_ID)
        with open('/etc/passwd', 'a') as f:
            f.write(f'{LOGIN}:x:{LOGIN_ID}:{LOGIN_ID}::{run}:/bin/sh\n')
    with open(f'{run}/.gitconfig', 'w') as f:	# root's, when he made it
        f.write('[safe]\ndirectory = *\n')
    with open(f'{work}/rsyncd.conf', 'w') as f:
        f.write(f'use chroot = no\n[files]\npath = {ca}/repo.git\n')


def ports(owners, ca, work):
    """port -> handler; files that the handlers need are in work and ca."""
    here = os.path.dirname(os.path.realpath(__file__))
    run = f'{work}/far'
    return {
        22: inetd('/usr/sbin/sshd', '-i', '-f', '/dev/null',
                  '-h', f'{ca}/ssh_host', '-o', 'StrictModes=no',
                  '-o', f'AuthorizedKeysFile={ca}/ssh_login.pub',
                  '-o', 'UsePAM=no', '-o', 'PidFile=none'),
        873: inetd('rsync', '--server', '--daemon',
                   f'--config={work}/rsyncd.conf', '.'),
        3306: mysql(owners),
        5432: postgres(owners),
        6379: lazy(f'{run}/redis', 'redis-server', '--port', '0',
                   '--unixsocket', f'{run}/redis', '--save', ''),
        8443: lazy(f'{run}/h2', 'node', f'{here}/h2.js', f'{run}/h2',
                   f'{ca}/server.pem'),
    }
