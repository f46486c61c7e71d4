#!/usr/bin/env bash
# Ways around the walls that were tried once and worked: each with a twin
# that shows the honest use still does.
# tags: serial
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON: writes $T/policy.json, outside the workspace
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir "$W" "$base/victim"

	mode=$(stat -c %a /dev/null)
	fence "$who" -- sh -c 'chmod 600 /dev/null; echo x >/dev/null && echo ok'
	is "$out" ok "$who: /dev/null takes bytes"
	is "$(stat -c %a /dev/null)" "$mode" "$who: and keeps the host's mode"

	as "$who" mkdir "$W/conf" "$W/pol"
	as "$who" sh -c "echo secret >'$W/conf/x'"
	policy '{"filesystem":{"allowWrite":["."],"denyRead":["conf/x"]}}'
	fence "$who" -s "$T/policy.json" -- sh -c '
	    mv conf conf2; cat conf/x conf2/x; echo 1 >conf/y; mv conf/y conf/z
	    cat conf/z'
	is "$out" 1 "$who: a denial's directory cannot be moved away"
	is "$(cat "$W/conf/x")" secret "$who: the denied file is whole"

	as "$who" sh -c "echo '{\"filesystem\":{\"allowWrite\":[\".\"]}}' \
	    >'$W/pol/p.json'"
	fence "$who" -s pol/p.json -- sh -c '
	    mv pol pol2; echo {} >pol/p.json; rm -f pol/p.json; echo 1 >pol/q'
	like "$(cat "$W/pol/p.json")" allowWrite \
	    "$who: the policy in force cannot be replaced"
	is "$(cat "$W/pol/q")" 1 "$who: beside it one may write"

	as "$who" ln -s pol/p.json "$W/link.json"
	fence "$who" -s link.json -- true
	is "$status" 1 "$who: a policy by a symlink in a writable tree"
	like "$err" 'symlink inside a writable tree' "$who: and why"

	as "$who" ln -s ../victim "$W/out"
	policy '{"filesystem":{"allowWrite":[".","./out"]}}'
	fence "$who" -s "$T/policy.json" -- touch out/planted
	is "$status" 1 "$who: a grant through a symlink in a writable tree"
	[ ! -e "$base/victim/planted" ]
	ok $? "$who: the place it led to is untouched"
	as "$who" rm "$W/out"
	as "$who" mkdir "$W/out"
	fence "$who" -s "$T/policy.json" -- touch out/made
	is "$status" 0 "$who: the same grant on a directory"

	as "$who" ln -s ../victim/t "$W/trace"
	fence "$who" --trace-file trace -- true
	is "$status" 125 "$who: a record through a symlink"
	[ ! -e "$base/victim/t" ]
	ok $? "$who: wrote nothing there"
	as "$who" ln -s conf "$W/way"
	for option in --trace-file --fence-log-file; do
		fence "$who" $option way/t -- true
		is "$status" 1 "$who: $option by way of a symlink"
		[ ! -e "$W/conf/t" ]
		ok $? "$who: $option: leaves no empty file"
		as "$who" touch "$W/conf/t"
		fence "$who" $option way/t -- true
		[ -e "$W/conf/t" ]
		ok $? "$who: $option: one that was there stays"
		as "$who" rm "$W/conf/t"
		fence "$who" $option conf/t -- true
		[ -e "$W/conf/t" ]
		ok $? "$who: $option: by no symlink it is made"
		as "$who" rm -f "$W/conf/t"
	done

	as_words "$who"
	(cd "$W" && "${PRE[@]}" "$FENCE_RUN" -- true <.. 2>"$T/err")
	is "$?" 1 "$who: a directory on stdin"
	like "$(cat "$T/err")" 'stdin is a directory' "$who: is named"

	is "$(cd "$W" && umask 027 && "${PRE[@]}" "$FENCE_RUN" -- sh -c umask)" \
	    0027 "$who: the umask is the caller's"

	for place in '"denyRead":["/proc/1"]' \
	    '"allowWrite":["/etc"]' '"allowWrite":["/proc"]' \
	    '"allowWrite":["/sys/kernel"]'; do
		policy "{\"filesystem\":{$place}}"
		fence "$who" -s "$T/policy.json" -- true
		is "$status" 1 "$who: $place is refused"
		like "$err" '^fence: [^b]' "$who: by fence, in words"
	done

	# Hiding what the jail is built with is possible, and hides it.
	for place in '/ 127' '/usr/lib 126' '/etc 1'; do
		policy "{\"filesystem\":{\"denyRead\":[\"${place% *}\"]}}"
		fence "$who" -s "$T/policy.json" -- cat /etc/passwd
		is "$status" "${place#* }" "$who: denyRead ${place% *}"
		is "$out" '' "$who: and nothing of it is read"
	done
	policy '{"filesystem":{"denyRead":["/etc"],"allowRead":["/etc/ssl"]}}'
	fence "$who" -s "$T/policy.json" -- sh -c 'ls /etc/ssl && ls /etc'
	like "$out" 'certs' "$who: a grant inside a hidden /etc"
	unlike "$out" 'passwd' "$who: and nothing else of the host's"

	fence "$who" -- sh -c 'touch /dev/shm/x /tmp/x && echo ok'
	is "$out" ok "$who: /dev/shm and /tmp are writable"
	shm=/dev/shm/fence-test.$$.$who
	as "$who" mkdir "$shm"
	is "$(cd "$shm" && "${PRE[@]}" "$FENCE_RUN" -- sh -c 'echo 1 >f; pwd')" \
	    "$shm" "$who: a workspace below /dev/shm"
	is "$(cat "$shm/f")" 1 "$who: which is the host's"
	rm -r "$shm"
	(cd /tmp && "${PRE[@]}" "$FENCE_RUN" -- true 2>"$T/err")
	is "$?" 1 "$who: /tmp itself is no workspace"

	as "$who" cp -R "$(dirname "$FENCE_RUN")/.." "$W/own"
	is "$(cd "$W" && "${PRE[@]}" own/bin/fence-run -- sh -c '
	    rm -f own/bin/fence-run own/libexec/fence/fence-net
	    echo x >own/libexec/fence/fence-init; mv own o2
	    echo 1 >own/note; cat own/note')" 1 \
	    "$who: beside fence's own programs one may write"
	cmp -s "$W/own/bin/fence-run" "$FENCE_RUN" &&
	    cmp -s "$W/own/libexec/fence/fence-init" \
	    "$(dirname "$FENCE_RUN")/../libexec/fence/fence-init"
	ok $? "$who: fence's own programs in the workspace are whole"
done

if [ "$IS_ROOT" = 1 ]; then
	W=$(workspace root)
	fence root -w /dev -- true
	is "$status" 1 "root: -w /dev is refused"
	like "$err" "'/dev(/[a-z]+)?' cannot be used here" \
	    "root: and the place is named"
	fence root -- sh -c 'cp /usr/bin/id s; chmod 4755 s; chmod 750 s'
	is "$(stat -c %a "$W/s")" 750 "root: no setuid file is left"
	# Nor a setgid one, by any call; what they leave is seen from outside.
	cat >"$W/setgid.py" <<-'PYTHON'
	import ctypes, os, stat
	libc = ctypes.CDLL(None, use_errno=True)
	for name in 'chmod', 'fchmod', 'dir', 'mode':
	    open(name, 'w').close() if name != 'dir' else os.mkdir(name)
	def sets(call, *args, **words):
	    try:
	        call(*args, **words)
	        print('set by', call.__name__, *args)
	    except OSError as e:
	        assert e.errno == 1, e
	sets(os.chmod, 'chmod', 0o2755)
	sets(os.chmod, 'chmod', 0o2644)
	sets(os.chmod, 'chmod', 0o6755)
	sets(os.chmod, 'dir', 0o2755)
	sets(os.fchmod, os.open('fchmod', os.O_RDWR), 0o2755)
	sets(os.open, 'open', os.O_CREAT | os.O_WRONLY, 0o2755)
	sets(os.open, '.', os.O_TMPFILE | os.O_WRONLY, 0o2755)
	sets(os.mknod, 'mknod', stat.S_IFREG | 0o2755)
	os.mkdir('made', 0o2755)
	os.chmod('mode', 0o1755)
	PYTHON
	fence root -- /usr/bin/python3 setgid.py
	is "$status:$out" 0: "root: no call sets the bit"
	is "$(find "$W" -perm /6000)" '' "root: no setgid file is left"
	is "$(stat -c %a "$W/mode" "$W/made")" $'1755\n755' \
	    "root: other modes are set"
	mkdir "/run/fence-test.$$"
	is "$(cd "/run/fence-test.$$" && "$FENCE_RUN" -- sh -c 'echo 1 >f; pwd')" \
	    "/run/fence-test.$$" "root: a workspace below /run"
	is "$(cat "/run/fence-test.$$/f")" 1 "root: which is the host's"
	rm -r "/run/fence-test.$$"
	(cd /sys && "$FENCE_RUN" -- true 2>"$T/err")
	is "$?" 1 "root: /sys is no workspace"
	# What root's jail cannot reach needs no mask, and could have none.
	hidden=$(workspace user)
	chmod 700 "$hidden"
	start user python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(1000)' "$hidden/s"
	wait_for 20 test -S "$hidden/s"
	fence root -- sh -c 'ls "$0" && echo open || echo shut' "$hidden"
	is "$status:$out" 0:shut "root: a socket in another user's folder"
	kill "$pid"
	wait "$pid"
	mkdir -p "$W/chroot/proc"
	# In a mount namespace of its own, so that nothing is left behind.
	# shellcheck disable=SC2016 # the inner shell expands
	got=$(cd "$W" && unshare -m sh -c 'mount -t proc proc chroot/proc &&
	    "$0" -- sh -c "(: >>chroot/proc/sys/kernel/core_pattern) 2>/dev/null &&
	    echo OPEN; cat chroot/proc/sys/kernel/ostype"' "$FENCE_RUN")
	is "$got" Linux "root: another /proc in the workspace is read-only"
	for f in shadow- gshadow; do
		[ -e "/etc/$f" ] || continue
		policy '{"filesystem":{"allowWrite":["."]}}'
		fence root -s "$T/policy.json" -- cat "/etc/$f"
		is "$status" 1 "root: /etc/$f is hidden under any policy"
	done
	# Keys of the machine's, in a copy of /etc in a mount namespace; what is
	# public beside them stays.
	cat >"$T/secrets" <<-'SH'
	mount -t tmpfs tmpfs /mnt && cp -a /etc/. /mnt && mount --bind /mnt /etc ||
	    exit
	cd "$2" || exit
	rm -rf /etc/ssh /etc/ssl
	mkdir -p /etc/ssh /etc/ssl/private /etc/ssl/certs
	for f in ssh/ssh_host_ed25519_key ssl/private/key \
	    ssh/ssh_host_ed25519_key.pub ssl/certs/cert; do
		echo "$f" >/etc/$f
		chmod 600 /etc/$f
	done
	cat /etc/ssh/ssh_host_ed25519_key
	exec "$0" -s "$1" -- sh -c 'cat /etc/ssh/* /etc/ssl/*/* 2>/dev/null'
	SH
	is "$(unshare -m sh -c "$(cat "$T/secrets")" "$FENCE_RUN" \
	    "$T/policy.json" "$W")" 'ssh/ssh_host_ed25519_key
ssh/ssh_host_ed25519_key.pub
ssl/certs/cert' "root: keys of the machine's are hidden under any policy"
	# A file of /etc that the host replaces while a run lasts stays hidden,
	# and the mode that hides it stays what it is.
	cat >"$T/replaced" <<-'SH'
	mount -t tmpfs tmpfs /mnt && cp -a /etc/. /mnt && mount --bind /mnt /etc ||
	    exit
	cd "$2" && mkfifo up go || exit
	mkdir -p /etc/ssh
	for f in shadow ssh/ssh_host_x_key; do
		echo old >/etc/$f; chmod 600 /etc/$f
	done
	"$0" -s "$1" -- sh -c 'echo up >up; read x <go
	    for f in shadow ssh/ssh_host_x_key; do
		cat /etc/$f; chmod 644 /etc/$f; cat /etc/$f; rm -f /etc/$f
		cat /etc/$f; stat -c %a /etc/$f
	    done' 2>err &
	read x <up
	for f in shadow ssh/ssh_host_x_key; do
		echo new >/etc/new; chmod 600 /etc/new; mv /etc/new /etc/$f
	done
	echo go >go
	wait
	grep -c denied err
	cat /etc/shadow /etc/ssh/ssh_host_x_key
	SH
	is "$(unshare -m sh -c "$(cat "$T/replaced")" "$FENCE_RUN" \
	    "$T/policy.json" "$W")" "0
0
6
new
new" "root: hidden files of /etc that the host replaces stay hidden"
fi
finish
