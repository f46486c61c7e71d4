#!/usr/bin/env bash
# As coverage.t, with Java and Bun.
# tags: long
# limit: 300
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

src=$TESTS/coverage
bin=$T/bin
mkdir -m 755 "$bin"
langs=(java="$bin")
javac -d "$bin" "$src/Refused.java"
ok $? "the program in Java"
cp "$src/refused.js" "$bin"
if npm=$(npm_bin bun@1.4.4 2>"$T/npm.log"); then
	langs+=(bun="$npm/bun:$bin/refused.js")
else
	skip "no registry: $(tail -n1 "$T/npm.log")" "bun"
fi
chmod -R go+rX "$bin"

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base
	as "$who" python3 -B "$src/table" -v "$FENCE_RUN" "$base" \
	    "${langs[@]}" >"$T/table.$who" 2>&1
	ok $(($? > 1)) "$who: the table was made"
	sed "s/ok - /ok - $who: /" "$T/table.$who" | count_tap
done
finish
