#!/usr/bin/env bash
# `cargo build` of a crate with dependencies, with its template.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

# The sparse index, the only one that needs no forge, came with 1.70;
# bookworm has a newer cargo beside its own.
table='cargo-web	cmd:cargo'
apt-cache show cargo-web >/dev/null 2>&1 || table='cargo	cmd:cargo'

for who in $WHOS; do
	if ! packages "$table"; then
		skip "$(tail -n1 "$T/apt.log")" "$who: cargo build"
		continue
	fi
	fresh "$who"
	bare "$who" cp -R "$TESTS/builds/cargo/." .
	bare "$who" cargo fetch --locked
	if [ "$status" != 0 ]; then
		skip "no index: $(tail -n1 <<<"$err")" "$who: cargo build"
		continue
	fi

	H=$(workspace "$who")
	jailed "$who" -t cargo-build -- cargo build --locked
	works "$who" "cargo build, in a home without ~/.cargo"
	is "$(as "$who" "$W/target/debug/crates")" "crates 42" \
	    "$who: the program works"
	[ -n "$(find "$H/.cargo/registry" -name 'itoa-*.crate')" ]
	ok $? "$who: and the crates are kept for the next time"
	jailed "$who" -t cargo-build -- cargo run -q --offline
	is "$out" "crates 42" "$who: cargo run, without the net"

	# A home that cargo has used before, with its locks and data base.
	H=$(workspace "$who")
	bare "$who" cargo fetch --locked
	rm -r "$H/.cargo/registry/cache" "$H/.cargo/registry/src"
	jailed "$who" -t cargo-build -- cargo fetch --locked
	works "$who" "cargo fetch, in a home with ~/.cargo"
	jailed "$who" -t code -- cargo check --locked
	works "$who" "cargo check under code"

	H=$(workspace "$who")
	jailed "$who" --trace-file "$H/trace" -- \
	    cargo --config net.retry=0 fetch --locked
	[ "$status" != 0 ]
	ok $? "$who: without its template it fails"
	[ "$(denials "$H/trace" '' network.allowedDomains)" -ge 1 ]
	ok $? "$who: and the index's name is told"
done
finish
