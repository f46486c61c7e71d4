#compdef fence fence-run
# Completion of fence and fence-run for zsh.

_fence_lookup() {
	case $at in
	fence-run) at=run ;;
	fence)
		case $1 in
		'') ;;
		-*) at=run ;;
		config|template|hooks|shadow) at="$1${2:+ $2}" ;;
		*) at=$1 ;;
		esac ;;
	esac
	case $at in
	fence)
		opts='-s --settings -t --template -a --allow --host-port -w --write -r --read --deny-read --ignore-unknown-keys -d --debug -m --monitor --fence-log-file --watch-policy --trace-file -c --c --shell --shell-login --chdir --env --force-new-session --keep-fd --engine -p --port --service-execution-model --expose-host-path --expose-host-path-rw --dry-run --list-templates --linux-features -h --help -v --version'
		list='run config template why doctor completion help hook hooks import shadow trace allow' ;;
	'run')
		opts='-s --settings -t --template -a --allow --host-port -w --write -r --read --deny-read --ignore-unknown-keys -d --debug -m --monitor --fence-log-file --watch-policy --trace-file -c --c --shell --shell-login --chdir --env --force-new-session --keep-fd --engine -p --port --service-execution-model --expose-host-path --expose-host-path-rw --dry-run --list-templates --linux-features -h --help -v --version'
		list='' ;;
	'config')
		opts=''
		list='show check init schema trust untrust diff' ;;
	'config show')
		opts='-s --settings -t --template -a --allow --host-port -w --write -r --read --deny-read --ignore-unknown-keys --origins --format'
		list='' ;;
	'config check')
		opts='--ignore-unknown-keys'
		list='' ;;
	'config init')
		opts='-t --template --minimal -o --output -y --force --print --scaffold'
		list='' ;;
	'config schema')
		opts=''
		list='' ;;
	'config trust')
		opts=''
		list='' ;;
	'config untrust')
		opts=''
		list='' ;;
	'config diff')
		opts=''
		list='' ;;
	'template')
		opts=''
		list='list show' ;;
	'template list')
		opts=''
		list='' ;;
	'template show')
		opts=''
		list='cargo-build ci code code-relaxed code-strict default-deny disable-telemetry git-readonly go-build hermes local-dev-server npm-install pip-install strict workspace-write' ;;
	'why')
		opts='-s --settings -t --template -a --allow --host-port -w --write -r --read --deny-read --ignore-unknown-keys --json'
		list='connect read write exec' ;;
	'doctor')
		opts='--engine --json'
		list='' ;;
	'completion')
		opts=''
		list='bash zsh fish' ;;
	'help')
		opts=''
		list='' ;;
	'hook')
		opts='-s --settings -t --template --wrap --no-wrap'
		list='claude codex gemini opencode copilot cursor qwen crush windsurf hermes' ;;
	'hooks')
		opts=''
		list='print install uninstall status guide' ;;
	'hooks print')
		opts='--claude --codex --gemini --opencode --copilot --cursor --qwen --crush --windsurf --hermes -s --settings -t --template --wrap --no-wrap'
		list='' ;;
	'hooks install')
		opts='--claude --codex --gemini --opencode --copilot --cursor --qwen --crush --windsurf --hermes -s --settings -t --template --wrap --no-wrap -f --file -y --force'
		list='' ;;
	'hooks uninstall')
		opts='--claude --codex --gemini --opencode --copilot --cursor --qwen --crush --windsurf --hermes -f --file -y --force'
		list='' ;;
	'hooks status')
		opts='--claude --codex --gemini --opencode --copilot --cursor --qwen --crush --windsurf --hermes -f --file'
		list='' ;;
	'hooks guide')
		opts=''
		list='' ;;
	'import')
		opts='--claude --srt --codex -f --file -o --output --save -y --force --extend --no-extend'
		list='' ;;
	'shadow')
		opts=''
		list='list diff keep drop reset' ;;
	'shadow list')
		opts='--json'
		list='' ;;
	'shadow diff')
		opts=''
		list='' ;;
	'shadow keep')
		opts=''
		list='' ;;
	'shadow drop')
		opts=''
		list='' ;;
	'shadow reset')
		opts='-f --force'
		list='' ;;
	'trace')
		opts='-l --list --by --json --html -f --follow --suggest -s --settings --verify'
		list='' ;;
	'allow')
		opts='-r --read --from --claims -y --yes -u --user -s --settings'
		list='' ;;
	*)
		opts=
		list= ;;
	esac
}

_fence() {
	local at=${words[1]##*/} prev=${words[CURRENT-1]} opts list
	local first= second=
	(( CURRENT <= 2 )) || first=${words[2]}
	(( CURRENT <= 3 )) || second=${words[3]}
	_fence_lookup "$first" "$second"
	case $prev in
	-t|--template) list='cargo-build ci code code-relaxed code-strict default-deny disable-telemetry git-readonly go-build hermes local-dev-server npm-install pip-install strict workspace-write' ;;
	--shell) list='default user' ;;
	--engine) list='bwrap native' ;;
	--service-execution-model) list='in-sandbox on-host' ;;
	-s|--settings|-w|--write|-r|--read|--deny-read|-o|--output|--chdir)
		list= ;;
	esac
	case $PREFIX in
	-*) compadd -- ${=opts} ;;
	*)
		[[ -z $list ]] || compadd -- ${=list}
		[[ $at != run ]] || _command_names -e
		[[ $at == fence ]] || _files ;;
	esac
}

compdef _fence fence fence-run
