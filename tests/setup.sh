# setup.sh: what run.sh and test.sh share: packages and builds.
# Sourced by bash with $top set to the source tree and $me to the caller.
# shellcheck shell=bash

# package, and how to see that it is there: a command, a pkg-config module,
# a file, a shared library or a Python module.  Read by `missing`.
build_packages="
gcc		cmd:gcc
libc6-dev	file:/usr/include/stdio.h
linux-libc-dev	file:/usr/include/linux/seccomp.h
make		cmd:make
autoconf	cmd:autoconf
automake	cmd:automake
pkg-config	cmd:pkg-config
libseccomp-dev	pc:libseccomp
libinih-dev	pc:inih
libidn2-dev	pc:libidn2
libpcre2-dev	pc:libpcre2-8
libffi-dev	pc:libffi
libunistring-dev	file:/usr/include/unistr.h
musl-tools	cmd:musl-gcc
bubblewrap	cmd:bwrap
"
test_packages="
libcmocka-dev	pc:cmocka
clang		cmd:clang
g++		cmd:g++
curl		cmd:curl
wget		cmd:wget
openssl		cmd:openssl
busybox-static	static:busybox
dnsutils	cmd:dig
netcat-openbsd	cmd:nc
iputils-ping	cmd:ping
tinyproxy-bin	cmd:tinyproxy
microsocks	cmd:microsocks
iproute2	cmd:ip
nftables	cmd:nft
tmux		cmd:tmux
zsh		cmd:zsh
fish		cmd:fish
vim		cmd:vim
less		cmd:less
bsdutils	cmd:script
nodejs		cmd:node
gdb		cmd:gdb
strace		cmd:strace
zsh		cmd:zsh
fish		cmd:fish
python3		file:/usr/bin/python3
python3-jsonschema	file:/usr/lib/python3/dist-packages/jsonschema
python3-venv	py:ensurepip
golang-go	cmd:go
git		cmd:git
openssh-client	cmd:ssh
openssh-server	file:/usr/sbin/sshd
mandoc		cmd:mandoc
file		cmd:file
jq		cmd:jq
apparmor	cmd:apparmor_parser
procps		cmd:ps
util-linux	cmd:setpriv
binutils	cmd:nm
libjemalloc2	lib:libjemalloc.so.2
libtcmalloc-minimal4	lib:libtcmalloc_minimal.so.4
libmimalloc2.0	lib:libmimalloc.so.2
"
# For ./test.sh --long.
long_packages="
npm		cmd:npm
wget2		cmd:wget2
ruby		cmd:ruby
php-cli		cmd:php
default-jdk-headless	cmd:javac
postgresql-client	cmd:psql
mariadb-client	cmd:mariadb
redis-tools	cmd:redis-cli
redis-server	cmd:redis-server
rsync		cmd:rsync
chromium	cmd:chromium
"

die() {
	echo "$me: $*" >&2
	exit 1
}

is_there() {	# is_there CHECK
	case $1 in
	cmd:*)	command -v "${1#*:}" >/dev/null ;;
	pc:*)	pkg-config --exists "${1#*:}" 2>/dev/null ;;
	file:*)	[ -e "${1#*:}" ] ;;
	lib:*)	/sbin/ldconfig -p | grep -qF "${1#*:}" ;;
	py:*)	/usr/bin/python3 -c "import ${1#*:}" 2>/dev/null ;;
	static:*)
		command -v "${1#*:}" >/dev/null &&
		    ! ldd "$(command -v "${1#*:}")" >/dev/null 2>&1 ;;
	esac
}

missing() {	# missing TABLE: prints the packages that are not there
	local package check
	while read -r package check; do
		[ -z "$package" ] || is_there "$check" || echo "$package"
	done <<<"$1"
}

apt() {	# apt ARGS…, by whoever may
	local sudo=()
	[ "$(id -u)" -eq 0 ] || sudo=(sudo)
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
	    "$@" >&2
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Servers among them are for the tests: none starts, now or with the machine.
install_idle() {	# install_idle PACKAGES…
	local policy=/usr/sbin/policy-rc.d mine='' rv=0
	if [ ! -e "$policy" ] && printf '#!/bin/sh\nexit 101\n' |
	    as_root tee "$policy" >/dev/null; then
		mine=1
		as_root chmod 755 "$policy"
	fi
	apt --no-install-recommends install "$@" || rv=$?
	[ -z "$mine" ] || as_root rm -f "$policy"
	case " $* " in
	*" openssh-server "*)
		[ ! -d /run/systemd/system ] ||
		    as_root systemctl disable -q ssh.service || : ;;
	esac
	return "$rv"
}

may_apt() {
	command -v apt-get >/dev/null || return 1
	[ "$(id -u)" -eq 0 ] && return
	command -v sudo >/dev/null || return 1
	sudo -n true 2>/dev/null || [ -t 0 ]
}

# need TABLE: installs what is missing, or says in one line what that is.
need() {
	local list
	# /usr/sbin holds ip and useradd, and is not on every user's path.
	PATH=$PATH:/usr/sbin:/sbin:/usr/local/go/bin
	list=$(missing "$1" | tr '\n' ' ')
	[ -n "$list" ] || return 0
	may_apt || die "please install: $list"
	echo "$me: installing $list" >&2
	apt update || die "apt-get update failed; please install: $list"
	# shellcheck disable=SC2086 # a list of words
	install_idle $list ||
	    die "apt-get install failed; please install: $list"
	list=$(missing "$1" | tr '\n' ' ')
	[ -z "$list" ] || die "still missing after apt-get: $list"
}

sources=(launcher platform policy proxy shim man tests/local.mk
    configure.ac Makefile.am)

# is_fresh STAMP: nothing that goes into a build is newer than STAMP.
is_fresh() {
	[ -e "$1" ] && [ -z "$(cd "$top" &&
	    find "${sources[@]}" -newer "$1" -print -quit)" ]
}

make_configure() {
	if [ ! -e "$top/configure" ] || [ ! -e "$top/build-aux/install-sh" ] ||
	    [ -n "$(cd "$top" && find \
	    configure.ac Makefile.am ./*/local.mk ./launcher/*/local.mk \
	    -newer configure -print -quit)" ]; then
		"$top/autogen.sh" >&2 || die "autogen.sh failed"
		touch "$top/configure"	# autoreconf leaves it when unchanged
	fi
}

# build DIR TARGETS CONFIGURE-ARGS…: out of tree, only what changed.
build() {
	local dir=$top/$1 targets=$2
	shift 2
	if ! mkdir -p "$dir" 2>/dev/null || [ ! -w "$dir" ] ||
	    [ ! -w "$top" ]; then
		die "cannot write to $top: its owner has to build it first"
	fi
	make_configure
	if [ ! -e "$dir/Makefile" ] || [ "$top/configure" -nt "$dir/Makefile" ] ||
	    [ "$*" != "$(cat "$dir/.configured" 2>/dev/null)" ]; then
		(cd "$dir" && "$top/configure" -q "$@") >&2 ||
		    die "configure failed in $dir"
		touch "$dir/Makefile"
		echo "$*" >"$dir/.configured"
	fi
	# The stamp is older than the build: a source saved meanwhile is new.
	touch "$dir/.begun"
	echo "$me: building in $dir" >&2
	# shellcheck disable=SC2086 # a list of words
	if ! make -C "$dir" -s -j2 $targets >"$dir/.log" 2>&1; then
		cat "$dir/.log" >&2
		die "make failed in $dir"
	fi
	grep -i -A3 'warning:' "$dir/.log" >&2 || :
	mv "$dir/.begun" "$dir/.made"
}
