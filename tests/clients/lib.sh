# clients/lib.sh: what clients.t and clients-long.t share.  Sourced after
# lib.sh, in a world; $who is set and $T is a directory of its own.
#
# Every client calls wild.test without a jail (so both it and the servers
# work), allowed.test and denied.test with one: with proxy variables, and with
# none.  The ceiling tells a refusal from a wait for something that never
# comes; how long it took in fact is printed.
# shellcheck shell=bash disable=SC2154

. "$TESTS/clients/table.sh"
ceiling=${ceiling:-5}
W=$T/w
mkdir -p "$W"
export PROBES HOME=$W USER=${USER:-nobody}

policy() {	# policy on|off: the policy with these proxyVariables
	cat >"$T/$1.json" <<POLICY
{
	"network": {
		"allowedDomains": ["allowed.test"],
		"proxyVariables": "$1"
	},
	"filesystem": { "allowWrite": ["~"] }
}
POLICY
	echo "$T/$1.json"
}

# call HOST RESULT CMD…: all $clients, run by CMD
call() {
	local host=$1 result=$W/$2
	shift 2
	capture "$who" "$@" "$TESTS/clients/run" "$host" "$result" \
	    "$ceiling" "${clients[@]}"
	is "$status" 0 "$who: $host: the clients ran"
	note "ms: $(awk '{ printf "%s %s  ", $1, $3 }' "$result")"
}

row() {	# row CLIENT RESULT: fills $code and $said
	code=$(awk -v c="$1" '$1 == c { print $2 }' "$W/$2")
	said=$(head -c 2000 "$W/$2-$1" 2>&1 | tr -d '\0')
}

answers() {	# answers HOST RESULT NAME
	local client
	for client in "${clients[@]}"; do
		row "$client" "$2"
		[ "$code" = 0 ] && [[ $said == *"$1"* ]]
		ok $? "$who: $3: $client" || note "status $code: $said"
	done
}

refused() {	# refused RESULT NAME
	local client
	for client in "${clients[@]}"; do
		row "$client" "$1"
		[[ $code != 0 && $code != 124 && $code != 137 && -n $code ]]
		ok $? "$who: $2: $client" || note "status $code: $said"
	done
}

# The record of each refusal names the process that was refused.
told() {	# told TRACE NAME
	local client names
	names=$(denials "$1" denied.test network. actor.process.name |
	    sort | uniq -c)
	for client in "${clients[@]}"; do
		like "$names" " ${process[$client]:-${client%%_*}}(\$|
)" "$who: $2: $client: its process is named"
	done
}

jail() {	# jail on|off: with proxy variables, without
	local p name="proxy variables $1"
	p=$(policy "$1")
	call allowed.test "allowed-$1" "$FENCE_RUN" -s "$p" --
	answers allowed.test "allowed-$1" "$name, allowed"
	call denied.test "denied-$1" "$FENCE_RUN" -s "$p" \
	    --trace-file "$T/$1.trace" --
	refused "denied-$1" "$name, denied"
	told "$T/$1.trace" "$name, denied"
}

call wild.test bare env
answers wild.test bare "without a jail"
jail on
jail off
is "$("$TESTS/world/world-count" of denied.test)" 0 \
    "$who: nobody was asked for denied.test, and nothing was sent there"
