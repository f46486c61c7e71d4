#!/usr/bin/env bash
# `fence-run make` builds this project, and its unit tests pass inside; those
# that want namespaces or ids of their own see that there are none, and skip.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

for who in $WHOS; do
	fresh "$who"
	tar cf - -C "${FENCE_SRC:?set by test.sh}" --exclude='./build*' \
	    --exclude=./.git --exclude=./autom4te.cache . |
	    as "$who" tar xf - --no-same-owner -C "$W"
	rm -f "$W/configure"
	jailed "$who" -- sh -ec './autogen.sh && mkdir b && cd b &&
		../configure -q --enable-werror'
	works "$who" "autogen.sh and configure"
	jailed "$who" -- make -s -j2 -C b
	works "$who" "make"
	# The tests keep their rooms in /var/tmp.
	jailed "$who" -w /var/tmp -- make -s -j2 -C b check
	err=$(tail -n 12 <<<"$err")
	out=$(grep -E '^(FAIL|ERROR|#)' <<<"$out")
	is "$status" 0 "$who: make check"
	like "$out" '# PASS: +[3-9][0-9]' "$who: dozens passed"
	like "$out" '# FAIL: +0' "$who: none failed"
done
finish
