# agents/lib.sh: an agent does one task inside, its model is the world's
# stand-in (world/model.py): it has the agent's shell write a file and call a
# host that nobody allowed, hears the answer and says that it is done.
#	. "$TESTS/agents/lib.sh" PACKAGE@VERSION "$@"
# after lib.sh; what follows runs in a world, as $who, with the agent of that
# npm package in the path.
# shellcheck shell=bash disable=SC2154

if [ "${2-}" != inside ]; then
	. "$TESTS/builds/lib.sh"
	if ! NPM_BIN=$(npm_bin "$1" 2>"$T/npm.log"); then
		skip "no registry: $(tail -n1 "$T/npm.log")" "$1"
		finish
	fi
	export NPM_BIN
	for who in $WHOS; do
		inside "$who"
	done
	finish
fi
who=$3
PATH=$PATH:$NPM_BIN
export NODE_EXTRA_CA_CERTS=$FENCE_WORLD_CA/ca.pem
task='Please <run>echo made >made.txt; curl -sS -m 20 http://denied.test/</run>'

# begin NAME BASE VARS WRITES [MORE]: a fresh project $W and home $H; $P is a
# policy that allows model.test on top of BASE, with MORE lines.
begin() {
	name="$who: $1"
	W=$(mktemp -d "$T/work.XXXXXX")
	H=$(mktemp -d "$T/home.XXXXXX")
	P=$(mktemp "$T/policy.XXXXXX.json")
	trace=$P.trace
	cat >"$P" <<POLICY
{
	"extends": "$2",
	${5-}
	"network": {
		"allowedDomains": ["model.test"],
		"proxyVariables": "$3"
	},
	"filesystem": { "allowWrite": [$4] }
}
POLICY
	asked=$(wc -l 2>/dev/null <"$FENCE_WORLD/model.log")
}

# tries CMD…: the agent's one-shot command, jailed
tries() {
	capture "$who" env HOME="$H" timeout -k 5 100 "$FENCE_RUN" -s "$P" \
	    --trace-file "$trace" -- "$@" </dev/null
}

# does CMD…: the same, and what must come of it
does() {
	tries "$@"
	is "$status" 0 "$name: it ends well" || note "$out"
	like "$out" "The task is done" "$name: the model's last word"
	is "$(cat "$W/made.txt" 2>&1)" made "$name: the file is written"
	[ "$(wc -l <"$FENCE_WORLD/model.log")" -ge $((${asked:-0} + 2)) ]
	ok $? "$name: the model was asked"
	is "$(denials "$trace" denied.test network. actor.process.name |
	    sort -u)" curl "$name: what its shell called is refused and told"
	note "$(denials "$trace" "" "" message | cut -c1-160)"
}

# called HOST PROCESS: that the agent's own call elsewhere was refused and told
called() {
	local names
	names=$(denials "$trace" "$1" network. actor.process.name | sort -u)
	is "$names" "$2" "$name: its call of $1 is refused and told"
}

# only HOST…: of the network nothing but these was refused
only() {
	local host left
	left=$(denials "$trace" "" network. message)
	for host; do
		left=$(grep -v "[ (]$host[ ,]" <<<"$left")
	done
	is "$left" "" "$name: of the network nothing is refused but $*"
}

finally() {
	is "$("$TESTS/world/world-count" of denied.test)" 0 \
	    "$who: nothing of it reached denied.test"
	exit 0
}
