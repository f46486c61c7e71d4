#!/usr/bin/env bash
# filesystem.wslInterop: where reading has to be granted, /init of WSL can be
# executed.  A root of the test's own, since this machine has no /init.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	W=$(workspace "$who")
	as "$who" mkdir "$W/m"
	for wish in true false; do
		echo "{\"filesystem\":{\"defaultDenyRead\":true,
		    \"wslInterop\":$wish}}" >"$T/$wish.json"
		chmod 644 "$T/$wish.json"
		capture "$who" unshare -Urm sh -c "
		    mount -t tmpfs tmpfs '$W/m' && : >'$W/m/init' &&
		    for d in /*; do
		        if [ -L \$d ]; then cp -P \$d '$W/m/'
		        elif [ -d \$d ]; then
		            mkdir '$W/m'\$d && mount --rbind \$d '$W/m'\$d
		        fi || exit 99
		    done
		    exec chroot '$W/m' sh -c 'cd $W && exec $FENCE_RUN \
		    -s $T/$wish.json --dry-run true'"
		is "$status" 0 "$who: wslInterop $wish: a plan"
		is "$(grep -c ' /init ' <<<"$out")" \
		    "$([ "$wish" = true ] && echo 1 || echo 0)" \
		    "$who: wslInterop $wish: /init"
	done
done
finish
