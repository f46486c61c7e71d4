#!/usr/bin/env bash
# Commands that are denied are refused to programs inside, too, by the words
# that are really executed; what is permitted runs as it does without fence.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy COMMAND-SECTION [REST]
	echo "{ \"filesystem\": { \"allowWrite\": [\".\"] },
	    \"command\": { $1 }${2:-} }" >"$T/p.json"
	chmod 644 "$T/p.json"
}
# By a file, into which nobody looks before the run.
run() {		# run COMMAND…
	rm -f "$W/trace"
	printf 'exec %s\n' "$(printf '%q ' "$@")" >"$W/command"
	fence "$who" -s "$T/p.json" --trace-file "$W/trace" -- bash ./command
}
about() {	# about OBJECT [FIELD]
	denials "$W/trace" "$1" command. "${@:2}"
}

# refused NAME COMMAND…: `id` is refused to it, and `id -u` would not be told
refused() {
	run "${@:2}"
	is "$(about /usr/bin/id unmapped.fence.enforcer | sort -u)" exec \
	    "$who: $1: refused"
	unlike "$out" 'uid=' "$who: $1: and it did not run"
}

phrase='Runtime exec policy blocked exec="/usr/bin/id" argv=\["id" "-x"\] EACCES'
for who in $WHOS; do
	W=$(workspace "$who")
	policy '"deny": ["id", "uname -a", "execrace say forbidden", "forbidden"]'

	# What a user sees.
	run sh -c 'id -x; echo "status $?"; uname -a; uname -s; /bin/echo fine'
	is "$status:$out" $'0:status 126\nLinux\nfine' \
	    "$who: denied ones are refused, all others run"
	like "$err" "\[fence:exec\] .*✗ $phrase .*rule command.deny\[0\] \"id\" .*p.json:2:" \
	    "$who: the record is printed without -m"
	like "$err" 'argv=\["uname" "-a"\].*command.deny\[1\]' \
	    "$who: a rule of two words"
	unlike "$err" '"-s"' "$who: and no more than that"
	like "$err" 'id: .*[Pp]ermission denied' "$who: the shell goes on"
	unlike "$err" '^fence: execution' \
	    "$who: where the record is, no second line is"
	is "$(about /usr/bin/id)" 1 "$who: a search along PATH is one refusal"
	for f in class_uid=1007 status_code=EACCES firewall_rule.uid='command.deny[0]' \
	    process.cmd_line='id -x' unmapped.fence.witness=notify \
	    unmapped.fence.trust=kernel actor.process.parent_process.name=sh; do
		is "$(about /usr/bin/id "${f%%=*}")" "${f#*=}" "$who: ${f%%=*}"
	done
	"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
	    "$W/trace" >"$T/valid" 2>&1
	ok $? "$who: the trace is valid$(sed 's/^/: /' "$T/valid")"
	run id
	is "$status" 126 "$who: the command itself"

	# The refused program's own standard error.
	# What is written into a file is written aside, and nobody waits for it.
	said="^fence: execution of '/usr/bin/id' was refused: command.deny\[0\]"
	run sh -c '(id -x) 2>&1 | cat; (id) 2>file'
	wait_for 20 grep -q "$said" "$W/file"
	is "$(cat - "$W/file" <<<"$out" | grep -c "$said")" 2 \
	    "$who: a line on a pipe, and one in a file"
	run python3 -c '
import socket, subprocess
a, b = socket.socketpair()
subprocess.run(["sh", "-c", "id; echo later >&2"], stderr=b)
b.close()
print(a.makefile().read())
r, w = __import__("os").pipe()
__import__("fcntl").fcntl(w, 1031, 4096)
__import__("os").write(w, b"x" * 4096)
print(subprocess.run(["python3", "-c", """import os
try: os.execv("/usr/bin/id", ["id"])
except OSError: os._exit(9)"""], stderr=w).returncode)'
	like "$out" "fence: execution of '/usr/bin/id' was.*later.*9" \
	    "$who: a line on a socket; a full pipe is not waited for"

	# The third time it is final, of a shell and of a program that retries.
	run sh -c '(id; id; id; id -u) 2>&1 | cat'
	is "$(grep -c 'this answer is final' <<<"$out")" 1 \
	    "$who: the third equal refusal is final, and no other"
	is "$(about /usr/bin/id unmapped.fence.answer | grep -c final)" 1 \
	    "$who: the record says so"

	# By whatever way.
	refused python python3 -c 'import subprocess as s
try: s.run(["id"])
except PermissionError: pass'
	refused spawn python3 -c 'import os
try: os.posix_spawn("/usr/bin/id", ["id"], os.environ)
except PermissionError: pass'
	refused thread python3 -c 'import os, threading
threading.Thread(target=lambda: os.execv("/usr/bin/id", ["id"])).start()'
	refused descriptor python3 -c 'import os
os.execve(os.open("/usr/bin/id", os.O_RDONLY), ["other"], os.environ)'
	printf '#!/usr/bin/id -u\n' >"$W/script"
	chmod 755 "$W/script"
	refused script sh -c ./script
	ln -sf /usr/bin/id "$W/link"
	refused symlink sh -c ./link
	refused xargs sh -c 'echo | xargs -n1 id'
	refused env env id
	refused vfork env -i /bin/sh -c /usr/bin/id
	refused argv0 bash -c 'exec -a other id'
	# exec_world knows no other name of a copy: the manual says so.
	cp /usr/bin/id "$W/copy"
	run ./copy -u
	is "$status:$err" 0: "$who: a copy passes"
	run sh -c 'exec 9</usr/bin/env; /proc/self/fd/9 echo a; ./copy -u >/dev/null;
	    /lib*/ld-linux-*.so.* /bin/echo b; echo "echo c" >s; chmod +x s; ./s'
	is "$out" $'a\nb\nc' "$who: by descriptor, by ld.so, without #!"
	run python3 -c '
import os
m = os.memfd_create("m")
os.write(m, open("/bin/echo", "rb").read())
for name in ("echo", "id"):
    if os.fork() == 0:
        try: os.execve(m, [name, "ran"], os.environ)
        except OSError as e: print(e.errno, flush=True)
        os._exit(0)
    os.wait()'
	is "$out" $'ran\n13' "$who: a memfd, by its argv[0]"

	run bash -c 'python3 -c "
import os, select
r, w = os.pipe()
os.dup2(r, 2)
try:
    os.execv(\"/usr/bin/id\", [\"id\"])
except OSError as e:
    print(e.errno, select.select([r], [], [], 0)[0])"'
	is "$out" '13 []' "$who: nothing is written into what it only reads"

	# What git and ssh would read.
	policy '"deny": ["git push"]' ', "ssh": { "allowedHosts": ["*"],
	    "deniedHosts": ["bad.test"] }'
	as "$who" git init -q "$W/r"
	as "$who" git -C "$W/r" config alias.p 'push --force'
	as "$who" git -C "$W/r" config alias.s 'status --short'
	run sh -c 'cd r && git p; git s; echo $?; ssh bad.test; echo $?'
	is "$out" $'0\n126' "$who: an alias of git, a host of ssh"
	is "$(denials "$W/trace" '' command.deny)" 1 \
	    "$who: what git executes for an alias is refused"
	# What is hidden from the jail is not read for it.
	as "$who" sh -c "mkdir '$W/kept' && printf 'Host a\n\tHostName %s\n' \
	    secret.test >'$W/kept/conf'"
	echo '{ "filesystem": { "allowWrite": ["."], "denyRead": ["kept"] },
	    "command": { "runtimeExecPolicy": "argv" },
	    "ssh": { "allowedHosts": ["a"] } }' >"$T/p.json"
	run sh -c 'ssh -F kept/conf -G a; ssh b.test; echo $?'
	unlike "$out$err" secret "$who: no name of a hidden file is told"
	like "$out" 126 "$who: and hosts are judged"
	policy '"deny": ["id", "uname -a", "execrace say forbidden", "forbidden"]'

	# Whoever changes it meanwhile.
	for name in permitted forbidden permittee; do
		cp "$PROBES/execrace" "$W/$name"
	done
	for way in spawn vfork thread shared written path; do
		run "$PROBES/execrace" "$way" 40
		like "$out" 'permitted [0-9]+ forbidden 0 refused [0-9]+ killed [0-9]+ other 0' \
		    "$who: $way: nothing forbidden runs"
		run "$PROBES/execrace" "$way" 40 twin
		is "$out" 'permitted 40 forbidden 0 refused 0 killed 0 other 0' \
		    "$who: $way: and everything else does"
	done

	# Signals.
	for way in '' restart; do
		# shellcheck disable=SC2086
		run "$PROBES/execstorm" 100 $way
		is "$out" 'bad 0' "$who: a storm of signals ${way:-without SA_RESTART}"
	done

	# Many at once; the job control of a shell.
	run bash -c 'for i in {1..200}; do /bin/true & p+=" $!"; done
	    n=0; for i in $p; do wait $i && n=$((n+1)); done; echo $n'
	is "$out" 200 "$who: many at one time"
	run bash -c 'set -m; sleep 60 & kill -STOP %1; kill -CONT %1; kill %1
	    wait %1; echo $?; /bin/echo a | cat | cat'
	is "$out" $'143\na' "$who: job control"

	# Tracers inside.
	if command -v strace >/dev/null; then
		run strace -f -o st sh -c 'id; /bin/echo fine'
		is "$status:$out" 0:fine "$who: strace"
		is "$(about /usr/bin/id)" 1 "$who: strace: the denied one is refused"
		like "$(cat "$W/trace")" 'a debugger traces it' \
		    "$who: and the record says what could not be looked at"
	fi
	if command -v gdb >/dev/null; then
		run gdb -q -batch -ex run --args sh -c 'id; /bin/echo fine; exit 3'
		like "$out" 'fine.*exited with code 03' "$who: gdb"
	fi

	# A listener of its own.
	fence "$who" -m -s "$T/p.json" -- python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
code = (ctypes.c_uint64 * 1)(0x7fff000000000006)
class Prog(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_void_p)]
nr = 317 if os.uname().machine == "x86_64" else 277
libc.syscall(nr, 1, 8, ctypes.byref(Prog(1, ctypes.addressof(code))))
print(ctypes.get_errno())'
	is "$out" 16 "$who: a second listener is EBUSY"
	like "$err" 'python3 was refused a seccomp listener of its own' \
	    "$who: and that is explained"
	FENCE_PRETEND=nonotify fence "$who" -s "$T/p.json" -- /bin/echo ran
	is "$status:$out" 125: "$who: without a listener nothing starts"
	like "$err" 'cannot hold executions' "$who: and that is said"

	# env.loader
	policy '"useDefaults": true' ', "env": { "loader": "refuse" }'
	run sh -c 'LD_PRELOAD=/x.so /bin/echo a; LD_LIBRARY_PATH=/x /bin/echo b
	    LD_LIBRARY_PATH= /bin/echo c; LD_BIND_NOW=1 /bin/echo d'
	is "$out" $'c\nd' "$who: the loader's variables are refused to children"
	is "$(denials "$W/trace" /usr/bin/echo env.loader)" 2 "$who: and told"
	policy '"useDefaults": true' ', "env": { "loader": "refuse",
	    "set": { "LD_LIBRARY_PATH": "/own" } }'
	run sh -c '/bin/echo a; LD_LIBRARY_PATH=/x /bin/echo b'
	is "$out" a "$who: what the command itself was given passes"
	policy '"useDefaults": true' ', "env": { "loader": "allow" }'
	run sh -c 'LD_LIBRARY_PATH=/x /bin/echo b'
	is "$out" b "$who: allowed, they pass"
	# git's own parts are git's: what it executes to do what it may do.
	policy '"deny": ["git reset", "git merge"]'
	as "$who" sh -c "cd '$W' && git init -q parts && cd parts &&
	    git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x &&
	    git branch b &&
	    git -c protocol.file.allow=always -c user.name=x -c user.email=x@y \
	    submodule --quiet add ./. sub"
	cat >"$T/parts.sh" <<-'SH'
	cd parts
	git worktree add -q ../tree b; echo "worktree $?"
	git reset -q --hard; echo "reset $?"
	git -c alias.x='reset -q --hard' x; echo "alias $?"
	git -c alias.x='!git reset -q --hard' x; echo "shell $?"
	"$(git --exec-path)/git" reset -q --hard; echo "core $?"
	git -c alias.x='!git-reset -q --hard' x; echo "dashed $?"
	echo '[alias] x = reset -q --hard' >inc
	git -c include.path="$PWD/inc" x; echo "included $?"
	GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x \
	    GIT_CONFIG_VALUE_0='!git' git x reset -q --hard; echo "variable $?"
	git -c x.y="$PWD" for-each-repo --config=x.y reset -q --hard
	echo "repo $?"
	git submodule --quiet foreach git reset -q --hard; echo "foreach $?"
	mkdir hooks && printf '#!%s/git reset -q HEAD\n' \
	    "$(git --exec-path)" >hooks/pre-commit && chmod +x hooks/pre-commit
	git -c core.hooksPath=hooks -c user.name=x -c user.email=x@y \
	    commit -q --allow-empty -m y; echo "hook $?"
	SH
	fence "$who" -s "$T/p.json" -- sh "$T/parts.sh"
	is "$(sed 's/ [1-9][0-9]*$/ no/' <<<"$out")" 'worktree 0
reset no
alias no
shell no
core no
dashed no
included no
variable no
repo no
foreach no
hook no' "$who: parts of git's own are executed, and nothing else of git's"

done
finish
