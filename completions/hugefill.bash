# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion of hugefill(8) for bash. Needs nothing besides bash.

_hugefill_common='--bytes --json --noheadings --output-all --output= --progress= --quiet --raw
	--sysroot= --verbose --help --usage --version'

_hugefill_options() {
	case $1 in
	alloc | run)
		echo '--size= --file= --page-size= --nodes= --from= --dry-run --threads= --layout= --method= --grow=
			--available --best-effort --deadline= --drop-caches --headroom= --no-grow --no-mount
			--mode= --owner= --resize'
		;;
	free)
		echo '--size= --file= --page-size= --nodes= --from= --dry-run --force --punch= --shrink --stale --umount'
		;;
	status)
		echo '--pools --mounts --files --processes --cgroups --page-size= --nodes= --pid= --format= --watch --watch='
		;;
	check)
		echo '--size= --file= --page-size= --nodes= --from= --threads= --layout= --method= --grow=
			--available --best-effort --drop-caches --headroom= --no-grow --no-mount
			--mode= --owner= --resize --persist'
		;;
	bench)
		echo '--size= --page-size= --nodes= --threads= --method= --mapping= --stride= --instances= --time=
			--workers= --action= --runs= --warmup= --headroom= --dry-run --histogram --kernel --kernel=
			--compare= --plot='
		;;
	mount) echo '--page-size= --size= --min-size= --nr-inodes= --mode= --owner= --dry-run' ;;
	umount) echo '--page-size= --force --dry-run' ;;
	esac
	echo "$_hugefill_common"
}

# _hugefill_columns COMMAND TABLE: TABLE is plan, or one of status's
_hugefill_columns() {
	case $1,$2 in
	alloc,plan | run,plan) echo ACTION TARGET NODE PAGESIZE FROM TO PAGES THREADS ;;
	alloc,* | run,*) echo TARGET NODE PAGESIZE REQUESTED FILLED THREADS TIME RATE SPEEDUP STDEV PAGES ACTION ;;
	free,*) echo TARGET NODE PAGESIZE ACTION REQUESTED FREED TIME PAGES ;;
	status,pools)
		echo SIZE NODE TOTAL FREE RSVD SURPLUS OVERCOMMIT USED AVAIL PERSISTENT TOTAL_BYTES FREE_BYTES \
			RSVD_BYTES SURPLUS_BYTES OVERCOMMIT_BYTES USED_BYTES AVAIL_BYTES PERSISTENT_BYTES
		;;
	status,mounts) echo TARGET PAGESIZE SIZE MIN_SIZE USED INODES MODE OWNER OPTIONS INODES_USED COVERED ;;
	status,files) echo PATH PAGESIZE SIZE FILLED NODES LINKS HOLDERS COMMANDS FILLED_BYTES INODE DEVICE ;;
	status,processes)
		echo PID COMMAND USER PAGESIZE KIND OBJECT SHARED PRIVATE FILLED NODES HELD SHARED_BYTES \
			PRIVATE_BYTES FILLED_BYTES INODE DEVICE
		;;
	status,cgroups) echo CGROUP PAGESIZE LIMIT RSVD_LIMIT USAGE RSVD_USAGE FAILURES RSVD_FAILURES HIERARCHY ;;
	status,*) _hugefill_columns status pools ;;
	check,*) echo SEVERITY ID OBJECT NODE WANTED GOT TEXT HINT ;;
	bench,*)
		echo TEST MAPPING NTHREAD INSTANCES WORKERS SPEEDUP SIZE STRIDE MIN_TIME STDEV MEDIAN MAX_TIME \
			MEAN RATE PER_SEC PER_INSTANCE RUNS P50 P90 P99 MAX BASELINE CHANGE PVALUE RANKED \
			VERDICT WHY CASE
		;;
	mount,* | umount,*) echo TARGET PAGESIZE SIZE MIN_SIZE INODES MODE OWNER CHANGED ;;
	esac
}

_hugefill_page_sizes() {
	local dir kib

	for dir in /sys/kernel/mm/hugepages/hugepages-*kB; do
		kib=${dir##*-}
		kib=${kib%kB}
		if [[ $kib != *[!0-9]* ]]; then
			if ((kib % 1048576 == 0)); then
				echo "$((kib / 1048576))G"
			elif ((kib % 1024 == 0)); then
				echo "$((kib / 1024))M"
			else
				echo "${kib}K"
			fi
		fi
	done
}

# Nodes that have memory: the kernel's list is "0-3,6".
_hugefill_nodes() {
	local file=/sys/devices/system/node/has_memory list=0 range node

	[[ ! -r $file ]] || read -r list <"$file"
	for range in ${list//,/ }; do
		for ((node = ${range%-*}; node <= ${range#*-}; node++)); do
			echo $node
		done
	done
}

# Mount points of hugetlbfs, one a line
_hugefill_mounts() {
	local target type

	while read -r _ target type _; do
		[[ $type != hugetlbfs ]] || printf '%b\n' "$target"
	done </proc/self/mounts
}

# _hugefill_mounted TEXT: those mounts that fit
_hugefill_mounted() {
	local mount

	while read -r mount; do
		[[ $mount != "$1"* ]] || echo "$mount"
	done < <(_hugefill_mounts)
}

# _hugefill_paths TEXT: files and directories on hugetlbfs mounts, the mounts themselves where there are none
_hugefill_paths() {
	local mount

	while read -r mount; do
		if [[ $1 == "$mount"/* ]]; then
			compgen -f -- "$1"
		elif [[ $mount/ == "$1"* ]]; then
			compgen -f -- "$mount/" || echo "$mount/"
		fi
	done < <(_hugefill_mounts)
}

# _hugefill_bare TEXT: names on the mount where bare names of the default page size lie
_hugefill_bare() {
	local mount

	while read -r mount; do
		[[ $mount != /dev/hugepages ]] || (cd "$mount" 2>/dev/null && compgen -f -- "$1")
	done < <(_hugefill_mounts)
}

# _hugefill_reply TEXT PREFIX WORD...: those words that fit, with PREFIX in front
_hugefill_reply() {
	local text=$1 prefix=$2 word

	shift 2
	for word; do
		[[ $prefix$word != "$text"* ]] || COMPREPLY+=("$prefix$word")
	done
}

_hugefill_lines() {
	local line

	while read -r line; do
		COMPREPLY+=("$line")
	done < <("${@:2}" "$1")
}

# _hugefill_node_list TEXT PREFIX: NODES are joined with +
_hugefill_node_list() {
	local text=$1 prefix=$2 rest=${1#"$2"}

	[[ $rest == *+* ]] || _hugefill_reply "$text" "$prefix" all
	[[ $rest != *+* ]] || prefix+=${rest%+*}+
	# shellcheck disable=SC2046 # words
	_hugefill_reply "$text" "$prefix" $(_hugefill_nodes)
}

# _hugefill_spec TEXT COMMAND
_hugefill_spec() {
	local text=$1 amounts=${1##*=} size

	if [[ $text == *=* && $amounts == *@* ]]; then
		_hugefill_node_list "$text" "${text%@*}@"
		compopt -o nospace 2>/dev/null
		return
	fi
	[[ $text != *=* || $text == /* ]] || return
	for size in default $(_hugefill_page_sizes); do
		[[ $2 == free ]] || size+='='
		_hugefill_reply "$text" '' "$size"
	done
	_hugefill_lines "$text" _hugefill_paths
	[[ $2 != free || $text == */* ]] || _hugefill_lines "$text" _hugefill_bare
	# A pool in alloc goes on with "=", which readline would quote in a file's name.
	[[ $2 == free ]] || compopt -o nospace 2>/dev/null
	[[ $2 != free && $text != /* ]] || compopt -o filenames 2>/dev/null
}

# _hugefill_list TEXT PREFIX WORD...: words are joined with commas
_hugefill_list() {
	local prefix=$2 rest=${1#"$2"}

	[[ $rest != *,* ]] || prefix+=${rest%,*},
	_hugefill_reply "$1" "$prefix" "${@:3}"
	compopt -o nospace 2>/dev/null
}

_hugefill_pids() {
	local dir

	for dir in /proc/[1-9]*; do
		echo "${dir#/proc/}"
	done
}

# _hugefill_value OPTION TEXT PREFIX COMMAND TABLE: TEXT begins with PREFIX
_hugefill_value() {
	local text=$2 prefix=$3 rest=${2#"$3"}

	case $1 in
	--page-size | -p)
		# shellcheck disable=SC2046 # words
		_hugefill_reply "$text" "$prefix" default $(_hugefill_page_sizes)
		;;
	--nodes | -N) _hugefill_node_list "$text" "$prefix" ;;
	--layout) _hugefill_reply "$text" "$prefix" interleave block ;;
	--grow) _hugefill_reply "$text" "$prefix" auto sysfs parallel ;;
	--method)
		if [[ $4 == bench ]]; then
			_hugefill_list "$text" "$prefix" auto populate touch fallocate
		else
			_hugefill_reply "$text" "$prefix" auto populate touch fallocate
		fi
		;;
	--mapping) _hugefill_list "$text" "$prefix" private-anon shared-anon private-file shared-file ;;
	--action) _hugefill_list "$text" "$prefix" remove punch shrink ;;
	--pid)
		# shellcheck disable=SC2046 # words
		_hugefill_list "$text" "$prefix" $(_hugefill_pids)
		;;
	--progress) _hugefill_reply "$text" "$prefix" auto always never ;;
	--format) _hugefill_reply "$text" "$prefix" openmetrics ;;
	--output | -o)
		if [[ $rest == *,* ]]; then
			prefix+=${rest%,*},
		elif [[ $rest == +* ]]; then
			prefix+=+
		fi
		# shellcheck disable=SC2046 # words
		_hugefill_reply "$text" "$prefix" $(_hugefill_columns "$4" "$5")
		;;
	--file | -f)
		[[ $rest == */* ]] || _hugefill_lines "$rest" _hugefill_bare
		_hugefill_lines "$rest" _hugefill_paths
		COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
		compopt -o filenames 2>/dev/null
		;;
	--from | --compare | --plot) _hugefill_names "$rest" "$prefix" -f ;;
	--sysroot) _hugefill_names "$rest" "$prefix" -d ;;
	--owner)
		if [[ $rest == *:* ]]; then
			# shellcheck disable=SC2046 # words
			_hugefill_reply "$text" "$prefix${rest%%:*}:" $(compgen -g)
		else
			# shellcheck disable=SC2046 # words
			_hugefill_reply "$text" "$prefix" $(compgen -u)
		fi
		;;
	esac
}

# _hugefill_names TEXT PREFIX -f|-d: any file or directory
_hugefill_names() {
	_hugefill_lines "$1" compgen "$3" --
	COMPREPLY=("${COMPREPLY[@]/#/$2}")
	compopt -o filenames 2>/dev/null
}

_hugefill() {
	local line=${COMP_LINE:0:COMP_POINT} words word text previous='' command='' table='' i broken ended=''
	local takes=' --size -s --file -f --page-size -p --nodes -N --from --threads -t --layout --grow --method
		--deadline --headroom --mode --owner --output -o --progress --sysroot --punch --min-size
		--nr-inodes --pid --format --mapping --stride --instances --time --workers --action --runs --warmup
		--compare --plot '

	# readline breaks words at "=", ":" and "@", which specs and options are full of.
	read -ra words <<<"$line"
	[[ $line != *[[:blank:]] ]] || words+=('')
	text=${words[-1]}
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		[[ $command != run || $ended ]] || [[ $word != -- ]] || ended=$((i + 1))
		[[ -z $ended ]] || break
		case $word in
		-n | --dry-run) table=plan ;;
		--pools | --mounts | --files | --processes | --cgroups) table=${word#--} ;;
		-*) [[ $takes != *[[:blank:]]"$word"[[:blank:]]* ]] || ((i++)) ;;
		*) [[ -n $command ]] || command=$word ;;
		esac
	done
	((${#words[@]} < 3)) || previous=${words[-2]}

	COMPREPLY=()
	if [[ $ended && $ended == $((${#words[@]} - 1)) ]]; then
		_hugefill_lines "$text" compgen -c --
	elif [[ $ended ]]; then
		_hugefill_names "$text" '' -f
	elif [[ $previous == -* && $takes == *[[:blank:]]"$previous"[[:blank:]]* ]]; then
		_hugefill_value "$previous" "$text" '' "$command" "$table"
	elif [[ $text == --*=* ]]; then
		_hugefill_value "${text%%=*}" "$text" "${text%%=*}=" "$command" "$table"
	elif [[ $text == -* ]]; then
		# shellcheck disable=SC2046 # words
		_hugefill_reply "$text" '' $(_hugefill_options "$command")
		[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
	elif [[ -z $command ]]; then
		_hugefill_reply "$text" '' alloc run free status check mount umount bench
	elif [[ $command == bench ]]; then
		_hugefill_reply "$text" '' fill fault forkfault pool free
	elif [[ $command == status ]]; then
		:
	elif [[ $command == mount ]]; then
		_hugefill_names "$text" '' -d
	elif [[ $command == umount ]]; then
		_hugefill_lines "$text" _hugefill_mounted
		compopt -o filenames 2>/dev/null
	else
		_hugefill_spec "$text" "$command"
	fi

	# Only what stands after the last break is replaced.
	broken=${text%"${text##*["$COMP_WORDBREAKS"]}"}
	[[ -z $broken ]] || COMPREPLY=("${COMPREPLY[@]#"$broken"}")
}

complete -F _hugefill hugefill
