#!/usr/bin/env bash
# An interactive shell inside that stops itself goes on as one outside does, with
# the terminal; and nothing survives the terminal.
# limit: 300
# shellcheck disable=SC2016 # the inner shells expand
. "$(dirname "$0")/../lib.sh"
. "$TESTS/tty.sh"

inner() {	# inner ENGINE: a shell prompts inside
	type_line "cd $W; $FENCE_RUN --engine $1 -- env PS1='% ' /bin/bash --norc --noprofile"
	await % "$1: a shell prompts inside"
}

goes_on() {	# goes_on NAME: after its stop
	await '.*Stopped.*' "$engine: $1: the shell outside sees it stop"
	prompt
	type_line 'echo outer=$((1+1))'
	await 'outer=2' "$engine: $1: and has the terminal"
	type_line fg
	in_front bash
	ok $? "$who: $engine: $1: fg gives it back" || note "$(screen)"
	type_line 'clear; echo inner=$((2+2))'
	await 'inner=4' "$engine: $1: and the shell inside goes on"
}

gone() {	# gone PID...
	local p
	for p in "$@"; do
		[ ! -e "/proc/$p" ] || return 1
	done
}

hangs_up() {	# hangs_up NAME: no process of the terminal's is left
	local pids
	mapfile -t pids < <(descendants "$(shell_pid)")
	ok $((${#pids[@]} < 4)) "$who: $engine: $1: processes are there"
	hang_up
	wait_for 30 gone "${pids[@]}"
	ok $? "$who: $engine: $1: none outlives the terminal" ||
	    note "$(ps -o pid,ppid,pgid,sid,tpgid,stat,cmd -p "${pids[*]}")"
}

for who in $WHOS; do
	for engine in bwrap native; do
		W=$(workspace "$who")
		terminal
		inner $engine
		type_line suspend
		goes_on suspend
		type_line 'kill -STOP $$'
		goes_on 'SIGSTOP'
		type_line 'sleep 100'
		in_front sleep
		press C-c
		type_line 'echo rc=$?'
		await 'rc=130' "$engine: Ctrl-C works"
		type_line 'sleep 100'
		in_front sleep
		press C-z
		await '.*Stopped.*' "$engine: Ctrl-Z works"
		type_line 'kill -9 %1; clear; echo job=$((3+3))'
		await 'job=6' "$engine: within the shell inside"
		type_line 'exit 7'
		prompt
		type_line 'echo rc=$?'
		await 'rc=7' "$engine: its status is the end"
		hang_up

		W=$(workspace "$who")
		terminal
		inner $engine
		type_line suspend
		await '.*Stopped.*' "$engine: stopped"
		prompt
		hangs_up stopped

		W=$(workspace "$who")
		terminal
		inner $engine
		hangs_up 'at its prompt'
	done
done
finish
