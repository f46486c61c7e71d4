#!/usr/bin/env bash
# `fence-run make` builds Lua from Debian's sources: the same bytes as without
# it.  The two times are told, not judged: bench/ does that.
# limit: 240
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

took() {	# took SINCE, in microseconds: prints seconds
	local us=$((${EPOCHREALTIME/./} - $1))
	printf '%d.%03d' $((us / 1000000)) $((us / 1000 % 1000))
}

# The optimizer is half of the time, and not under test.
build=(make -s -j2 linux MYCFLAGS=-O0)

for who in $WHOS; do
	if ! unpack "$who" lua5.4; then
		skip "$why" "$who: make builds lua"
		continue
	fi
	begin=${EPOCHREALTIME/./}
	bare "$who" "${build[@]}"
	plain=$(took "$begin")
	is "$status" 0 "$who: make builds lua without fence"
	cp "$W/src/lua" "$T/plain-$who"
	bare "$who" make -s clean
	[ ! -e "$W/src/lua" ]
	ok $? "$who: and cleans up"

	begin=${EPOCHREALTIME/./}
	jailed "$who" -- "${build[@]}"
	note "make: $plain s, fence-run make: $(took "$begin") s"
	works "$who" "fence-run make builds lua"
	cmp "$W/src/lua" "$T/plain-$who"
	ok $? "$who: the same program, byte for byte"
	jailed "$who" -- src/lua -e 'print(6 * 7)'
	is "$out" 42 "$who: which runs"
	jailed "$who" -- make -s install INSTALL_TOP="$W/top"
	works "$who" "make install into the workspace"
	is "$(as "$who" "$W/top/bin/lua" -e 'print(_VERSION)')" "Lua 5.4" \
	    "$who: is what it should be"
	jailed "$who" -- make -s install INSTALL_TOP="$H/top"
	[ "$status" != 0 ] && [ ! -e "$H/top" ]
	ok $? "$who: and to no place beside it"
done
finish
