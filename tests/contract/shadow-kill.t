#!/usr/bin/env bash
# kill -9 where an agent's folder is copied, carried or looked at: nothing of
# the host's is lost, no login is, and the next start carries what was left.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

F=$FENCE_PREFIX/bin/fence

points() {
	grep -rhoE 'pause_at\("shadow-[a-z-]+"\)' \
	    "${FENCE_SRC:?}"/launcher/shadow | cut -d'"' -f2 | sort -u
}

home() {	# home WHO
	W=$(workspace "$1")
	H=$W/home A=$W/home/.agent S=$W/home/.local/state/fence
	as "$1" mkdir -p "$A/plugins"
	as "$1" sh -c 'cd "$1" && echo host >settings.json && echo old >auth.json &&
	    echo 1 >history && echo js >plugins/x.js' - "$A"
}

# The login comes last: it is carried while the agent is still there.
SAVES='cd "$INSIDE" && echo 2 >>history && echo jail >settings.json &&
    mkdir -p made && echo x >made/x && echo new >t && mv t auth.json'

# Runs it until it is at the point, and kills it there.
kill_at() {	# kill_at WHO POINT CMD…
	local who=$1 point=$2
	shift 2
	start "$who" env HOME="$H" FENCE_PAUSE_AT="$point" "$@" \
	    >"$T/out" 2>"$T/err"
	wait_for 20 grep -q "paused at $point" "$T/err"
	ok $? "$who: $point is met"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
}

again() {	# again WHO SCRIPT
	as "$1" env HOME="$H" "$PROBES/shadowrun" "$S" "$A" sh -c "$2" 2>&1
}

# The host's, after the next run; what the killed one had done or not.
check() {	# check WHO POINT WANTED
	local got
	got="$(cat "$A/auth.json") $(tr '\n' ' ' <"$A/history")$(
	    cat "$A/settings.json" "$A/plugins/x.js" | tr '\n' ' ')$(
	    cat "$A/made/x" 2>/dev/null)"
	is "$got" "$3" "$1: $2: the host's is whole"
	is "$(find "$A" -name '.fence-*'; ls "$S/shadow/runs")" "" \
	    "$1: $2: nothing of it is left"
}

for who in $WHOS; do
	for point in $(points); do
		home "$who"
		wanted='new 1 2 host js x'
		case $point in
		shadow-copied | shadow-filled)
			# No run had begun.
			wanted='old 1 host js ' ;;
		shadow-begun)
			wanted='old 1 host js ' ;;
		shadow-keep)
			again "$who" "$SAVES" >/dev/null
			kill_at "$who" "$point" "$F" shadow keep "$A/settings.json"
			again "$who" true >/dev/null
			check "$who" "$point" "$wanted"
			as "$who" env HOME="$H" "$F" shadow keep \
			    "$A/settings.json" >/dev/null 2>&1
			is "$(cat "$A/settings.json")" jail "$who: $point: again"
			continue ;;
		shadow-reset)
			again "$who" "$SAVES" >/dev/null
			kill_at "$who" "$point" "$F" shadow reset
			again "$who" true >/dev/null
			check "$who" "$point" "$wanted"
			as "$who" env HOME="$H" "$F" shadow reset >/dev/null
			is "$(ls "$S/shadow")" lock "$who: $point: again"
			continue ;;
		esac
		kill_at "$who" "$point" "$PROBES/shadowrun" "$S" "$A" \
		    sh -c "$SAVES"
		said=$(again "$who" true)
		unlike "$said" 'could not|fence:' "$who: $point: the next run starts"
		check "$who" "$point" "$wanted"
	done
done
finish
