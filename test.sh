#!/usr/bin/env bash
# test.sh [--long] [-j N] [--keep] [PATTERN…]: builds everything, runs every
# test, prints `N passed, N failed, N skipped`.  See tests/README.md.
set -eu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
me=test.sh
. "$top/tests/setup.sh"

# The unprivileged half of the tests runs as this user when root starts us.
make_user() {
	[ "$(id -u)" -eq 0 ] || return 0
	export FENCE_TEST_USER=fence-test
	getent passwd fence-test >/dev/null ||
	    useradd --system --user-group --create-home --shell /bin/sh \
	    --home-dir /var/tmp/fence-test-home --comment 'fence tests' \
	    fence-test || die "cannot make the user fence-test"
}

# A copy that the unprivileged user can read wherever the clone lives.
install_copy() {
	copy=$(mktemp -d /var/tmp/fence-copy.XXXXXX)
	trap 'rm -rf "$copy"' EXIT
	chmod 755 "$copy"
	make -C "$top/build-test" -s install prefix="$copy/prefix" >/dev/null ||
	    die "make install failed"
	cp -R "$top/tests" "$copy/tests"
	mkdir "$copy/probes"
	find "$top/build-test/tests/probes" -maxdepth 1 -type f -perm -u+x \
	    -exec cp {} "$copy/probes" \;
	(cd "$top/tests/probes/goclient" && CGO_ENABLED=0 GOFLAGS=-mod=mod \
	    GOTOOLCHAIN=local go build -o "$copy/probes/goclient" .) ||
	    die "go build failed"
	chmod -R go+rX "$copy"
}

case " $* " in
*" --long "*)	need "$build_packages$test_packages$long_packages" ;;
*)		need "$build_packages$test_packages" ;;
esac
make_user
# TESTS= builds everything, test programs too, and leaves running them to
# tests/run.
build build-test "check TESTS=" --enable-test-hooks --enable-werror \
    --without-apparmor
build build-san "check TESTS=" --enable-test-hooks --enable-sanitizers \
    --enable-werror CFLAGS="-g -O1"
build build-clang "check TESTS=" --enable-werror CC=clang
install_copy

export FENCE_SRC=$top FENCE_BUILD=$top/build-test
export FENCE_SAN_BUILD=$top/build-san
export FENCE_PREFIX=$copy/prefix FENCE_PROBES=$copy/probes
# gcc's ASan wants to be first in the list of libraries; leaks are errors.
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
"$copy/tests/run" "$@"
