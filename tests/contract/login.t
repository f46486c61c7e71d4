#!/usr/bin/env bash
# A policy that holds a proxy's password is not the command's to read.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W" "$base/home/.config/fence"
	as_words "$who"
	put() {	# put FILE URL [MORE]: a policy with this proxy
		as "$who" tee "$1" >"$T/null" <<-E
		{ "filesystem": { "allowWrite": ["."] },
		    "network": { "upstreamProxy": "$2" }${3-} }
		E
	}
	run() {
		capture "$who" env HOME="$base/home" "$FENCE_RUN" "$@"
	}
	url=http://u:s3cret@127.0.0.1:9

	mine=$base/home/.config/fence/fence.json
	put "$mine" "$url"
	run -m -- cat "$mine"
	unlike "$out" s3cret "$who: the user's own is not read"
	like "$err" "rule network.upstreamProxy .*password.* $mine:2:" \
	    "$who: and that is told, with the line that makes it so"
	put "$mine" http://127.0.0.1:9
	run -- cat "$mine"
	like "$out" 127.0.0.1:9 "$who: without a password it is"
	as "$who" rm "$mine"

	put "$W/up \$HOME [1].json" "$url"
	put "$W/named.json" http://127.0.0.1:9 \
	    ', "extends": "./up $HOME [1].json"'
	as "$who" sh -c "echo '{ \"extends\": \"./up \$HOME [1].json\" }'" |
	    as "$who" tee "$W/by.json" >"$T/null"
	for f in by.json "up \$HOME [1].json"; do
		run -s "$f" -- sh -c 'cat *.json; echo .; cat by.json'
		unlike "$out" s3cret "$who: -s $f: not where it is written"
		like "$out" extends "$who: -s $f: others are read"
	done
	# Another proxy takes its place: it is no secret of this run's.
	run -s named.json -- sh -c 'cat up*.json'
	like "$out" s3cret "$who: what is not in force stays as it is"
done
finish
