#!/usr/bin/env bash
# `fence-run make` builds zlib and git from Debian's sources; what they test
# themselves with passes inside as well.
# tags: long
# limit: 1800
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

zlib() {	# zlib WHO
	if ! unpack "$1" zlib; then
		skip "$why" "$1: make builds zlib"
		return
	fi
	jailed "$1" -- ./configure
	works "$1" "zlib: configure"
	jailed "$1" -- make -s -j2
	works "$1" "zlib: make"
	jailed "$1" -- make -s test
	works "$1" "zlib: make test"
	like "$out" 'zlib shared test OK' "$1: zlib: which says so"
	jailed "$1" -- make -s install prefix="$W/top"
	works "$1" "zlib: make install"
	[ -s "$W/top/lib/libz.a" ]
	ok $? "$1: zlib: into the workspace"
}

# Those that make repositories in every shape, configure them, run hooks,
# talk to themselves over sockets and pipes, and send signals.
git_tests='t0001-init t0005-signals t0008-ignores t1300-config t1800-hook
t2400-worktree-add t3903-stash t5510-fetch t5516-fetch-push t5601-clone
t6500-gc t7400-submodule-basic t7503-pre-commit-and-pre-merge-commit-hooks'

# Half of git's tests are about root's umask; these are not.
root_tests='t3903-stash t5601-clone t6500-gc'

build_git() {	# build_git WHO TESTS
	local who=$1 t
	if ! packages 'libcurl4-gnutls-dev	pc:libcurl
		libexpat1-dev	pc:expat
		zlib1g-dev	pc:zlib'; then
		skip "$(tail -n1 "$T/apt.log")" "$who: make builds git"
		return
	fi
	if ! unpack "$who" git; then
		skip "$why" "$who: make builds git"
		return
	fi
	jailed "$who" -- make -s -j2 NO_TCLTK=1 NO_GETTEXT=1
	works "$who" "git: make"
	for t in $2; do
		jailed "$who" -- sh -c "cd t && exec ./$t.sh"
		is "$status" 0 "$who: git: $t" ||
		    note "$(grep '^not ok' <<<"$out")"
		like "$out" 'passed all' "$who: git: $t: all of it ran"
	done
}

for who in $WHOS; do
	zlib "$who"
done
build_git user "$git_tests"
[ "$IS_ROOT" = 0 ] || build_git root "$root_tests"
finish
