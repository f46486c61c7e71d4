#!/usr/bin/env bash
# The page of a trace in Chromium: filters, keys, copying, names that want to
# be markup, 100,000 records, nothing fetched.
# tags: long
# limit: 400
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

who=user
if [ ! -x /usr/bin/chromium ]; then
	skip 'no chromium' 'the page in a browser'
	finish
fi
if ! bin=$(npm_bin playwright-core@1.55.0 2>"$T/npm.log"); then
	skip "no registry: $(tail -n1 "$T/npm.log")" 'the page in a browser'
	finish
fi
chmod -R go+rX "${bin%/*}/playwright-core"

W=$(workspace "$who")
page() {	# page NAME TRACE
	capture root "${FENCE_RUN%-run}" trace "$2" --html "$W/$1.html"
	is "$status$err" 0 "a page: $1"
	chmod 644 "$W/$1.html"
}
for kind in known hostile 'many 100000'; do
	# shellcheck disable=SC2086 # two words
	"$TESTS/page/traces" $kind >"$T/trace"
	[ "$kind" = hostile ] || "$TESTS/validate-events" \
	    "$FENCE_PREFIX/share/fence/event.schema.json" "$T/trace"
	ok $? "what is made is a trace: $kind"
	page "${kind% *}" "$T/trace"
done

# A real one, of a script that reads keys, writes and calls.
mkdir -p "$W/home/.ssh" "$W/work"
echo key >"$W/home/.ssh/id_rsa"
chown -R "$(stat -c %U "$W")": "$W"
W=$W/work capture "$who" env HOME="$W/home" "$FENCE_RUN" \
    --trace-file "$W/trace" -- sh -c 'cat ~/.ssh/id_rsa; touch /etc/x ~/.x
    curl -sS --max-time 5 http://refused.test/; exit 3'
is "$status" 3 'a run that is refused something'
page real "$W/trace"

mkdir "$W/profile"
chown "$(stat -c %U "$W")": "$W/profile"
capture "$who" env HOME="$W/profile" TZ=UTC /usr/bin/node \
    "$TESTS/page/drive.cjs" "${bin%/*}/playwright-core" "$W/profile/chromium" \
    "$W"/{known,hostile,many,real}.html "$W/profile/copied"
count_tap <<<"$out"
is "$status" 0 'the browser was driven'

# What was copied is a policy, and it allows what was refused.
sed -n '/^{/,$p' "$W/profile/copied" |
    sed '1s/{/{ "extends": "workspace-write",/' >"$W/work/copied.jsonc"
W=$W/work capture "$who" env HOME="$W/home" "$FENCE_RUN" -s copied.jsonc \
    -- sh -c 'cat ~/.ssh/id_rsa'
is "$out$status" key0 'with the copied lines the file is read'
finish
