#!/usr/bin/env bash
# --force-new-session: a session of the command's own, and on a terminal a
# terminal of its own behind a relay that nobody notices.
# shellcheck disable=SC2016 # the inner shells expand
. "$(dirname "$0")/../lib.sh"
. "$TESTS/tty.sh"

N=--force-new-session

# Whether it has one: is the session that of the jail's first process?
own='test "$(cut -d" " -f6 /proc/$$/stat)" -eq 1 && echo own || echo same'

keys() {
	fence "$who" -- sh -c "$own"
	is "$out" same "$who: without it the session is the caller's"
	fence "$who" $N -- sh -c "$own"
	is "$out" own "$who: with it, it is not"
	fence "$who" --engine native $N -- sh -c "$own"
	is "$out" own "$who: nor with the native engine"
	fence "$who" -s "$T/new.json" -- sh -c "$own"
	is "$out" own "$who: forceNewSession: true"
	fence "$who" -s "$T/new.json" $N=false -- sh -c "$own"
	is "$out" same "$who: $N=false overrides it"
	fence "$who" $N=maybe -- true
	is "$status" 2 "$who: $N=maybe is exit 2"
	fence "$who" $N --dry-run -- true
	like "$out" 'session new' "$who: --dry-run says so"
	fence "$who" -s "$T/pty.json" -- sh -c 'script -qc tty /dev/null'
	like "$status:$out" '^0:/dev/pts/' "$who: allowPty needs nothing"
}

# Without a terminal it is a new session and nothing else.
no_terminal() {
	fence "$who" $N -- sh -c 'exit 42'
	is "$status" 42 "$who: its status"
	fence "$who" $N -- /nonexistent/program
	is "$status" 127 "$who: a missing program"
	fence "$who" $N -- sh -c 'exec 3</dev/tty' 2>&1
	unlike "$status" '^0$' "$who: no terminal to open"
	is "$(cd "$W" && printf 'a\nb\n' | as "$who" "$FENCE_RUN" $N -- cat |
	    cat)" $'a\nb' "$who: in a pipeline"
	(cd "$W" && as "$who" "$FENCE_RUN" $N -- true <&- >&- 2>&-)
	ok $? "$who: all three closed"
	start "$who" "$FENCE_RUN" $N -- sh -c '
		trap "echo caught >got; exit 9" TERM
		echo up >up
		while :; do sleep 100 & wait; done'
	wait_for 20 test -s "$W/up"
	kill -TERM "$pid"
	wait "$pid"
	is "$?:$(cat "$W/got")" 9:caught "$who: SIGTERM reaches a trap"
	as "$who" rm -f "$W/up" "$W/got"
}

as_ever() {	# as_ever: what tty.t shows without the option
	terminal
	type_line "f='$FENCE_RUN $N'; cd $W"
	as "$who" sh -c 'echo "$2" >"$1/own"' sh "$W" "$own; tty; stty size"
	type_line '$f -- sh own; echo rc=$?'
	await own "it is apart"
	await /dev/console "with a terminal of a name"
	await '30 100' "of the same size"
	await rc=0 "and ends"
	clear_screen

	type_line '$f -- sh -c "echo up; sleep 100"; echo rc=$?'
	await up "the command is up"
	press C-c
	await '(\^C)?rc=130' "Ctrl-C ends it"
	clear_screen

	type_line '$f -- sh -c "trap \"echo caught; exit 3\" INT; echo up; while :; do sleep 100; done"; echo rc=$?'
	await up "a command with a trap is up"
	press C-c
	await '(\^C)?rc=3' "Ctrl-C reaches the trap"
	clear_screen

	type_line '$f -- sh -c "echo up; cat"; echo rc=$?'
	await up "cat is up"
	type_line one
	wait_for 20 eval '[ "$(screen | grep -cx "one *")" -eq 2 ]'
	ok $? "$who: keys arrive, echoed once" || note "$(screen)"
	press C-z
	await '.*Stopped.*' "Ctrl-Z stops it"
	prompt
	type_line 'echo alive=$((1+1))'
	await 'alive=2' "and the shell has the terminal"
	type_line fg
	in_front cat
	wait_for 20 is_raw
	type_line two
	wait_for 20 eval '[ "$(screen | grep -cx "two *")" -eq 2 ]'
	ok $? "$who: fg brings it back" || note "$(screen)"
	press C-d
	prompt
	type_line 'echo rc=$?'
	await 'rc=0' "Ctrl-D ends it"
	clear_screen

	as "$who" mkfifo "$W/gate"
	type_line '$f -- sh -c "echo up; read x <gate; echo \$x"'
	await up "a command that waits is up"
	press C-z
	await '.*Stopped.*' "Ctrl-Z stops it"
	prompt
	type_line bg
	type_line 'echo through >gate; wait; echo alive=$((2+2))'
	await 'alive=4' "bg lets it end"
	await 'through' "what it printed is there"
	# Not while the shell's line editor may still hold the terminal.
	type_line 'echo rea""dy; read y; echo y=$y'
	await 'ready' "the shell goes on"
	type_line z
	await 'y=z' "and the shell has its terminal"
	clear_screen

	type_line '$f -- sh -c "echo up; read x; echo got=\$x; read x" &'
	await '(. )?up' "in the background from the start"
	type_line 'echo alive=$((3+3))'
	await 'alive=6' "it does not take the terminal"
	type_line fg
	wait_for 20 is_raw
	ok $? "$who: until fg gives it"
	type_line 'word'
	await 'got=word' "then it reads"
	type_line ''
	clear_screen

	type_line '$f -- sh -c "trap \"stty size\" WINCH; echo up; while :; do sleep 100 & wait; done"'
	await up "a command that watches the size is up"
	resize 90 25
	await '25 90' "a resize reaches it"
	press C-c
	clear_screen
	type_line '$f -m -- sh -c "echo x >~/y; echo x >~/z"; echo rc=$?'
	await 'rc=[1-9]' "a refusal is told"
	await '(sh: 1: .*)?\[fence:fs\].*/y".*' "from the first column"
	await '(sh: 1: .*)?\[fence:fs\].*/z".*' "and the next"
	hang_up
}

# A shell that never touches the modes sees them as they were.
restored() {
	cat >"$W/ends" <<-EOF
		f='$FENCE_RUN $N'
		was=\$(stty -g)
		try() {
			"\$@"
			echo "rc=\$?"
			[ "\$(stty -g)" = "\$was" ] && echo "same \$n" ||
			    echo "other \$n"
			n=\$((n + 1))
		}
		n=1
		try \$f -- true
		try \$f -- /nonexistent/program
		try \$f -- sh -c 'kill -KILL \$\$'
		try \$f -- sh -c 'stty raw -echo; exit 3'
		try \$f -- sh -c 'echo up 5; exec sleep 100'
		try \$f -- sh -c 'echo up 6; exec sleep 100'
		try \$f -- sh -c 'trap "" HUP TERM; kill -STOP \$\$; echo back'
		try \$f -- sh -c 'echo up 8; kill -TSTP \$\$; echo on'
		echo end
		read x
	EOF
	terminal "sh $W/ends"
	await 'same 1' "the modes: after true"
	await 'same 2' "the modes: after a missing program"
	await 'same 3' "the modes: after kill -9 of the command"
	await 'same 4' "the modes: after a raw one"
	await 'up 5' "waits for SIGTERM"
	send TERM
	await 'same 5' "the modes: after SIGTERM"
	await 'up 6' "waits for SIGHUP"
	send HUP
	await 'same 6' "the modes: after SIGHUP"
	# No shell with job control is there: nobody could wake us.
	wait_for 20 eval 'grep -q "^State:.*T" "/proc/$(command_pid)/status"'
	kill -CONT "$(command_pid)"
	await 'same 7' "stopped from inside, continued from inside"
	await 'on' "Ctrl-Z without a shell that minds jobs is nothing"
	await 'same 8' "the modes: as they were"
	is "$(screen | grep -c 'rc=0')" 3 "$who: the statuses" ||
	    note "$(screen)"
	hang_up
}

# fence-run - bwrap - fence-init - the command
command_pid() {
	pgrep -P "$(pgrep -P "$(pgrep -P "$(running)" -x bwrap)")"
}

# script, as ssh -t and its like, gives a terminal and takes the output away.
# Its own stdin must not end: it would type an end of file.
scripted() {	# scripted ARGS…: in one word each
	(cd "$W" && as "$who" script -qec "$FENCE_RUN $*" /dev/null <&9) |
	    tr -d '\r'
}

# A terminal that goes away once something was written: prints the status.
hung_up() {	# hung_up ARGS…
	(cd "$W" && as "$who" python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
os.read(fd, 1)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$FENCE_RUN" "$@")
}

streams() {
	as "$who" mkfifo "$W/keys"
	exec 9<>"$W/keys"
	scripted --engine native $N -- seq 1 1000 | cmp - <(seq 1 1000)
	ok $? "$who: the output, with the native engine"
	scripted $N -- seq 1 100000 >"$T/seq"
	seq 1 100000 | cmp - "$T/seq"
	ok $? "$who: every byte of the output, to the last"
	is "$(scripted $N -- sh -c "'echo out; echo err >&2'")" $'out\nerr' \
	    "$who: in script: output and errors"
	(cd "$W" && as "$who" script -qec "$FENCE_RUN $N -- sh -c 'exit 7'" \
	    /dev/null <&9)
	is "$?" 7 "$who: in script: the status"
	exec 9>&-
	for o in $N $N=false; do
		is "$(hung_up $o -- sh -c 'echo up; exec sleep 100')" 129 \
		    "$who: $o: a command goes with its terminal"
		is "$(hung_up $o -- sh -c 'trap "exit 4" HUP; echo up
		    while :; do sleep 100 & wait; done')" 4 \
		    "$who: $o: or does what it wants to"
		like "$(hung_up $o -- yes)" '^(129|1)$' \
		    "$who: $o: one that writes, too"
	done
}

echo '{ "forceNewSession": true, "filesystem": { "allowWrite": ["."] } }' \
    >"$T/new.json"
echo '{ "allowPty": true, "filesystem": { "allowWrite": ["."] } }' \
    >"$T/pty.json"
for who in $WHOS; do
	W=$(workspace "$who")
	keys
	no_terminal
	as_ever
	restored
	streams
done
finish
