#!/usr/bin/env bash
# A real terminal: Ctrl-C, Ctrl-Z and fg, resize.
# limit: 300
. "$(dirname "$0")/../lib.sh"
. "$TESTS/tty.sh"

for who in $WHOS; do
	W=$(workspace "$who")
	terminal
	type_line "f=$FENCE_RUN; cd $W"

	type_line '$f -- sh -c "echo up; sleep 100"'
	await up "the command is up"
	tm send-keys -t t C-c
	prompt
	type_line 'echo rc=$?'	# bash leaves a list whose part died of it
	await 'rc=130' "Ctrl-C ends it"
	clear_screen

	# It can stop its terminal; nobody may wait for that one to go on.
	echo '{ "filesystem": { "allowWrite": ["."] },' \
	    '"limits": { "time": "1s" } }' >"$T/time.json"
	for opt in '' -m; do
		type_line "\$f $opt -s $T/time.json /usr/bin/python3 -c 'import termios, time; termios.tcflow(2, termios.TCOOFF); time.sleep(60)'; echo rc=\$?"
		await 'rc=124' "its time is over on a stopped terminal $opt"
		clear_screen
	done
	# Nor does one win time that stops, and fence-run with it, while a
	# child goes on; sh does not notice that anything stopped.
	cat >"$T/stops" <<-'STOPS'
		setsid sleep 60 &
		trap "" TERM
		while :; do kill -STOP $$; done
	STOPS
	type_line "sh -c '$FENCE_RUN -s $T/time.json sh $T/stops; echo rc=\$?'"
	await 'rc=124' "its time is over while it stops"
	clear_screen

	type_line '$f -- sh -c "trap \"echo caught; exit 3\" INT; echo up; while :; do sleep 100; done"; echo rc=$?'
	await up "a command with a trap is up"
	tm send-keys -t t C-c
	await 'rc=3' "Ctrl-C reaches the trap"
	clear_screen

	type_line '$f -- sh -c "echo up; cat"; echo rc=$?'
	await up "cat is up"
	type_line one
	tm send-keys -t t C-z
	await '.*Stopped.*' "Ctrl-Z stops it"
	prompt
	type_line 'echo alive=$((1+1))'
	await 'alive=2' "and the shell has the terminal"
	type_line fg
	# Typed while the shell still has the terminal raw, the end of a line
	# is none.
	in_front cat
	type_line two
	wait_for 20 eval '[ "$(screen | grep -cx "two *")" -eq 2 ]'
	ok $? "$who: fg brings it back" || note "$(screen)"
	tm send-keys -t t C-d
	prompt
	type_line 'echo rc=$?'
	await 'rc=0' "Ctrl-D ends it"
	clear_screen

	as "$who" mkfifo "$W/gate"
	type_line '$f -- sh -c "echo up; read x <gate"'
	await up "a command that waits is up"
	tm send-keys -t t C-z
	await '.*Stopped.*' "Ctrl-Z stops it"
	prompt
	type_line bg
	type_line 'echo x >gate; wait; echo alive=$((2+2))'
	await 'alive=4' "bg lets it end, and the shell keeps the terminal"
	type_line 'read y; echo y=$y'
	type_line z
	await 'y=z' "and may read from it"
	clear_screen

	type_line '$f -- sh -c "trap \"stty size\" WINCH; echo up; while :; do sleep 100 & wait; done"'
	await up "a command that watches the size is up"
	resize 90 25
	await '25 90' "a resize reaches it"
	tm send-keys -t t C-c
	clear_screen

	# A shell inside has groups of its own, and the terminal; when it ends
	# the terminal is the command's again.
	for sh in 'sh -i' 'bash --norc -i'; do
		type_line "\$f -- env PS1='% ' sh -c \"$sh; read x; echo got=\\\$x; read x; exit 4\"; echo rc=\$?"
		await % "$sh prompts inside"
		type_line 'exit 3'
		# As above: bash has the terminal raw until it ends.
		in_front sh
		type_line word
		await 'got=word' "and leaves the terminal to who started it"
		type_line ''
		await 'rc=4' "who ends as it likes"
		clear_screen
		type_line "\$f -- env PS1='% ' $sh; echo rc=\$?"
		await % "$sh prompts"
		type_line 'exit 5'
		await 'rc=5' "and ends with its status"
		clear_screen
	done

	# Lines of fence-run's own wait while somebody paints the screen, and
	# do not while nobody does.
	as "$who" sh -c 'cat >"$1/paints"' sh "$W" <<-'SH'
		stty $1
		echo x >.envrc
		echo painted
		read x <gate
		stty sane
		echo
		echo over
	SH
	for o in '' --force-new-session; do
		type_line "FENCE_PRETEND=noshim \$f --trace-file t $o -- sh paints 'raw -echo'"
		await ' *painted' "a program paints"
		wait_for 20 grep -q quarantine "$W/t"
		as "$who" sh -c 'echo x >"$1/gate"' sh "$W"
		prompt
		like "$(screen | tr '\n' ' ')" 'painted .*over .*guarded name' \
		    "$who: a notice comes after it $o" || note "$(screen)"
		clear_screen
		type_line "FENCE_PRETEND=noshim \$f --trace-file t $o -- sh paints 'sane'"
		await '.*guarded name.*' "and at once where nobody does $o"
		as "$who" sh -c 'echo x >"$1/gate"' sh "$W"
		clear_screen
	done

	type_line '$f -- sh -c "test -t 0 && test -t 1 && tty"; echo rc=$?'
	await 'rc=0' "it has a terminal of a name"
	tm kill-server
done
finish
