#!/usr/bin/env bash
# `go build` of a module with dependencies, with its template.
# tags: long
# limit: 600
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

PATH=$PATH:/usr/local/go/bin
# A module cache that can be removed; no other compiler than this one.
export GOFLAGS=-modcacherw GOTOOLCHAIN=local
say="36 Don't communicate by sharing memory, share memory by communicating."

for who in $WHOS; do
	fresh "$who"
	bare "$who" cp -R "$TESTS/builds/go/." .
	bare "$who" go mod download
	if [ "$status" != 0 ]; then
		skip "no proxy: $(tail -n1 <<<"$err")" "$who: go build"
		continue
	fi

	H=$(workspace "$who")
	jailed "$who" -t go-build -- go build -o modules .
	works "$who" "go build, in a home without ~/go"
	is "$(as "$who" "$W/modules")" "$say" "$who: the program works"
	[ -d "$H/go/pkg/mod/rsc.io" ] && [ -d "$H/.cache/go-build" ]
	ok $? "$who: and the modules are kept for the next time"
	jailed "$who" -t go-build -- env GOPROXY=off go run .
	is "$out" "$say" "$who: go run, without the net"
	jailed "$who" -t go-build -- go vet .
	works "$who" "go vet"

	H=$(workspace "$who")
	jailed "$who" --trace-file "$H/trace" -- \
	    env GOPATH="$W/gopath" GOCACHE="$W/cache" go build -o not .
	[ "$status" != 0 ] && [ ! -e "$W/not" ]
	ok $? "$who: without its template it fails"
	[ "$(denials "$H/trace" '' network.allowedDomains)" -ge 1 ]
	ok $? "$who: and the proxy's name is told"
done
finish
