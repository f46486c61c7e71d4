#!/usr/bin/env bash
# Files that were opened to be read, and handed over with --keep-fd: read they
# are, and by no other way written, whichever walls stand; nobody but the
# command gets them.
. "$(dirname "$0")/../lib.sh"

nobody_holds() {	# nobody_holds PID FILE: none of its children
	local child
	holders=
	for child in $(pgrep -P "$1"); do
		[ -z "$(find "/proc/$child/fd" -lname "$2")" ] ||
		    holders+=" $(cat "/proc/$child/comm")"
	done
	[ -z "$holders" ]
}

reopen='cat <&5; echo x >/proc/self/fd/5; chmod 777 /proc/self/fd/5
    chmod 777 /dev/fd/5; true >>/dev/fd/5; echo done'

# Opens FILE as descriptor 5 for the run.
handing() {	# handing WHO FILE [ENV=VALUE…] -- ARGS…
	local who=$1 file=$2 env=()
	shift 2
	while [ "$1" != -- ]; do
		env+=("$1")
		shift
	done
	capture "$who" env "${env[@]}" bash -c 'exec 5<"$0"; "$@"' "$file" \
	    "$FENCE_RUN" --keep-fd 5 "${@:2}"
}

fresh() {	# fresh FILE: as it was
	printf 'text\n' >"$1"
	chmod 600 "$1"
}

untouched() {	# untouched FILE NAME
	is "$out" $'text\ndone' "$2: it is read"
	is "$(cat "$1") $(stat -c %a "$1")" 'text 600' \
	    "$2: and neither written nor changed"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W/.git/hooks" "$base/out"
	as "$who" touch "$W/.git/HEAD" "$W/.git/config" "$base/out/f"
	echo '{"filesystem":{"allowWrite":["."]},"allowNestedSandbox":true}' \
	    >"$T/nest.json"
	chmod 644 "$T/nest.json"
	for file in "$W/.git/config" "$base/out/f"; do
		for engine in bwrap native; do
			for way in way=shim FENCE_PRETEND=noshim \
			    FENCE_PRETEND=landlock; do
				fresh "$file"
				handing "$who" "$file" "$way" -- \
				    --engine "$engine" -- sh -c "$reopen"
				untouched "$file" \
				    "$who: ${file##*/}: $engine, $way"
			done
			fresh "$file"
			handing "$who" "$file" -- --engine "$engine" -- \
			    busybox sh -c "$reopen"
			untouched "$file" "$who: ${file##*/}: $engine, static"
			[ "$who" = user ] || continue
			fresh "$file"
			handing "$who" "$file" -- --engine "$engine" \
			    -s "$T/nest.json" -- sh -c "$reopen"
			untouched "$file" "$who: ${file##*/}: $engine, nested"
		done
	done

	# What was opened for more stays so.
	as "$who" sh -c "echo old >'$base/out/f'"
	capture "$who" bash -c 'exec 5<>"$0"; "$@"' "$base/out/f" "$FENCE_RUN" \
	    --keep-fd 5 -- sh -c 'read x <&5; echo "new $x" >&5'
	is "$(cat "$base/out/f")" $'old\nnew old' "$who: one to be written is"

	# The caller goes on where the command ended, and so on.
	as "$who" sh -c "seq 9 >'$base/out/n'"
	capture "$who" bash -c 'exec 5<"$0"; read -r a <&5
	    b=$("$1" --keep-fd 5 -- sh -c "read x <&5; echo \$x")
	    read -r c <&5; echo "$a$b$c"' "$base/out/n" "$FENCE_RUN"
	is "$out" 123 "$who: the place in it is shared"
	as "$who" sh -c "rm -f '$base/out/g'; echo gone >'$base/out/g'"
	capture "$who" bash -c 'exec 5<"$0"; rm "$0"; "$1" --keep-fd 5 -- \
	    cat /proc/self/fd/5' "$base/out/g" "$FENCE_RUN"
	is "$out" gone "$who: one whose name is gone is kept"

	# Nobody else has it: not the workers, nor the guard, which leaves
	# everything as it is for the moment in which the command starts.
	as "$who" mkfifo "$W/go" "$W/up"
	as_words "$who"
	(cd "$W" && exec "${PRE[@]}" bash -c 'exec 5<"$0"; exec "$@"' \
	    "$base/out/n" "$FENCE_RUN" -a allowed.test --keep-fd 5 -- \
	    sh -c 'echo >up; read x <go') &
	pid=$!
	read -r _ <"$W/up"
	like "$(pgrep -P "$pid" | xargs -I '{}' cat '/proc/{}/comm')" \
	    'fence-net' "$who: the workers are seen"
	wait_for 20 nobody_holds "$pid" "$base/out/n"
	ok $? "$who: and have no descriptor of the command's" ||
	    note "$holders"
	echo >"$W/go"
	wait "$pid"
	is $? 0 "$who: it ended"
done
finish
