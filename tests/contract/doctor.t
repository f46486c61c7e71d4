#!/usr/bin/env bash
# fence doctor: all is well here; each part that is missing is named; a jail
# that holds nothing is all holes; nothing is left, nothing hangs.
# limit: 300
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
SCHEMA=$(dirname "$FENCE")/../share/fence/doctor.schema.json
D=$TESTS/self-check

# What a run could leave: folders, and whatever its HOME has.
leftovers() {	# leftovers HOME
	find /var/tmp /tmp -maxdepth 1 -name 'fence-doctor.*' \
	    -user "$(as "$who" id -u)"
	find "$1" | sort
}

# doctor WHO [VAR=VALUE…] [-- ARGS…]: fills $status, $out, $err
doctor() {
	local w=$1 vars=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	capture "$w" env HOME="$H" XDG_STATE_HOME= "${vars[@]}" "$FENCE" \
	    doctor "$@"
}

# Ids of items that are not strict and needed, of tries with a result.
lacking() {
	jq -r '.machine[] | select(.needed and .status != "strict") | .id' \
	    <<<"$out" | tr '\n' ' '
}

result() {	# result WORD: ids of the tries that came out so
	jq -r --arg r "$1" '.tries[] | select(.result == $r) | .id' \
	    <<<"$out" | tr '\n' ' '
}

valid() {	# valid NAME: the JSON in $out against the installed schema
	printf '%s\n' "$out" >"$T/doctor.json"
	/usr/bin/python3 - "$SCHEMA" "$T/doctor.json" >"$T/log" 2>&1 <<'PY'
import json, jsonschema, sys
schema, text = (json.load(open(p)) for p in sys.argv[1:])
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(text)
assert text["holes"] == sum(t["result"] == "hole" for t in text["tries"])
PY
	ok $? "$1: valid by the schema" || note "$(tail "$T/log")"
}

clean() {	# clean NAME: no control byte in $out
	unlike "$(LC_ALL=C tr -d '\n' <<<"$out" |
	    LC_ALL=C tr -dc '\000-\037\177')" . "$1: no control byte"
}

# ---- a machine that has it all ----
well() {
	doctor "$who"
	is "$status" 0 "$who: exit 0"
	like "$out" 'fully enforced here' "$who: and says so"
	like "$out" 'held +read ~/.ssh +EACCES \(a stand-in, ' \
	    "$who: says that ~/.ssh had a stand-in"
	is "$err" '' "$who: nothing on stderr"
	clean "$who: text"
	mkdir "$H/.ssh" && echo key >"$H/.ssh/id_x" && chmod -R a+rX "$H/.ssh"
	[ "$IS_ROOT" = 0 ] || chown -R "$(as "$who" id -u)" "$H/.ssh"
	doctor "$who" -- --json
	is "$status" 0 "$who: --json: exit 0"
	valid "$who"
	clean "$who: JSON"
	is "$(jq .jail.standIn <<<"$out")" null \
	    "$who: with a ~/.ssh of its own nothing stands in"
	is "$(jq '[.tries[].result] | unique | join(" ")' <<<"$out")" \
	    '"held works"' "$who: every try was tried, and held or works"
	is "$(result works)" \
	    'write-workspace read-system exec-tmp shim ' \
	    "$who: what works is what the policy grants"
	is "$(lacking)" '' "$who: no needed item is missing"
	doctor "$who" FENCE_PRETEND=nobwrap -- --engine native --json
	is "$status" 0 "$who: --engine native: exit 0, without bwrap"
	is "$(jq '[.tries[].result] | unique | join(" ")' <<<"$out")" \
	    '"held works"' "$who: --engine native: the same holds"
	valid "$who: --engine native"
	doctor "$who" -- --engine steam
	is "$status" 2 "$who: no such engine: exit 2"
}

# ---- faults that are real ----
# spoiled UNSHARE-FLAGS SCRIPT: doctor, where the script has taken something
# of this machine away for itself alone.
spoiled() {
	capture "$who" env HOME="$H" unshare "$1" sh -c "$2"' && exec "$@"' \
	    sh "$FENCE" doctor --json
}

faults() {
	spoiled -Ur 'echo 0 >/proc/sys/user/max_user_namespaces'
	is "$status" 1 "$who: no user namespace more: exit 1"
	like "$out" 'user.max_user_namespaces is 0.*sysctl user.max_user_na' \
	    "$who: with the knob, and how to turn it"
	spoiled -Ur 'echo 0 >/proc/sys/user/max_net_namespaces'
	is "$status" 1 "$who: no network namespace more: exit 1"
	like "$(lacking)" '^network-namespace ' "$who: named"
	like "$(jq -r .jail.error <<<"$out")" 'cannot make the jail' \
	    "$who: and what fence-run said of it"
	spoiled -Urm 'mount --bind /etc/hosts /etc/hosts'
	is "$status $(lacking)" '1 overlay ' "$who: a mount below /etc"
	like "$out" 'mounted below /etc, as containers do' \
	    "$who: with its cure"
	spoiled -Urm 'mount -t tmpfs none /proc/fs'
	is "$status $(lacking)" '1 proc ' "$who: a masked /proc"
	like "$out" 'systempaths=unconfined' "$who: with its cure"
	fence "$who" -- "$FENCE" doctor --json
	is "$status $(result hole)" '1 ' "$who: inside fence: exit 1, no hole"
	like "$out" '"this is inside a jail of fence: ask' \
	    "$who: and asks to be asked outside"
	capture "$who" env HOME="$H" "$PROBES/filtered" user "$FENCE" \
	    doctor --json
	is "$status" 1 "$who: under a filter: exit 1"
	# Machines made from a container's image may carry its marks.
	like "$out" 'a seccomp filter on this process|this container forbids' \
	    "$who: and that is named"
}

# ---- each part missing ----
# mask, and the item that must be named
MASKS="
nouserns	user-namespaces
nonetns		network-namespace
nopidns		namespaces
nonft		nftables
nomountapi	mounts
nooverlay	overlay
noproc		proc
landlock	landlock
landlock=3	landlock
landlock=5	landlock
noseccomp	seccomp
nobwrap		bwrap
nopidfd		pidfd
noinotify	inotify
noshim		shim
kernel=4	kernel
"
masked() {
	local mask item
	while read -r mask item; do
		[ -n "$mask" ] || continue
		doctor "$who" FENCE_PRETEND="$mask" -- --json
		is "$status" 1 "$who: $mask: exit 1"
		like " $(lacking)" " $item " "$who: $mask: names $item"
		like "$(jq -r --arg i "$item" '.machine[] |
		    select(.id == $i) | .cure' <<<"$out")" '...' \
		    "$who: $mask: and a cure"
		is "$(jq .enforced <<<"$out") $(jq .holes <<<"$out")" \
		    'false 0' "$who: $mask: not enforced, and no hole"
		valid "$who: $mask"
		case $mask in
		nouserns | nonetns | nonft | nooverlay | noseccomp | nobwrap)
			is "$(jq .jail.started <<<"$out")" false \
			    "$who: $mask: and fence-run starts nothing" ;;
		esac
	done <<<"$MASKS"
	# What the default policy does not need is named all the same.
	doctor "$who" FENCE_PRETEND=nocgroup -- --json
	is "$status $(jq -r '.machine[] | select(.id == "cgroup") |
	    "\(.status) \(.needed) \(.cure)"' <<<"$out" | cut -c 1-24)" \
	    '0 absent false systemd-run' "$who: nocgroup: told, and no more"
	doctor "$who" FENCE_PRETEND=nonotify -- --json
	is "$status $(jq -r '.machine[] | select(.id == "seccomp-notify") |
	    "\(.status) \(.needed)"' <<<"$out")" '0 absent false' \
	    "$who: nonotify: told, and no more"
	doctor "$who" FENCE_PRETEND=landlock=3
	like "$out" 'degraded +landlock +ABI 3: no say in ioctl of devices, signals' \
	    "$who: the rights that an older Landlock lacks are named"
	# With room for few files none is left open for the jail to find.
	capture "$who" env HOME="$H" XDG_STATE_HOME= bash -c \
	    'ulimit -n 55; "$0" doctor --json' "$FENCE"
	is "$(result untried)" 'descriptor ' \
	    "$who: what could not be tried is not called held"
	doctor "$who" FENCE_PRETEND=nobwrap
	like "$out" 'the jail: bwrap is not installed' \
	    "$who: what fence-run said is told"
}

# ---- false jails ----
holes() {
	doctor "$who" FENCE_DOCTOR_RUN="$D/fence-open" -- --json
	is "$status" 1 "$who: a jail that holds nothing: exit 1"
	is "$(result held)$(result untried)" '' \
	    "$who: every try is told as a hole"
	is "$(result works)" 'write-workspace read-system exec-tmp ' \
	    "$who: but what the policy grants anyway"
	is "$(result broken)" 'shim ' "$who: and no shim is there"
	valid "$who: holes"
	doctor "$who" FENCE_DOCTOR_RUN="$D/fence-open"
	like "$out" 'HOLE +write \$HOME' "$who: a hole is shouted"
	like "$out" 'NOT fully enforced here: 0 items short, [0-9]+ holes, 1 broken' \
	    "$who: and counted"
	doctor "$who" FENCE_DOCTOR_RUN="$D/fence-closed" -- --json
	is "$status" 1 "$who: a jail that does not start: exit 1"
	is "$(jq -r '.jail.error' <<<"$out") $(jq .jail.started <<<"$out")" \
	    'nothing is allowed false' "$who: with what it said"
	is "$(result held)$(result works)$(result hole)" '' \
	    "$who: and nothing counts as held"
	doctor "$who" FENCE_DOCTOR_RUN="$D/fence-rude"
	is "$status" 1 "$who: a rude jail: exit 1"
	clean "$who: a rude jail"
	like "$out" '\\x1b\[2J' "$who: what it says is escaped"
	doctor "$who" FENCE_DOCTOR_RUN="$D/fence-rude" -- --json
	valid "$who: a rude jail"
	doctor "$who" FENCE_PRETEND=jail-ms=200 \
	    FENCE_DOCTOR_RUN="$D/fence-mute"
	is "$status" 1 "$who: a jail that never answers: exit 1"
	like "$out" 'the jail: it did not end in time' "$who: and says so"
}

# ---- killed ----
folder_is_there() {
	[ -n "$(find /var/tmp -maxdepth 1 -name 'fence-doctor.*' -user \
	    "$(as "$who" id -u)" -newer "$T/mark.$who" -print -quit)" ]
}

folder_is_gone() {
	! folder_is_there
}

killed() {	# killed SIGNAL
	: >"$T/mark.$who"
	start "$who" env HOME="$H" FENCE_DOCTOR_RUN="$D/fence-mute" \
	    "$FENCE" doctor >"$T/killed.out" 2>&1
	wait_for 60 folder_is_there
	ok $? "$who: SIG$1: it was under way"
	kill -s "$1" "$pid"
	wait "$pid"
	wait_for 60 folder_is_gone
	ok $? "$who: SIG$1: its folder goes all the same"
}

usage() {
	doctor "$who" -- word
	is "$status" 2 "$who: a word is exit 2"
	doctor "$who" -- --no-such
	is "$status" 2 "$who: an unknown option is exit 2"
	capture "$who" "$FENCE_RUN" --linux-features
	is "$status" 0 "$who: --linux-features: exit 0"
	like "$out" '^Linux Sandbox Features:' "$who: with its heading"
	like "$out" '  Bubblewrap +core sandbox +ok +/' "$who: and its rows"
	capture "$who" env FENCE_PRETEND=nobwrap "$FENCE" --linux-features
	is "$status" 0 "$who: also where something is missing"
	like "$out" '  Bubblewrap +core sandbox +unavailable ' "$who: named"
}

# ---- in a world: nothing leaves the machine ----
if [ "${1-}" = inside ]; then
	who=$2 W=$T H=$T
	for want in 0 1; do
		run=A=
		[ "$want" = 0 ] || run=FENCE_DOCTOR_RUN=$D/fence-open
		doctor "$who" "$run"
		is "$status" "$want" "$who: in a world, $run"
		is "$("$TESTS/world/world-count" packets)" 0 \
		    "$who: not one packet" ||
		    note "$("$TESTS/world/world-count" seen)"
	done
	exit 0
fi

for who in $WHOS; do
	inside "$who"
	W=$(workspace "$who")
	H=$(workspace "$who")
	well
	before=$(leftovers "$H")
	masked
	faults
	holes
	usage
	killed KILL
	killed TERM
	is "$(leftovers "$H")" "$before" "$who: nothing is left"
done
finish
