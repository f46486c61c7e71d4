# agents/hooks.sh: an agent without a jail, with fence's hook in its settings.
#	. "$TESTS/agents/hooks.sh"
# after agents/lib.sh.  The model has the agent's shell run what stands between
# <run> and </run>, and its last word is what it heard.
# shellcheck shell=bash disable=SC2154

FENCE=${FENCE_RUN%-run}

at_home() {	# at_home CMD…: as $who, in $W, with the home $H
	capture "$who" env -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$H" \
	    timeout -k 5 100 "$@" </dev/null
}

# hooked AGENT FILE TEXT [OPTIONS]: a fresh project $W and home $H whose FILE
# has TEXT and then fence's hook
hooked() {
	agent=$1 settings=$2 before=$3
	W=$(mktemp -d "$T/work.XXXXXX")
	H=$(mktemp -d "$T/home.XXXXXX")
	mkdir -p "$H/.config/fence" "$(dirname "$H/$settings")"
	printf '{ "command": { "deny": ["git push"] },
	"filesystem": { "allowWrite": ["."] } }\n' >"$H/.config/fence/fence.json"
	[ -z "$before" ] || printf '%s' "$before" >"$H/$settings"
	shift 3
	at_home "$FENCE" hooks install "--$agent" "$@"
	is "$status" 0 "$who: $agent: the hook is installed"
	like "$out" 'it answers: .*blocked by fence policy' \
	    "$who: $agent: and answers"
}

# refused WHAT CMD…: the agent's call is refused; its model hears why
refused() {
	local what=$1
	shift
	at_home "$@"
	like "$out" 'The task is done.*blocked by fence policy' \
	    "$who: $agent: $what: the model hears that it is refused" ||
	    note "$out"
	like "$out" 'git push' "$who: $agent: $what: and which command"
	[ ! -e "$W/pushed" ]
	ok $? "$who: $agent: $what: nothing of it ran"
}

# jailed CMD…: the agent's call runs, in the jail
jailed() {
	at_home "$@"
	is "$(cat "$W/made.txt" 2>&1)" jail=1 \
	    "$who: $agent: an allowed command runs in the jail" || note "$out"
	like "$out" 'The task is done' "$who: $agent: its model hears of it"
	[ ! -e "$H/outside" ]
	ok $? "$who: $agent: it writes nothing outside of the workspace"
}

# unhooked: the settings are as they were
unhooked() {
	at_home "$FENCE" hooks uninstall "--$agent"
	is "$status" 0 "$who: $agent: uninstalled"
	if [ -n "$before" ]; then
		is "$(cat "$H/$settings"; echo .)" "$before." \
		    "$who: $agent: byte for byte as before"
	else
		[ ! -e "$H/$settings" ]
		ok $? "$who: $agent: its file is gone"
	fi
}

# shellcheck disable=SC2016 # for the shell of the agent
denied_task='Please <run>touch pushed; git push origin main</run>'
# shellcheck disable=SC2016
allowed_task='Please <run>echo jail=$FENCE_SANDBOX >made.txt; echo x >~/outside</run>'
