#!/usr/bin/env bash
# Programs at a real terminal, each with the caller's own and with one of
# its own (--force-new-session): keys, job control, size, signals.
# limit: 400
# shellcheck disable=SC2016 # the inner shells expand
. "$(dirname "$0")/../lib.sh"
. "$TESTS/tty.sh"

# One start of a program; what await says begins with its name and the way.
begin() {	# begin NAME COMMAND-LINE
	name=$1
	clear_screen
	type_line "\$f $o -- $2"
}

seen() {	# seen REGEX WHAT
	await "$1" "$name ${o:-as ever}: $2"
}

# The prompt tells the status: what is typed early would go with the program.
ended() {	# ended STATUS-REGEX WHAT: the shell has the terminal
	await_last "rc=$1 \\$" "$name ${o:-as ever}: $2"
}

# Ctrl-Z and fg.  What is typed before it has the terminal again is the
# shell's, whose Enter ends no line.
stop_and_go() {	# stop_and_go PROCESS [REGEX]: and REGEX shows again
	press C-z
	seen '.*Stopped.*' "Ctrl-Z stops it"
	prompt
	type_line fg
	in_front "$1"
	ok $? "$who: $name ${o:-as ever}: fg gives it the terminal"
	[ -z "$o" ] || wait_for 20 is_raw
	[ -z "${2-}" ] || seen "$2" "fg brings it back"
}

# The prompts of a shell inside: each begins a line.
prompts() {
	screen | grep -c '^%'
}

asks_again() {	# asks_again N: more than N prompts, and the last waits
	[ "$(prompts)" -gt "$1" ] && ends_with %
}

# An interrupt is a new prompt.
interrupt() {
	local n
	n=$(prompts)
	send INT
	wait_for 20 asks_again "$n"
	ok $? "$who: $name ${o:-as ever}: SIGINT is a new prompt" ||
	    note "$(screen)"
}

# One command of a shell inside, which asks again when it is over.
inside_line() {	# inside_line TEXT
	local n
	n=$(prompts)
	type_line "$1"
	wait_for 20 asks_again "$n"
}

shells() {
	local sh n
	for sh in 'sh -i' 'bash --norc -i'; do
		begin "${sh%% *}" "env PS1='% ' $sh"
		seen % "prompts"
		n=$(prompts)
		type_line 'sh -c "echo up; exec sleep 100"'
		seen up "runs a command"
		press C-c
		wait_for 20 asks_again "$n"
		inside_line 'echo rc=$?'
		seen 'rc=130' "Ctrl-C ends that, not the shell"
		n=$(prompts)
		type_line 'sh -c "echo again; exec sleep 100"'
		seen again "runs another"
		press C-z
		seen '.*Stopped.*' "stops it by itself"
		wait_for 20 asks_again "$n"
		inside_line 'echo jobs=$((1+1))'
		seen 'jobs=2' "and goes on"
		n=$(prompts)
		type_line 'fg'
		in_front sleep
		ok $? "$who: $name ${o:-as ever}: fg gives it the terminal"
		press C-c
		wait_for 20 asks_again "$n"
		inside_line 'echo back=$((2+2))'
		seen 'back=4' "fg, and Ctrl-C ends it"
		resize 90 25
		# The relay takes its time.
		inside_line 'until stty size | grep "25 90"; do :; done'
		seen '25 90' "knows the new size"
		resize 100 30
		send TERM
		interrupt
		interrupt
		inside_line 'echo alive=$((3+3))'
		seen 'alive=6' "outlives what shells do not mind"
		type_line 'exit 5'
		ended 5 "ends with its status"
	done
}

# It asks the terminal what it is; an answer that comes when it is dead is
# typed at the shell.
vim='vim -i NONE -u NONE -N --cmd "set shell=sh t_RV= t_u7= t_RF= t_RB="'

vims() {
	begin vim "$vim text"
	seen '~' "paints"
	# What is typed while it starts it may throw away.
	wait_for 20 eval "press C-c; shows 'Type .*:qa.*'"
	seen 'Type .*:qa.*' "Ctrl-C is a key"
	stop_and_go vim '~'
	resize 80 20
	# Asked again, until tmux has told it.
	wait_for 20 eval "type_line ':echo \"columns=\" . &columns'
	    shows columns=80"
	seen 'columns=80' "knows the new size"
	resize 100 30
	type_line ':sh'
	in_front sh
	type_line 'exit'
	in_front vim
	seen '~' "is back after a shell of its own"
	press i; press -l 'some text'; press Escape
	type_line ':wq'
	ended 0 "ends"
	is "$(cat "$W/text")" 'some text' "$who: $name $o: and has written"
	begin vim "$vim other"
	seen '~' "paints"
	send TERM
	ended 143 "SIGTERM ends it"
	# Killed, it may leave a part of the screen that does not scroll.
	type_line 'printf "\033[r\033[H\033[2J"; stty -a | grep -o " icanon"'
	seen ' *icanon' "and the terminal is as it was"
}

# Programs that tell what they are sent.
tellers() {
	local it
	for it in 'node tell.js' 'python3 -u tell.py'; do
		begin "${it%% *}" "$it"
		seen up "is up"
		press C-c
		seen '(\^C)?int 1' "Ctrl-C is told"
		press C-c
		seen '(\^C)?int 2' "and again"
		send INT
		seen 'int 3' "SIGINT is delivered"
		send INT
		seen 'int 4' "twice, and nothing escalates"
		resize 90 25
		seen 'size 90' "a resize is told"
		resize 100 30
		seen 'size 100' "and the way back"
		stop_and_go "${it%% *}"
		send TERM
		seen 'term' "SIGTERM is told"
		ended 6 "and it ends as it likes"
	done
}

# It has said something, and waits again.
answered() {	# answered REGEX PROMPT
	shows "$1" && ends_with "$2"
}

answers() {	# answers REGEX PROMPT WHAT
	wait_for 30 answered "$1" "$2"
	ok $? "$who: $name ${o:-as ever}: $3" || note "$(screen)"
}

repls() {
	begin node 'env TERM=xterm node -i'
	seen '> *' "prompts"
	type_line '1000+337'
	answers '1337' '>' "answers"
	press C-c
	seen '\(To exit, press Ctrl\+C again.*' "Ctrl-C is a key"
	press C-d
	ended 0 "ends"
	begin python3 'python3 -q -i'
	seen '>>>' "prompts"
	type_line '1000+337'
	answers '1337' '>>>' "answers"
	press C-c
	answers 'KeyboardInterrupt' '>>>' "Ctrl-C interrupts"
	stop_and_go python3
	type_line '2000+337'
	seen '2337' "answers again"
	press C-d
	ended 0 "ends"
}

pagers() {
	begin less 'less nums'
	seen 29 "paints a page"
	press Space
	seen 58 "turns it"
	press C-c
	stop_and_go less 58
	press g
	seen 1 "goes back"
	resize 80 20
	wait_for 20 eval 'shows 19 && ! shows 29'
	ok $? "$who: $name $o: paints the new size" || note "$(screen)"
	resize 100 30
	press q
	ended 0 "ends"
	begin less 'less nums'
	seen 29 "paints"
	send TERM
	ended '(15|143)' "SIGTERM ends it"
}

tell_files() {
	cat >"$W/tell.js" <<-'JS'
		let n = 0;
		process.on("SIGINT", () => console.log("int", ++n));
		process.on("SIGTERM", () => { console.log("term"); process.exit(6); });
		process.stdout.on("resize",
		    () => console.log("size", process.stdout.columns));
		setInterval(() => {}, 1 << 30);
		console.log("up");
	JS
	cat >"$W/tell.py" <<-'PY'
		import os, signal, sys
		n = 0
		def told(signo, frame):
		    global n
		    if signo == signal.SIGINT:
		        n += 1
		        print("int", n)
		    elif signo == signal.SIGWINCH:
		        print("size", os.get_terminal_size().columns)
		    else:
		        print("term")
		        sys.exit(6)
		for s in signal.SIGINT, signal.SIGTERM, signal.SIGWINCH:
		    signal.signal(s, told)
		print("up")
		while True:
		    signal.pause()
	PY
	seq 200 >"$W/nums"
	chmod 644 "$W"/tell.* "$W/nums"
}

for who in $WHOS; do
	W=$(workspace "$who")
	tell_files
	terminal
	type_line "f=$FENCE_RUN; cd $W; export HISTFILE= LESS="
	type_line "PS1='rc=\$? \$ '"
	for o in '' --force-new-session; do
		shells
		vims
		tellers
		repls
		pagers
		rm -f "$W/text" "$W/other"
	done
	hang_up
done
finish
