#!/usr/bin/env bash
# What can be missing or broken on a machine: one line that says so, a hint
# that helps, 125, and nothing was started.  files-faults.t has those of files.
. "$(dirname "$0")/../lib.sh"

nl=$'\n'
one_line="^fence: [^$nl]+(${nl}fence: hint: [^$nl]+)?\$"

# The cure of a fork that fails; that of bwrap is told by bwrap.
forks() {	# forks NAME REGEX
	case $err in
	bwrap:*)	set -- "$1" "($2|native)" ;;
	esac
	fails "$1" 'Resource temporarily unavailable' "$2"
}

fails() {	# fails NAME REGEX [HINT-REGEX]: of the last capture
	is "$status:$out" 125: "$1: nothing is started"
	# bwrap speaks for itself before we do, and a test beside this one may
	# have a socket that is nowhere to be found.
	like "$(grep -Ev '^bwrap: |unix sockets? of the host cannot be located' \
	    <<<"$err")" "$one_line" "$1: one clear line"
	like "$err" "$2" "$1: what is wrong"
	[ -z "${3-}" ] || like "$err" "hint: .*$3" "$1: and what helps"
}

works() {
	is "$status:$out:$err" 0:started: "$1"
}

# A script in $W; "$0" is fence-run, $go starts it.
script() {	# script WHO SCRIPT [ENV=VALUE…]
	capture "$1" env "${@:3}" bash -c "$2" "$FENCE_RUN"
}

stub() {	# stub DIR LINE…: a bwrap that does these
	as "$who" mkdir -p "$1"
	printf '#!/bin/sh\n' | as "$who" tee "$1/bwrap" >/dev/null
	printf '%s\n' "${@:2}" | as "$who" tee -a "$1/bwrap" >/dev/null
	as "$who" chmod 755 "$1/bwrap"
}

# Why there are no user namespaces: each known cause is told with its cure.
# What this machine has not is laid over it, for the test alone; without the
# marks of a container that it may carry.
bare_root='set -e; mount -t tmpfs -o mode=755 tmpfs "$1"
for d in /* /.[a-z]*; do
	if [ -L "$d" ]; then cp -P "$d" "$1/"
	elif [ -d "$d" ]; then mkdir "$1$d"; mount --rbind "$d" "$1$d"; fi
done
mount -t tmpfs tmpfs "$1/proc/sys/kernel"; mount -t tmpfs tmpfs "$1/run"'

cause() {	# cause NAME HINT-REGEX SPOIL-SCRIPT [WRAPPER]
	capture "$who" unshare -Um --keep-caps --map-current-user sh -c \
	    "$bare_root; cd \"\$1\"; $3"'
	    FENCE_PRETEND=nouserns exec chroot . sh -c "cd \"\$0\" && exec \"\$@\"" \
	    "$2" $3 "$0" -- echo started' \
	    "$FENCE_RUN" "$W" "$base" "${4-}"
	fails "$who: $1" "cannot make the jail's namespaces" "$2"
}

causes() {
	local k=proc/sys/kernel

	cause 'no cause known' 'a container or security module' :
	cause 'a container' 'docker/podman run --security-opt' \
	    ': >run/.containerenv'
	cause 'a filter' 'outside of the service or sandbox' : \
	    "$PROBES/filtered user"
	# It lets namespaces be made, and forbids what one needs in them.  A
	# machine made from a container's image may carry its marks.
	capture "$who" "$PROBES/filtered" user-nested "$FENCE_RUN" -- \
	    echo started
	fails "$who: a filter with holes" 'nftables rule .*not permitted' \
	    '(outside of the service|docker/podman run --security-opt)'
	if [ "$who" = root ]; then
		capture root setpriv --bounding-set=-setfcap "$FENCE_RUN" -- \
		    echo started
		fails 'root: no CAP_SETFCAP' 'cannot map the user' \
		    'cap-add SETFCAP'
		capture root setpriv --bounding-set=-sys_admin,-setpcap,-setuid \
		    "$FENCE_RUN" -- echo started
		works 'root: others are not missed'
	fi
	if [ "$who" = user ]; then	# these do not bind root
		cause "Debian's switch" 'kernel.unprivileged_userns_clone=1' \
		    "echo 0 >$k/unprivileged_userns_clone"
		cause AppArmor 'kernel.apparmor_restrict_unprivileged_userns=0' \
		    "echo 1 >$k/apparmor_restrict_unprivileged_userns"
	fi
}

go='"$0" -- echo started'
for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	bin=$base/bin
	as "$who" mkdir "$W"

	# ---- bwrap ----
	script "$who" "$go" FENCE_PRETEND=nobwrap
	fails "$who: no bwrap" 'bwrap is not installed' 'apt install bubblewrap'
	script "$who" '"$0" --engine native -- echo started' FENCE_PRETEND=nobwrap
	works "$who: without it the native engine works"
	stub "$bin" 'echo "bwrap: Unknown option --as-pid-1" >&2' 'exit 1'
	script "$who" "$go" "PATH=$bin:$PATH"
	fails "$who: an old bwrap" 'bwrap ended with status 1' \
	    'bubblewrap 0.3.0 or later'
	stub "$bin" 'echo "bwrap: No permissions to create new namespace" >&2' \
	    'exit 1'
	script "$who" "$go" "PATH=$bin:$PATH"
	fails "$who: one that refuses" 'bwrap ended with status 1' native
	stub "$bin" 'exit 0'
	script "$who" "$go" "PATH=$bin:$PATH"
	fails "$who: one that does nothing" 'bwrap ended with status 0' native
	as "$who" chmod 644 "$bin/bwrap"
	script "$who" "$go" "PATH=$bin:$PATH"
	works "$who: one that is not executable is passed by"
	as "$who" chmod 4755 "$bin/bwrap"
	script "$who" "$go" "PATH=$bin:$PATH"
	works "$who: a setuid one is passed by"
	stub "$W/here" 'echo hijacked' 'exit 0'
	script "$who" "$go" "PATH=$W/here:$PATH"
	works "$who: one in the workspace is passed by"
	script "$who" "$go" "PATH=here:.:$PATH"
	works "$who: nor is a relative entry of PATH taken"
	W=/ fence "$who" -t default-deny -- echo started
	works "$who: in / everything is below, and is taken"
	# Where there is no other: every usual place is empty.
	capture "$who" unshare -Urm sh -c 'mount --bind /dev/null "$2" &&
	    PATH=$1:$PATH exec "$0" -- echo started' "$FENCE_RUN" "$W/here" \
	    "$(readlink -f "$(command -v bwrap)")"
	fails "$who: only in the workspace" "here/bwrap' is not used" \
	    'install the bubblewrap package'
	as "$who" chmod 4755 "$bin/bwrap"
	capture "$who" unshare -Urm sh -c 'mount --bind /dev/null "$2" &&
	    PATH=$1:$PATH exec "$0" -- echo started' "$FENCE_RUN" "$bin" \
	    "$(readlink -f "$(command -v bwrap)")"
	fails "$who: only a setuid one" "bin/bwrap' is not used" \
	    'install the bubblewrap package'
	rm -r "$W/here"
	# An earlier run may have put one wherever it could write.
	stub "$base/tools/bin" 'echo hijacked' 'exit 0'
	script "$who" '"$0" -w ../tools -- echo started' \
	    "PATH=$base/tools/bin:$PATH"
	works "$who: one that the command may write is passed by"
	script "$who" '"$0" -- echo started' "PATH=$base/tools/bin:$PATH"
	is "$status:$out" 125:hijacked "$who: one that it may not is taken"
	script "$who" '"$0" -w /usr -- echo started'
	if [ "$who" = user ]; then
		is "$status:$out" 0:started "user: nor could it write this one"
	else
		is "$status:$out" 125: "root: it could, the system's"
		like "$err" 'hint: .*--engine native' "root: and what helps"
	fi
	as "$who" mkdir -p "$W/sub" "$W/tools"
	as "$who" cp "$base/tools/bin/bwrap" "$W/tools/bwrap"
	echo '{"filesystem":{"allowWrite":["."]}}' |
	    as "$who" tee "$W/fence.json" >/dev/null
	as "$who" "${FENCE_RUN%-run}" config trust "$W/fence.json" >/dev/null
	script "$who" 'cd sub && "$0" -- echo started' "PATH=$W/tools:$PATH"
	works "$who: nor is one of the workspace taken, started deeper in it"
	rm -r "$W/fence.json" "$W/tools" "$W/sub"

	# ---- the kernel, and who keeps us from it ----
	capture "$who" unshare -Ur sh -c \
	    "echo 0 >/proc/sys/user/max_user_namespaces && $go" "$FENCE_RUN"
	fails "$who: no user namespaces" "cannot make the jail's namespaces" \
	    'user.max_user_namespaces='
	for kind in net mnt pid; do
		capture "$who" unshare -Ur sh -c \
		    "echo 0 >/proc/sys/user/max_${kind}_namespaces && $go" \
		    "$FENCE_RUN"
		fails "$who: no $kind namespaces" "jail's namespaces" \
		    'user.max_user_namespaces'
	done
	while read -r feature what hint; do
		script "$who" "$go" FENCE_PRETEND="$feature"
		fails "$who: $feature" "$what" "$hint"
	done <<-'EOF'
	nouserns namespaces .
	nonetns namespaces .
	nonft nftables nft_tproxy
	nooverlay overlay modprobe
	noseccomp filters CONFIG_SECCOMP_FILTER
	EOF
	causes
	# As in containers: a part of /proc is covered.
	for engine in bwrap native; do
		capture "$who" unshare -Urm sh -c 'mount -t tmpfs tmpfs /proc/fs &&
		    exec "$0" --engine "$1" -- echo started' "$FENCE_RUN" \
		    "$engine"
		fails "$who: a masked /proc, $engine" 'mount its own /proc' \
		    'systempaths=unconfined'
	done

	# ---- nothing left ----
	for n in 1000 2500 3000 3500 4000 6000; do
		script "$who" "ulimit -v $n; exec $go"
		case $status in
		0)	works "$who: $n kB of memory" ;;
		126 | 127 | 139)	# its loader, before anything of ours
			is "$out" "" "$who: $n kB of memory: nothing is started" ;;
		*)	fails "$who: $n kB of memory" . memory ;;
		esac
	done

	# ---- our own parts ----
	cp -R "$FENCE_PREFIX" "$base/own"
	chmod -R go+rX "$base/own"
	parts=$(cd "$base/own/libexec/fence" && ls)
	for part in $parts; do
		case $part in
		*32.so | fence-names | fence-try | *probe*) continue ;;	# not always
		esac
		mv "$base/own/libexec/fence/$part" "$base/$part"
		capture "$who" "$base/own/bin/fence-run" -- echo started
		fails "$who: $part is missing" "$part|libexec"
		cp "$base/$part" "$base/own/libexec/fence/$part"
		: >"$base/own/libexec/fence/$part"
		chmod 644 "$base/own/libexec/fence/$part"
		case $part in
		*.so)	;;	# the loader complains in each program
		*)	capture "$who" "$base/own/bin/fence-run" -- echo started
			fails "$who: $part is empty" . ;;
		esac
		mv "$base/$part" "$base/own/libexec/fence/$part"
	done
	capture "$who" "$base/own/bin/fence-run" -- echo started
	works "$who: and with all of them it works"
	is "$(ls -A "$W")" "" "$who: nothing of all that is left"
done

# Root's processes are not counted, and nothing is closed to it.
W=$(workspace user)
bash_uid=$(as user id -u)
for n in 1 2 3 4 5 6; do
	script user "ulimit -u $n; exec $go"
	case $status in
	0)	works "user: $n processes" ;;
	*)	forks "user: $n processes" 'ulimit -u' ;;
	esac
done
script user "ulimit -u 1; exec $go"
fails "user: no process of uid $bash_uid can be started" \
    'Resource temporarily unavailable' 'ulimit -u'
# A group of the test's own holds root, too.
group=/sys/fs/cgroup/pids/fence-faults.$$
if [ "$IS_ROOT" = 1 ] && mkdir "$group" 2>/dev/null; then
	W=$(workspace root)
	for n in 1 2 3 4 5 6 7 8; do
		echo $n >"$group/pids.max"
		capture root sh -c 'echo $$ >"$1/cgroup.procs" && exec "$0" -- \
		    echo started' "$FENCE_RUN" "$group"
		case $status in
		0)	works "root: $n processes" ;;
		*)	forks "root: $n processes" pids.max ;;
		esac
	done
	is "$status" 0 "root: eight are enough"
	wait_for 20 rmdir "$group" 2>/dev/null
	ok $? "root: and nobody is left in the group"
elif [ "$IS_ROOT" = 1 ]; then
	skip "no cgroup of version 1 counts processes" "root: no process more"
fi
if [ "$IS_ROOT" = 1 ]; then
	W=$(workspace user)
	own=$W/own
	cp -R "$FENCE_PREFIX" "$own"
	for part in fence-init fence-net libfence-shim.so; do
		chmod 700 "$own/libexec/fence/$part"
		capture user "$own/bin/fence-run" -- echo started
		fails "user: $part is root's alone" "$part.*Permission denied"
		chmod 755 "$own/libexec/fence/$part"
	done
	rm -r "$own"
	state=$(workspace root)
	chmod 755 "$state"
	for policy in '{"filesystem":{"allowWrite":["."]}}' \
	    '{"filesystem":{"allowWrite":[".","~/.cache/x/y"]}}'; do
		echo "$policy" >"$T/p.json"
		chmod 644 "$T/p.json"
		script user "\"\$0\" -s '$T/p.json' -- echo started" \
		    XDG_STATE_HOME="$state" HOME="$state"
		is "$status:$out" 0:started "user: a state folder of root's"
	done
	is "$(ls -A "$state")" "" "user: nothing is made there"
fi
finish
