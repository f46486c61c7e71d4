#!/usr/bin/env bash
# The filters of `profile: strict` and of those who may nest a sandbox, alone:
# what programs do under them, and what they then cannot.
# limit: 240
. "$(dirname "$0")/../lib.sh"

# under WHO KIND CMD…: with that filter; fills $status, $out, $err
under() {
	local who=$1 kind=$2
	shift 2
	capture "$who" env HOME="$W" "$PROBES/filtered" "$who-$kind" "$@"
}

# runs WHO NAME NEEDS WANT SCRIPT: under strict, in a fresh $W
runs() {
	if ! command -v "$3" >/dev/null; then
		skip "no $3 here" "$1: strict: $2"
		return
	fi
	W=$(workspace "$1")
	under "$1" strict bash -ec "$5"
	is "$status" 0 "$1: strict: $2"
	like "$out" "$4" "$1: strict: $2: what it said"
	unlike "$err" 'not implemented|not permitted' \
	    "$1: strict: $2: no complaint"
}

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@allowed.test
export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@allowed.test
export GIT_CONFIG_NOSYSTEM=1

strict() {	# strict WHO
	runs "$1" "bash" bash '^3 x y$' 'set -m; a=$(echo $((1 + 2)))
		sleep 0.01 & wait; coproc cat; echo x >&"${COPROC[1]}"
		read -r b <&"${COPROC[0]}"; kill "$COPROC_PID"
		echo "$a $b $(cat <(echo y))"'
	runs "$1" "everyday tools" tar '^done$' '{ mkdir d; echo x >d/a
		ln -s a d/l; cp -a d e; mv e f; touch -d yesterday f/a
		chmod 600 f/a; tar czf a.tgz f; tar xzf a.tgz; sort -R f/a
		find . -name a -exec grep -l x {} + | xargs -P2 -n1 wc -c
		timeout 5 true; df .; ps; ls -laR; stat d
		dd if=d/a of=g conv=fsync 2>&1; rm -rf d f; } >log; echo done'
	runs "$1" "make and gcc" gcc '^hello$' '
		printf "#include <stdio.h>\nint main(void){puts(\"hello\");}" \
		    >h.c
		printf "h: h.o\n\tgcc -o h h.o\n" >Makefile
		printf "h.o: h.c\n\tgcc -O2 -pipe -c h.c\n" >>Makefile
		make -s -j2; gcc -flto=2 -o lto h.c; ar rcs l.a h.o; ./h'
	runs "$1" "git" git '^first$' 'git init -q; echo 1 >f; git add f
		git commit -qm first; git branch b; git gc -q
		git clone -q . c; git -C c fetch -q; git worktree add -q t
		git stash list; git log --format=%s'
	runs "$1" "python" /usr/bin/python3 'thread.285 x$' \
	    "/usr/bin/python3 '$T/all.py'"
	runs "$1" "node" node '^worker 42$' "node '$T/all.js'"
	runs "$1" "curl" curl '^x$' '/usr/bin/python3 -um http.server -b \
		127.0.0.1 0 >log 2>&1 & echo x >f
		until grep -q port log; do sleep 0.05; done
		p=$(sed -n "s/.* port \([0-9]*\) .*/\1/p" log)
		curl -s "http://127.0.0.1:$p/f"; kill %1'
	runs "$1" "ssh" ssh '^port 22$' 'ssh-keygen -q -t ed25519 -N "" -f k
		eval "$(ssh-agent -a "$PWD/s")" >/dev/null; ssh-add -q k
		ssh-agent -k >/dev/null; ssh -F none -G x.test | grep "^port"'
	runs "$1" "perl" perl '^ok$' 'perl -e "system(q(true)) == 0 or die;
		use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die;
		select(undef, undef, undef, 0.01); print qq(ok\n)"'
}

# What strict has not.
strict_walls() {	# strict_walls WHO
	W=$(workspace "$1")
	under "$1" strict "$PROBES/callprobe"
	local row
	for row in mount:EPERM bpf:EPERM clone-user:EPERM AF_VSOCK:EPERM \
	    TIOCSTI-high:EPERM clone3:ENOSYS ptrace-self:ENOSYS \
	    personality-ask:ENOSYS unshare-files:ENOSYS clone:OK AF_INET:OK; do
		is "$(sed -n "s/^${row%:*} //p" <<<"$out")" "${row#*:}" \
		    "$1: strict: ${row%:*}"
	done
	if [ "$(uname -m)" = x86_64 ]; then
		is "$(grep -c '^i386-.* ENOSYS$' <<<"$out")" 3 \
		    "$1: strict: no i386 entry"
		like "$out" 'x32-getpid SYS' "$1: strict: x32 dies"
	fi
}

nested() {	# nested WHO
	local sandbox=(bwrap --ro-bind / / --dev /dev --unshare-user
	    --unshare-pid --unshare-net --hostname inner --unshare-uts
	    --tmpfs /tmp --proc /proc sh -c 'uname -n; ls -A /tmp')
	W=$(workspace "$1")
	capture "$1" "${sandbox[@]}"
	if [ "$status" != 0 ]; then
		skip "bwrap cannot: $err" "$1: a sandbox in the jail"
		return
	fi
	under "$1" nested "${sandbox[@]}"
	is "$status$out" 0inner "$1: nested: a sandbox of one's own works"
	under "$1" strict "${sandbox[@]}"
	is "$status" 1 "$1: strict: and not there"
	capture "$1" "$PROBES/filtered" "$1" "${sandbox[@]}"
	is "$status" 1 "$1: nor without being asked for"
	under "$1" nested unshare -Urm sh -c 'mount -t tmpfs x /mnt && echo m'
	is "$out" m "$1: nested: mount(8) in a namespace of one's own"
	under "$1" nested "$PROBES/callprobe"
	local row
	for row in bpf:EPERM keyctl:EPERM AF_VSOCK:EPERM fsopen:ENOSYS \
	    netlink-netfilter:EPERM TIOCSTI:EPERM open_by_handle_at:EPERM \
	    unshare-user:OK; do
		is "$(sed -n "s/^${row%:*} //p" <<<"$out")" "${row#*:}" \
		    "$1: nested: ${row%:*}"
	done
}

cat >"$T/all.py" <<'PYTHON'
import asyncio, multiprocessing as mp, socket, sqlite3, threading
def square(x):
    return x * x
async def main():
    p = await asyncio.create_subprocess_exec('echo', 'x', stdout=-1)
    return (await p.communicate())[0].decode().strip()
if __name__ == '__main__':
    total = [sum(mp.get_context(way).Pool(2).map(square, range(10)))
             for way in ('fork', 'spawn', 'forkserver')]
    t = threading.Thread(target=print, args=('thread',))
    t.start(), t.join()
    sqlite3.connect('x.db').execute('create table t(a)')
    socket.create_server(('127.0.0.1', 0)).close()
    assert total == [285] * 3
    print(total[0], asyncio.run(main()))
PYTHON
cat >"$T/all.js" <<'NODE'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const fs = require('fs'), cp = require('child_process');
if (isMainThread) {
	const w = fs.watch('.', () => {});
	fs.writeFileSync('f', 'x');
	cp.execFileSync('/bin/true');
	const s = require('http').createServer((q, r) => r.end('x'));
	s.listen(0, '127.0.0.1', async () => {
		const url = `http://127.0.0.1:${s.address().port}`;
		await (await fetch(url)).text();
		s.close();
		s.closeAllConnections();
		w.close();
		new Worker(__filename).on('message', (m) =>
		    console.log('worker', m));
	});
} else
	parentPort.postMessage(6 * 7);
NODE
chmod 644 "$T"/all.*

for who in $WHOS; do
	strict "$who"
	strict_walls "$who"
	nested "$who"
done
finish
