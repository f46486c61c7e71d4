# lib.sh: what a contract/*.t file stands on.  Bash; printed as TAP.
#
#	for who in $WHOS; do		# "user root", or "user" for non-root
#		fence "$who" -- true
#		is "$status" 0 "$who: true"
#	done
#	finish
#
# fence WHO ARGS…	runs fence-run; fills $status, $out, $err
# as WHO CMD…		runs CMD as root or as the unprivileged user
# in_world WHO CMD…	the same on the near side of a world
# workspace WHO		a fresh directory of WHO's own; prints its path
# is GOT WANT NAME, like GOT REGEX NAME, ok STATUS NAME, skip REASON NAME
#
# A file that needs a world runs itself again inside: see `inside`.
# shellcheck shell=bash disable=SC2034
set -u

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
FENCE_RUN=${FENCE_RUN:-${FENCE_PREFIX:?set by test.sh}/bin/fence-run}
PROBES=${FENCE_PROBES:?set by test.sh}
TEST_USER=${FENCE_TEST_USER:-}
: "${T:?set by tests/run}"

# Root's own path may lead through directories that the user cannot search.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

if [ "$(id -u)" -eq 0 ]; then
	WHOS="user root"
	IS_ROOT=1
else
	WHOS=user
	IS_ROOT=0
fi

# The count is a file: subshells and the part inside a world add to it.
COUNT=${FENCE_TAP_COUNT:-$T/.count}
if [ -z "${FENCE_TAP_COUNT:-}" ]; then
	: >"$COUNT"
	: >"$COUNT.failed"
	chmod 666 "$COUNT" "$COUNT.failed"
	export FENCE_TAP_COUNT=$COUNT
	if [ "$IS_ROOT" = 0 ] && [ -z "${LIB_NO_ROOT_HALF:-}" ]; then
		echo "ok - root half # SKIP started by an ordinary user"
		printf . >>"$COUNT"
	fi
fi

tap() {	# tap STATUS NAME
	printf . >>"$COUNT"
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		printf x >>"$COUNT.failed"
		echo "not ok - $2"
		return 1
	fi
}

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

ok() {	# ok STATUS NAME
	tap "$1" "$2"
}

is() {	# is GOT WANT NAME
	if [ "$1" = "$2" ]; then
		tap 0 "$3"
	else
		tap 1 "$3"
		note "got:  $1"
		note "want: $2"
		[ -z "${err:-}" ] || note "stderr: $err"
		return 1
	fi
}

like() {	# like GOT REGEX NAME
	if [[ $1 =~ $2 ]]; then
		tap 0 "$3"
	else
		tap 1 "$3"
		note "got:        $1"
		note "want regex: $2"
		[ -z "${err:-}" ] || note "stderr: $err"
		return 1
	fi
}

unlike() {	# unlike GOT REGEX NAME
	if [[ $1 =~ $2 ]]; then
		tap 1 "$3"
		note "got:           $1"
		note "unwanted regex: $2"
		return 1
	fi
	tap 0 "$3"
}

skip() {	# skip REASON NAME
	printf . >>"$COUNT"
	echo "ok - $2 # SKIP $1"
}

finish() {
	echo "1..$(wc -c <"$COUNT")"
	[ ! -s "$COUNT.failed" ]
	exit
}

# Fills PRE with the words that make the next command run as WHO.
as_words() {	# as_words WHO
	PRE=()
	if [ "$1" = user ] && [ "$IS_ROOT" = 1 ]; then
		PRE=(setpriv --reuid "$TEST_USER" --regid "$TEST_USER"
		    --init-groups --inh-caps=-all
		    env -u XDG_RUNTIME_DIR USER="$TEST_USER"
		    LOGNAME="$TEST_USER" HOME="$(user_home)")
	fi
}

as() {	# as WHO CMD…
	as_words "$1"
	shift
	"${PRE[@]}" "$@"
}

# In the background, in $W; $pid is CMD's own, no shell's in between.
start() {	# start WHO CMD…
	as_words "$1"
	shift
	(cd "${W:-.}" && exec "${PRE[@]}" "$@") &
	pid=$!
}

user_home() {
	getent passwd "$TEST_USER" | cut -d: -f6
}

in_world() {	# in_world WHO CMD…
	local who=$1
	shift
	if [ "$who" = user ] && [ "$IS_ROOT" = 1 ]; then
		"$TESTS/world/world" --user "$TEST_USER" -- "$@"
	else
		"$TESTS/world/world" -- "$@"
	fi
}

# inside WHO: runs this very file again in a world as WHO, once.
inside() {
	local rv=0

	T=$(workspace "$1") in_world "$1" "$BASH" "$0" inside "$1" || rv=$?
	ok "$rv" "$1: the part inside the world ran to its end"
}

# each_world "$@": all that follows happens inside, once for each WHO, who is
# $who there and has the workspace $W.
each_world() {	# each_world "$@"
	if [ "${1-}" != inside ]; then
		for who in $WHOS; do
			inside "$who"
		done
		finish
	fi
	who=$2
	W=$T/w
	mkdir "$W"
}

# start_origin: the server $T/origin.py, until the test ends; what it writes
# down is in $T/log, `ready` first.
start_origin() {
	: >"$T/log"
	/usr/bin/python3 "$T/origin.py" "$T/log" &
	origin=$!
	trap 'kill "$origin"' EXIT
	wait_for 20 grep -q ready "$T/log"
	ok $? "$who: its server is up"
}

# count_tap: passes TAP of another program on, and counts it.
count_tap() {
	local line
	while IFS= read -r line; do
		case $line in
		ok*)		printf . >>"$COUNT" ;;
		"not ok"*)	printf . >>"$COUNT"
				printf x >>"$COUNT.failed" ;;
		esac
		printf '%s\n' "$line"
	done
}

workspace() {	# workspace WHO
	local d
	d=$(mktemp -d "$T/$1.XXXXXX")
	if [ "$1" = user ] && [ "$IS_ROOT" = 1 ]; then
		chown "$TEST_USER": "$d"
	fi
	chmod 755 "$d"
	printf '%s\n' "$d"
}

# Runs CMD as WHO in $W (or here); fills $status, $out, $err.
capture() {	# capture WHO CMD…
	local o e
	o=$(mktemp "$T/out.XXXXXX")
	e=$(mktemp "$T/err.XXXXXX")
	(cd "${W:-.}" && as "$@") >"$o" 2>"$e"
	status=$?
	out=$(tr -d '\0' <"$o")
	err=$(tr -d '\0' <"$e")
	rm -f "$o" "$e"
	return 0
}

fence() {	# fence WHO ARGS…
	local who=$1
	shift
	capture "$who" "$FENCE_RUN" "$@"
}

# wait_for SECONDS CMD…: until CMD succeeds; a ceiling, not a measurement.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		read -rt 0.02 <> <(:) || :
	done
}

# Children of a fence-run that are its guard.
guards() {	# guards PID
	local p
	tr ' ' '\n' <"/proc/$1/task/$1/children" 2>/dev/null |
	    while read -r p; do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != fence-guard ] ||
		    echo "$p"
	    done
}

# denials FILE [JQ-like words]: see tests/trace
denials() {
	"$TESTS/trace" "$@"
}
