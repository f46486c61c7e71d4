"""As refused.c: makes the calls of a plan on stdin through python's own."""
import ctypes
import os
import socket
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)


def c(name, *args):
    if getattr(libc, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), name)


def unix(path, call):
    with socket.socket(socket.AF_UNIX) as s:
        getattr(s, call)(path)


def inet(addr, port, kind, call):
    with socket.socket(socket.AF_INET, kind) as s:
        if call == 'send':
            s.sendto(b'x', (addr, int(port)))
        else:
            s.connect((addr, int(port)))


OPS = {
    'open_write': lambda a, b: os.close(os.open(a, os.O_WRONLY)),
    'open_append': lambda a, b: open(a, 'a').close(),
    'open_trunc': lambda a, b: open(a, 'r+').close(),
    'open_make': lambda a, b: open(a, 'w').close(),
    'open_excl': lambda a, b: open(a, 'x').close(),
    'truncate': lambda a, b: os.truncate(a, 1),
    'unlink': lambda a, b: os.unlink(a),
    'unlinkat': lambda a, b: os.unlink(a, dir_fd=None),
    'remove': lambda a, b: os.remove(a),
    'rmdir': lambda a, b: os.rmdir(a),
    'mkdir': lambda a, b: os.mkdir(a),
    'mkfifo': lambda a, b: os.mkfifo(a),
    'symlink': lambda a, b: os.symlink('to', a),
    'link': lambda a, b: os.link(a, b),
    'rename': lambda a, b: os.rename(a, b),
    'chmod': lambda a, b: os.chmod(a, 0o644),
    'chown': lambda a, b: os.chown(a, os.getuid(), os.getgid()),
    'lchown': lambda a, b: os.lchown(a, os.getuid(), os.getgid()),
    'utimes': lambda a, b: os.utime(a),
    'setxattr': lambda a, b: os.setxattr(a, 'user.t', b'1'),
    'removexattr': lambda a, b: os.removexattr(a, 'user.t'),
    'unix_bind': lambda a, b: unix(a, 'bind'),
    'unix_connect': lambda a, b: unix(a, 'connect'),
    'open_read': lambda a, b: open(a).close(),
    'stat': lambda a, b: os.stat(a),
    'lstat': lambda a, b: os.lstat(a),
    'readlink': lambda a, b: os.readlink(a),
    'chdir': lambda a, b: os.chdir(a),
    'statfs': lambda a, b: os.statvfs(a),
    'getxattr': lambda a, b: os.getxattr(a, 'user.t'),
    'opendir': lambda a, b: os.listdir(a),
    'scandir': lambda a, b: list(os.scandir(a)),
    'spawn': lambda a, b: subprocess.run([a], check=False),
    'dlopen': lambda a, b: ctypes.CDLL(a),
    'tcp': lambda a, b: inet(a, b, socket.SOCK_STREAM, 'connect'),
    'udp_send': lambda a, b: inet(a, b, socket.SOCK_DGRAM, 'send'),
    'udp_connect': lambda a, b: inet(a, b, socket.SOCK_DGRAM, 'connect'),
    'mount': lambda a, b: c('mount', b'none', b'/tmp', b'tmpfs', 0, None),
    'umount': lambda a, b: c('umount2', b'/tmp', 2),
    'chroot': lambda a, b: os.chroot('/tmp'),
    'sethostname': lambda a, b: socket.sethostname('x'),
    'unshare': lambda a, b: c('unshare', 0x10000000),
    'packet': lambda a, b: socket.socket(socket.AF_PACKET,
                                         socket.SOCK_RAW).close(),
    'raw': lambda a, b: socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                      1).close(),
}

for line in sys.stdin:
    ident, kind, a, b = (line.split() + ['', ''])[:4]
    rv = 'skip'
    if kind in OPS:
        try:
            OPS[kind](a, b)
            rv = 0
        except OSError as e:
            rv = e.errno or 13
    print(ident, os.getpid(), rv, flush=True)
