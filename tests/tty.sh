# tty.sh: a terminal that a test types at and looks at.  Sourced after lib.sh.
#
#	terminal		opens one in $W as $who; a bash prompts in it
#	await REGEX NAME	some whole line of the screen comes to match
#	await_last REGEX NAME	the last one does
#	type_line TEXT, press KEY…, clear_screen, resize COLUMNS ROWS
#	prompt			waits until the shell asks again
#	in_front NAME		waits until such a process has the terminal
#	modes			the terminal's, as stty -g tells them
#	send SIGNAL		to what the shell runs
#	hang_up			closes it
# shellcheck shell=bash

tm() {
	as "$who" tmux -f /dev/null -S "$W/tmux" "$@"
}

# The prompt's blank would be cut off the end of a line: '$' alone shows it.
# exec: tmux hands the line to a shell, and not every one (dash) makes way for
# a single command; `running` wants the children of COMMAND itself.
terminal() {	# terminal [COMMAND]: with this shell in it
	(cd "$W" && tm new-session -d -s t -x 100 -y 30 \
	    "exec ${1:-env PS1=\"\\\$ \" bash --norc --noprofile -i}")
	ok $? "$who: a terminal"
}

hang_up() {
	tm kill-server
}

screen() {
	tm capture-pane -p -t t
}

shows() {	# shows REGEX: some whole line of the screen matches
	screen | grep -Eqx "$1 *"
}

await() {	# await REGEX NAME
	wait_for 30 shows "$1"
	ok $? "$who: $2" || note "$(screen)"
}

await_last() {	# await_last REGEX NAME
	wait_for 30 ends_with "$1"
	ok $? "$who: $2" || note "$(screen)"
}

press() {
	tm send-keys -t t "$@"
}

type_line() {
	tm send-keys -t t -l "$1"
	tm send-keys -t t Enter
}

ends_with() {	# ends_with REGEX: the last line of the screen matches
	screen | sed '/^ *$/d' | tail -1 | grep -Eqx "$1 *"
}

# What is typed before is a relay's, and goes with the command.
at_prompt() {
	ends_with '.*\$'
}

prompt() {
	wait_for 30 at_prompt
}

# Each time another word: the one before is still to be seen.
clear_screen() {
	prompt
	cleared=$((${cleared:-0} + 1))
	type_line "clear; echo cleared $cleared"
	wait_for 20 shows "cleared $cleared"
}

# tmux takes its time; a program that starts meanwhile may miss it.
resize() {	# resize COLUMNS ROWS
	tm resize-window -t t -x "$1" -y "$2"
	wait_for 20 eval "[ \"\$(stty -F '$(pane_tty)' size)\" = '$2 $1' ]"
}

pane_tty() {
	tm display-message -p -t t '#{pane_tty}'
}

descendants() {	# descendants PID
	local pid
	for pid in $(pgrep -P "$1"); do
		echo "$pid"
		descendants "$pid"
	done
}

# pid (comm) state ppid pgrp session tty tpgid, as the host counts.
is_in_front() {	# is_in_front NAME
	local pid name state pgrp tpgid
	for pid in $(descendants "$(shell_pid)"); do
		# shellcheck disable=SC2034 # fields
		read -r _ name state _ pgrp _ _ tpgid _ \
		    2>/dev/null <"/proc/$pid/stat" || continue
		if [ "$name" = "($1)" ] && [ "$state" != T ] &&
		    [ "$pgrp" = "$tpgid" ]; then
			return 0
		fi
	done
	return 1
}

in_front() {	# in_front NAME
	wait_for 20 is_in_front "$1"
}

modes() {
	stty -F "$(pane_tty)" -g
}

# As the relay makes it: raw while the shell waits, or not.
is_raw() {
	local a
	a=$(stty -F "$(pane_tty)" -a)
	[[ $a == *-icanon* && $a == *-opost* ]]
}

shell_pid() {
	tm display-message -p -t t '#{pane_pid}'
}

# The pid of what the shell in the terminal runs.
running() {
	pgrep -P "$(shell_pid)"
}

send() {	# send SIGNAL
	wait_for 20 eval 'running >/dev/null'
	kill -"$1" "$(running)"
}
