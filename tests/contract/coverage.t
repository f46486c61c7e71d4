#!/usr/bin/env bash
# Refused calls of many kinds and languages are told, each with its process,
# rule and remedy, and nothing that did not happen is: tests/coverage/table.
. "$(dirname "$0")/../lib.sh"

src=$TESTS/coverage
bin=$T/bin
mkdir -m 755 "$bin"
cc -O1 -DREFUSED_DYNAMIC -o "$bin/refused-c" "$src/refused.c" -ldl &&
    cc -O1 -static -o "$bin/refused-static" "$src/refused.c" &&
    musl-gcc -O1 -static -o "$bin/refused-musl" "$src/refused.c"
ok $? "the programs in C"
(cd "$src/go" && PATH=$PATH:/usr/local/go/bin CGO_ENABLED=0 \
    GOCACHE=$T/gocache GOFLAGS=-mod=mod go build -o "$bin/refused-go" .)
ok $? "the program in Go"
cp "$src"/refused.{py,js,sh} "$bin"
chmod 755 "$bin"/*

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base
	as "$who" python3 -B "$src/table" -v \
	    "$FENCE_RUN" "$base" \
	    c="$bin/refused-c" static="$bin/refused-static" \
	    musl="$bin/refused-musl" go="$bin/refused-go" \
	    python="$bin/refused.py" node="$bin/refused.js" \
	    sh="$bin/refused.sh" >"$T/table.$who" 2>&1
	ok $(($? > 1)) "$who: the table was made"
	sed "s/ok - /ok - $who: /" "$T/table.$who" | count_tap
	said=$(grep 'did not load the preloaded library' "$base/w/refused.err")
	like "$said" 'refused-static, refused-musl, refused-go' \
	    "$who: the end says whose reads nobody saw"
	unlike "$said" 'refused-c|python|node' "$who: and of no other"
done
finish
