#!/usr/bin/env bash
# The AppArmor profile: installed where it is asked for, named for the place
# of the programs, and a text that the parser takes.
LIB_NO_ROOT_HALF=1
. "$(dirname "$0")/../lib.sh"

if [ ! -e "${FENCE_BUILD:-}/Makefile" ]; then
	skip "no build tree (FENCE_BUILD)" "the profile"
	finish
fi
PATH=$PATH:/usr/sbin:/sbin

put() {	# put DESTDIR MAKE-ARGS…
	make -C "$FENCE_BUILD" -s install DESTDIR="$@" >"$T/log" 2>&1
	ok $? "make install ${*:2}" || note "$(cat "$T/log")"
}

put "$T/without"
[ ! -e "$T/without/etc/apparmor.d" ]
ok $? "not asked for: nothing in /etc"
share=$(find "$T/without" -name fence.apparmor)
like "$share" /share/fence/ "but a copy in share/fence"

put "$T/with" prefix=/opt/x APPARMOR_DIR=/etc/apparmor.d
profile=$T/with/etc/apparmor.d/fence
like "$(cat "$profile")" 'profile fence /opt/x/bin/fence\{,-run\} ' \
    "it is attached to where the programs are"
like "$(cat "$profile")" $'\n  allow userns,\n' \
    "and permits user namespaces"
unlike "$(cat "$profile")" @ "no place holder is left" ||
    note "$(grep -n @ "$profile")"

# An AppArmor before 4.0 knows neither the rule nor the ABI, and does not
# restrict user namespaces; it can judge the rest.
parses() {	# parses FILE
	apparmor_parser -Q -K "$1" >"$T/log" 2>&1
}
if [ -e /etc/apparmor.d/abi/4.0 ]; then
	cp "$profile" "$T/profile"
else
	grep -v -e 'abi/4\.0' -e 'allow userns,' -e 'allow io_uring,' \
	    -e 'allow mqueue,' "$profile" >"$T/profile"
	note "$(apparmor_parser --version | head -n 1): without userns"
fi
parses "$T/profile"
ok $? "the parser takes it" || note "$(cat "$T/log")"
sed 's/allow mount,/allow nonsense,/' "$T/profile" >"$T/bad"
! parses "$T/bad"
ok $? "and would not take just anything"

make -C "$FENCE_BUILD" -s uninstall DESTDIR="$T/with" prefix=/opt/x \
    APPARMOR_DIR=/etc/apparmor.d >"$T/log" 2>&1
is "$(find "$T/with" -type f)" "" "make uninstall leaves no file"
: >"$T/file"
make -C "$FENCE_BUILD" -s install-apparmor pkgdatadir="$T/share" \
    APPARMOR_DIR="$T/file/no" >"$T/log" 2>&1
is "$?" 0 "a folder that cannot be written does not fail the installation"
like "$(cat "$T/log")" 'not installed: ' "and is told"
finish
