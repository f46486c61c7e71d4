#!/usr/bin/env bash
# make install DESTDIR=…, and running from there.
. "$(dirname "$0")/../lib.sh"

if [ ! -e "${FENCE_BUILD:-}/Makefile" ]; then
	skip "no build tree (FENCE_BUILD)" "install"
	finish
fi
d=$T/dest
make -C "$FENCE_BUILD" -s install DESTDIR="$d" >"$T/log" 2>&1
ok $? "make install DESTDIR=…" || note "$(cat "$T/log")"
chmod -R go+rX "$d"
is "$(cd "$d" && find . -maxdepth 1 -mindepth 1)" ./usr \
    "it installs below the prefix alone"
bin=$(find "$d" -type d -name bin)
for f in fence fence-run; do
	[ -x "$bin/$f" ]
	ok $? "bin/$f"
done
for f in fence-init fence-net fence-names fence-try libfence-shim.so; do
	[ -e "$bin/../libexec/fence/$f" ]
	ok $? "libexec/fence/$f"
done
for f in event doctor; do
	[ -e "$bin/../share/fence/$f.schema.json" ]
	ok $? "share/fence/$f.schema.json"
done
[ -e "$bin/../share/fence/fence.apparmor" ]
ok $? "share/fence/fence.apparmor"
for f in fence.1 fence-run.1 fence-policy.5 fence-events.5 fence-security.7; do
	like "$(find "$d" -name "$f")" "/$f$" "the manual: $f"
done
for who in $WHOS; do
	W=$(workspace "$who")
	capture "$who" "$bin/fence-run" -- sh -c 'echo ran >f; cat f'
	is "$out" ran "$who: runs from there"
	capture "$who" "$bin/fence" -- sh -c 'exit 3'
	is "$status" 3 "$who: so does fence -- COMMAND"
	mkdir "$T/far.$who"
	cp -R "$bin/../" "$T/far.$who/moved"
	chmod -R go+rX "$T/far.$who"
	capture "$who" "$T/far.$who/moved/bin/fence-run" -- true
	is "$status" 0 "$who: and after the tree was moved"
done
make -C "$FENCE_BUILD" -s uninstall DESTDIR="$d" >"$T/log" 2>&1
is "$(find "$d" -type f -o -type l)" "" "make uninstall leaves no file"
finish
