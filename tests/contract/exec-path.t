#!/usr/bin/env bash
# command.runtimeExecPolicy: which way is taken, and files that are masked.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy COMMAND-SECTION
	echo "{ \"filesystem\": { \"allowWrite\": [\".\"] },
	    \"command\": { $1 } }" >"$T/p.json"
	chmod 644 "$T/p.json"
}
way() {		# way COMMAND-SECTION WANT NAME: how would it be held?
	policy "$1"
	fence "$who" -s "$T/p.json" --dry-run -- true
	is "$(grep -Eo '(hidden     /usr/bin/(id|python3[.0-9]*|busybox)|executions are supervised)' \
	    <<<"$out" | sed 's/.* //' | sort | tr '\n' ' ')" "$2" "$who: $3"
}

for who in $WHOS; do
	W=$(workspace "$who")
	way '"deny": []' '' 'no rule: nothing'
	way '"useDefaults": true' '' 'the built-in list acts before the run only'
	way '"deny": ["id"]' '/usr/bin/id ' 'one word: its file'
	way '"deny": ["/usr/bin/id"]' '/usr/bin/id ' 'a path: its file'
	way '"deny": ["id -u"]' 'supervised ' 'two words: each execution'
	way '"deny": ["id"], "allow": ["id -u"]' 'supervised ' \
	    'an exception: each execution'
	way '"deny": ["id", "git push"]' 'supervised ' 'both: each execution'
	way '"deny": ["id"], "runtimeExecPolicy": "argv"' 'supervised ' argv
	way '"deny": ["id -u"], "runtimeExecPolicy": "off"' '' off
	way '"deny": ["id", "id -u"], "runtimeExecPolicy": "path"' \
	    '/usr/bin/id ' 'path holds single words alone'
	way '"deny": ["nosuchprogram"]' '' 'a program that is not here'

	# A file of many names.
	mkdir "$W/bin"
	cp /usr/bin/id "$W/bin/many"
	ln -s many "$W/bin/one"
	ln -s many "$W/bin/two"
	PATH=$W/bin:$PATH
	way '"deny": ["one"]' 'supervised ' \
	    'a file that answers to other names: each execution'
	way '"deny": ["one"], "runtimeExecPolicy": "path"' '' \
	    'path: it is not masked'
	like "$err" "'one' is not refused .*bin/many, is also " \
	    "$who: path: and that is said"
	way '"deny": ["one"], "runtimeExecPolicy": "path",
	    "acceptSharedBinaryCannotRuntimeDeny": ["one"]' '' 'accepted'
	is "$err" '' "$who: accepted: silently"
	fence "$who" -s "$T/p.json" --dry-run -- true
	policy '"deny": ["one", "two", "many"], "runtimeExecPolicy": "path"'
	fence "$who" -s "$T/p.json" --dry-run -- true
	like "$out" "hidden +$W/bin/many" "$who: all its names are denied: masked"
	ln "$W/bin/many" "$W/bin/hard"
	fence "$who" -s "$T/p.json" --dry-run -- true
	unlike "$out" "hidden +$W/bin/many" "$who: a hard link: not masked"
	PATH=${PATH#*:}

	policy '"deny": ["id"]'
	echo 'id; echo $?; /bin/id; env id; exec 3</usr/bin/id; /bin/echo fine' \
	    >"$W/file"
	fence "$who" -s "$T/p.json" --trace-file "$W/trace" -- bash file
	is "$status:$out" $'0:126\nfine' "$who: it is refused by every path"
	like "$err" '\[fence:exec\] .*exec\("/usr/bin/id"\) EACCES.*command.deny\[0\]' \
	    "$who: and told without -m"
	like "$err" '/usr/bin/id: .*denied.*denied' "$who: nor can it be read"
	rm -rf "$W"
done
finish
