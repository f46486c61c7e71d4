# builds/lib.sh: what contract/build-*.t share: sources of Debian packages,
# the clients of package registries, a home of the test's own.
# Sourced after lib.sh.
# shellcheck shell=bash

# One place for all that is fetched; it outlives a run of the suite and goes
# with the build directory.
FETCHED=${FENCE_BUILD:?set by test.sh}/fetched
mkdir -p "$FETCHED"

# packages TABLE: installs what is missing, rows as in setup.sh.  Tests run
# side by side, and apt-get's own lock does not cover `update`.
packages() (
	top=$TESTS/.. me=${0##*/}
	. "$TESTS/setup.sh"
	exec 9>>"$FETCHED/lock"
	flock 9
	need "$1" 2>"$T/apt.log" || exit
)

# The host's own entries with deb for deb-src: a machine that installs
# packages knows where their sources are.
apt_sources() {	# apt_sources DIR
	local f
	mkdir -p "$1/parts" "$1/lists/partial" "$1/cache/archives/partial"
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$f" ] || sed -n 's/^deb /deb-src /p' "$f" \
		    >"$1/parts/${f##*/}.list"
	done
	for f in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$f" ] || sed 's/^Types:.*/Types: deb-src/' "$f" \
		    >"$1/parts/${f##*/}"
	done
}

# Settings, lists and cache of its own: the machine's stay as they are.
apt_private() {	# apt_private DIR ARGS…
	local dir=$1
	shift
	apt-get -qq -o Dir::Etc::sourcelist=/dev/null \
	    -o Dir::Etc::sourceparts="$dir/parts" \
	    -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" \
	    -o APT::Sandbox::User=root "$@"
}

fetch_source() {	# fetch_source PACKAGE, into the working directory
	apt_private "$FETCHED/apt" source --download-only "$1"
}

# debian_source PACKAGE: prints the path of its upstream tarball, which
# apt-get fetched once and held against Debian's signature.
debian_source() (
	exec 9>>"$FETCHED/lock"
	flock 9
	into=$FETCHED/$1
	if ! compgen -G "$into/*.orig.tar.*" >/dev/null; then
		rm -rf "$into.new"
		mkdir "$into.new" && cd "$into.new" || exit
		# No lists yet, or lists of versions that are gone.
		fetch_source "$1" || {
			apt_sources "$FETCHED/apt"
			apt_private "$FETCHED/apt" update
			fetch_source "$1"
		} || exit
		rm -rf "$into"
		mv "$into.new" "$into" || exit
	fi >&2
	ls "$into"/*.orig.tar.*[!c]
)

# npm_bin PACKAGE@VERSION…: prints the folder of their programs, which npm
# fetched once.  It outlives the tree: these are hundreds of megabytes.
npm_bin() (
	into=/var/tmp/fence-npm-$(id -u)
	mkdir -p "$into"
	cd "$into" || exit
	exec 9>>lock
	flock 9
	for package; do
		[ -e "done-${package//\//-}" ] && continue
		[ -e package.json ] || npm init -y >&2
		npm install --no-audit --no-fund "$package" >&2 || exit
		touch "done-${package//\//-}"
	done
	echo "$into/node_modules/.bin"
)

# unpack WHO PACKAGE: the upstream sources of PACKAGE in a fresh $W, and a
# fresh home $H.  Fails, and says why in $why, where they cannot be had.
unpack() {
	local tarball
	fresh "$1"
	if ! command -v apt-get >/dev/null; then
		why="no apt-get here"
		return 1
	fi
	if ! tarball=$(debian_source "$2" 2>"$T/fetch.log"); then
		why="apt-get source $2: $(tail -n1 "$T/fetch.log")"
		return 1
	fi
	# By root, tar would give the files the ids of the archive.
	tar xf "$tarball" -C "$W" --no-same-owner --strip-components=1
	[ "$1$IS_ROOT" != user1 ] || chown -R "$TEST_USER": "$W"
}

fresh() {	# fresh WHO: a workspace $W and a home $H, both empty
	W=$(workspace "$1")
	H=$(workspace "$1")
}

# jailed WHO ARGS…: fence-run in $W with the home $H
jailed() {
	local who=$1
	shift
	capture "$who" env HOME="$H" "$FENCE_RUN" "$@"
}

# bare WHO CMD…: the same without fence-run
bare() {
	local who=$1
	shift
	capture "$who" env HOME="$H" "$@"
}

# works WHO NAME: what ran last succeeded, and fence refused it nothing.
works() {
	local told=$err

	err=$(tail -n 12 <<<"$err")	# builds are talkative
	is "$status" 0 "$1: $2" || note "$(tail -n 12 <<<"$out")"
	unlike "$(grep 'refusal' <<<"$told")" . "$1: $2: nothing was refused"
}
