#!/usr/bin/env bash
# What goes wrong around a run: kill -9, no room, no descriptors, no home.
# Either it works, or it is one clear error and nothing was started.
. "$(dirname "$0")/../lib.sh"

# kill -9 at each named point, of a run that hides, locks, guards and makes
# things, and whose command plants guarded names.
kills='
import importlib.machinery, importlib.util, os, subprocess, sys
loader = importlib.machinery.SourceFileLoader("kill_at", sys.argv[1])
sys.dont_write_bytecode = True
kill_at = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("kill_at", loader))
loader.exec_module(kill_at)
fence, base = sys.argv[2:]
work, home = base + "/w", base + "/home"
state = home + "/.local/state/fence"
POINTS = ("after-policy", "after-workers", "before-clone", "in-child-maps",
          "in-child-net", "in-child-mounts", "after-clone", "before-go",
          "after-go", "started", "exiting", "after-exit")
BEFORE = POINTS[:POINTS.index("after-go")]

def names(top):
    return sorted(os.path.join(w, n) for w, d, f in os.walk(top)
                  for n in d + f)

def picture():
    found = {}
    for p in names(work) + names(home):
        if p.startswith(state) or p in (work + "/made", home + "/.local",
                                        home + "/.local/state"):
            continue
        st = os.lstat(p)
        body = open(p, "rb").read() if os.path.isfile(p) else b""
        found[p] = st.st_mode, st.st_uid, st.st_ino, body
    return found

def run(point=None):
    env = dict(os.environ, HOME=home, FENCE_PRETEND="noshim")
    if point:
        env["FENCE_PAUSE_AT"] = point
    r, w = os.pipe()
    p = subprocess.Popen([fence, "-s", base + "/policy.json", "--", "sh",
        "-c", "echo x >made; mkdir .vscode; echo x >.vscode/t; echo x >.envrc"
        "; mv .git g; rm -f .bashrc; echo x >>.git/config; exit 0"],
        cwd=work, env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=w)
    os.close(w)
    reached = kill_at.says(r, f"paused at {point}".encode()) if point else True
    if point:
        p.kill()
    status = p.wait()
    os.close(r)
    gone = kill_at.until(lambda: (kill_at.reap(),
                                  not kill_at.descendants())[1])
    return reached and gone, status

def tap(good, name, *notes):
    print("ok" if good else "not ok", "-", name)
    for n in () if good else notes:
        print("#", n)
    sys.stdout.flush()

before = picture()
for point in POINTS:
    fine, _ = run(point)
    after = picture()
    wrong = [p for p in set(before) | set(after)
             if before.get(p) != after.get(p)
             and not p.startswith(home + "/fresh")]
    tap(fine and not wrong, f"kill -9 at {point}: the tree is as it was",
        f"reached and gone: {fine}", *wrong)
    if point in BEFORE:
        tap(not names(state + "/quarantine"),
            f"kill -9 at {point}: nothing went to quarantine",
            *names(state + "/quarantine"))
fine, status = run()
after = picture()
tap(fine and status == 0 and after == before,
    "the next run works, and sweeps what the killed ones had to make",
    f"status {status}", *[p for p in set(before) | set(after)
                          if before.get(p) != after.get(p)])
'

kill_part() {	# kill_part WHO, in a world
	local base=$T/kills

	mkdir -p "$base/w/.git/hooks" "$base/home"
	(cd "$base/w" && echo x >.git/config && echo x >.git/HEAD &&
	    echo x >.git/hooks/pre-commit && echo x >.bashrc &&
	    echo x >secret && echo x >locked && echo x >mine)
	echo rc >"$base/home/.profile"
	echo '{"filesystem":{"allowWrite":[".","~/fresh/dir"],
	    "denyRead":["secret"],"denyWrite":["locked"]}}' \
	    >"$base/policy.json"
	/usr/bin/python3 -c "$kills" "$TESTS/kill-at" "$FENCE_RUN" "$base" |
	    sed "s/ - / - $1: /" | count_tap
	return "${PIPESTATUS[0]}"
}

if [ "${1-}" = inside ]; then
	kill_part "$2"
	exit
fi

nl=$'\n'
one_line="^fence: [^$nl]+(${nl}fence: hint: [^$nl]+)?\$"

# Did it work, or say in a line what is wrong and start nothing?
works() {	# works NAME
	is "$status:$out" 0:started "$1"
}

refuses() {	# refuses NAME [REGEX]
	case $status in
	1 | 125)	is "$out" "" "$1: nothing was started" ;;
	*)		is "$status" "1 or 125" "$1: the status" ;;
	esac
	like "$err" "$one_line" "$1: one clear line"
	like "$err" "${2:-.}" "$1: which says why"
}

fails() {	# fails NAME REGEX HINT-REGEX: the machine is at fault
	is "$status:$out" 125: "$1: 125, nothing was started"
	like "$err" "$one_line" "$1: one clear line"
	like "$err" "$2.*hint: .*$3" "$1: which says why, and what helps"
}

works_or_refuses() {	# NAME [REGEX]
	if [ "$status" = 0 ]; then
		works "$1"
	else
		refuses "$@"
	fi
}

# sh WHO SCRIPT: SCRIPT in $W; "$0" is fence-run.
script() {
	capture "$1" sh -c "$2" "$FENCE_RUN"
}

# The same, with mounts of its own.
mounting() {
	if [ "$1" = root ]; then
		capture root unshare -m sh -c "$2" "$FENCE_RUN"
	else
		capture user unshare -Urm sh -c "$2" "$FENCE_RUN"
	fi
}

go='"$0" -- echo started'
for who in $WHOS; do
	inside "$who"
	W=$(workspace "$who")

	# No room.  The command's own writes are the command's affair.
	tiny='mkdir -p tiny && mount -t tmpfs -o size=64k,mode=755 tmpfs tiny &&
	    cd tiny && mkdir work state &&
	    { head -c 128k /dev/zero >full 2>/dev/null || :; } && cd work &&'
	mounting "$who" "$tiny $go"
	works "$who: a full workspace"
	mounting "$who" "$tiny \"\$0\" -- sh -c 'echo x >f || echo failed'"
	is "$out" failed "$who: where the command's writes fail"
	mounting "$who" "$tiny XDG_STATE_HOME=\$PWD/../state \
	    TMPDIR=\$PWD XDG_CACHE_HOME=\$PWD XDG_CONFIG_HOME=\$PWD $go"
	works_or_refuses "$who: a full disk for fence's state" 'No space'
	mounting "$who" "$tiny \"\$0\" --trace-file ../state/t -- echo started"
	works_or_refuses "$who: a full disk for the record" 'No space|record'
	mounting "$who" "${tiny/size=64k/size=1m,nr_inodes=5} $go"
	works "$who: no inodes left in the workspace"
	rm -rf "$W/tiny"

	# No room for what has to go to quarantine: it does not stay, either.
	mounting "$who" "$tiny XDG_STATE_HOME=\$PWD/../state FENCE_PRETEND=noshim
	    export XDG_STATE_HOME FENCE_PRETEND; cd ../.. && mkdir w && cd w &&
	    \"\$0\" -- sh -c 'mkdir .idea; head -c 1m /dev/zero >.idea/big
	    mkfifo .envrc; truncate -s 9g .zshenv; echo started'
	    ls -d .idea .envrc .zshenv 2>/dev/null"
	is "$out" started "$who: a full quarantine: no name outlives the run"
	like "$err" '\.envrc' "$who: and it is told"
	rm -rf "$W/tiny" "$W/w"
	# No room for quarantine itself, on the very same disk.
	mounting "$who" "${tiny/size=64k/size=64k,nr_inodes=20}
	    XDG_STATE_HOME=\$PWD/../state FENCE_PRETEND=noshim
	    export XDG_STATE_HOME FENCE_PRETEND; mkdir d; : >d/f
	    \"\$0\" -- sh -c 'i=0; echo started
	    while true >f\$i; do i=\$((i + 1)); done
	    mv f0 .envrc; mv d .idea'
	    ls -d .idea .envrc 2>/dev/null; ls -A ../state/fence/quarantine 2>/dev/null
	    ls -d .idea.fence-*/f .envrc.fence-* | wc -l"
	is "$out" "started
2" "$who: no room for quarantine: no name outlives the run, nothing is lost"
	like "$err" "\.envrc' is a guarded name: [^$nl]* lies beside it; \
back with: mv '[^ ]*/\.envrc\.fence-[0-9]*' '[^ ]*/\.envrc'" \
	    "$who: and it is told where it is"
	rm -rf "$W/tiny"

	# Nothing to watch with.
	capture "$who" unshare -Ur sh -c \
	    "echo 0 >/proc/sys/user/max_inotify_instances && $go" "$FENCE_RUN"
	works_or_refuses "$who: no inotify" 'watch'

	# Files of no size, which bwrap's arguments have.
	for engine in bwrap native; do
		args="--engine $engine -- echo started"
		# Through pipes: those are no files.
		script "$who" "{ (ulimit -f 0; \"\$0\" $args; echo \$? >&3) |
		    cat; } 3>&1 2>&1 | cat"
		like "$out" "^fence: [^$nl]*File too large${nl}fence: hint: \
[^$nl]*file sizes \(ulimit -f\)[^$nl]*${nl}125\$" \
		    "$who: $engine, ulimit -f 0: 125, why, and what helps"
		script "$who" "ulimit -f 1024; \"\$0\" $args"
		works "$who: $engine, ulimit -f 1024"
	done
	[ -z "$(ls -A "$W")" ]
	ok $? "$who: and nothing is left of them"

	# No processes; root has no such limit.
	for n in 1 2 3 4 5 7; do
		for engine in bwrap native; do
			capture "$who" prlimit --nproc=$n "$FENCE_RUN" \
			    --engine $engine -- echo started
			err=$(grep -v '^bwrap: ' <<<"$err")
			if [ "$status" != 0 ]; then
				fails "$who: $engine, ulimit -u $n" '' \
				    'processes \(ulimit -u'
			else
				is "$out:$err" started: \
				    "$who: $engine, ulimit -u $n"
			fi
		done
	done
	capture "$who" prlimit --nproc=4096 "$FENCE_RUN" -- echo started
	works "$who: ulimit -u 4096"

	# No descriptors.
	for n in 3 4 5 6 8 10 12 14 18 20 25 30 40; do
		script "$who" "ulimit -n $n; $go"
		if [ "$status" != 0 ]; then
			fails "$who: $n descriptors" 'Too many open files' \
			    'ulimit -n'
		else
			works "$who: $n descriptors"
		fi
	done
	script "$who" "ulimit -n 256; $go"
	works "$who: 256 descriptors"
	echo '{"filesystem":{"allowWrite":["."],"denyWrite":[' >"$W/many.json"
	for n in $(seq 300); do
		: >"$W/f$n"
		echo "\"f$n\"," >>"$W/many.json"
	done
	echo ']}}' >>"$W/many.json"
	script "$who" 'ulimit -n 256; "$0" -s many.json -- echo started'
	works_or_refuses "$who: 256 descriptors, 300 exceptions" \
	    'Too many open files'
	rm "$W"/*
	script "$who" 'ulimit -n 1024; "$0" -- echo started'
	works "$who: 1024 descriptors"

	# The host's /tmp.
	mounting "$who" "mount --bind /tmp /tmp &&
	    mount -o remount,bind,ro /tmp && $go"
	works "$who: a read-only /tmp of the host's"
	mounting "$who" "mount -t tmpfs -o mode=0000 tmpfs /tmp && $go"
	works "$who: an unreadable one"

	# Where we stand.
	script "$who" "mkdir gone && cd gone && rmdir ../gone && $go"
	fails "$who: a removed working directory" 'working directory' \
	    'cd somewhere else'
	script "$who" "mkdir -p p/c && cd p/c && chmod 0 .. && $go
	    rv=\$?; chmod 755 ..; exit \$rv"
	refuses "$who: one below what may not be searched" 'Permission denied'
	script "$who" "ln -s p/c link && cd link && $go"
	works "$who: by way of a symlink"
	script "$who" 'mkdir "a b" && cd "a b" && mkdir "c
d" && cd "c
d" && "$0" -- echo started'
	works "$who: with a blank and a newline in its name"
	script "$who" 'mkdir -p "x]*{y}/\$z" && cd "x]*{y}/\$z" &&
	    "$0" -- sh -c "echo 1 >f; cat f"'
	is "$out" 1 "$who: with the signs of patterns"

	# Who we are.
	home=$(as "$who" sh -c 'getent passwd "$(id -u)" | cut -d: -f6')
	script "$who" "unset HOME; $go"
	works "$who: no HOME"
	capture "$who" env -u HOME "${FENCE_RUN%-run}" why read "$home/.ssh/id"
	is "$status" 1 "$who: the keys of the password file's are hidden"
	script "$who" "HOME=/nowhere/at/all $go"
	works "$who: a HOME that is not there"
	script "$who" "HOME=/dev/null $go"
	works_or_refuses "$who: a HOME that is no directory"
	for var in XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME \
	    XDG_DATA_HOME XDG_RUNTIME_DIR TMPDIR; do
		for value in /nowhere /dev/null/x relative ''; do
			script "$who" "$var=$value; export $var; $go"
			works "$who: $var=$value"
		done
	done
	ok $(($(ls -d /nowhere 2>/dev/null | wc -l) > 0)) \
	    "$who: a place of states that is missing is not made"
	is "$(find "$W" -mindepth 1 ! -path '*/p*' ! -path '*/[alx]*')" "" \
	    "$who: nothing of all that is left in the workspace"
done
finish
