# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the measuring scripts share: the pool taken and given back, timing, medians, tables.
# shellcheck disable=SC2004,SC2034,SC2154 # the scripts declare, set and use: pool, tmp, saved, samples, ...

die() {
	echo "test/perf/${0##*/}: $*" >&2
	exit 1
}

note() {
	echo "note: $*"
}

# size MIB: as people write it
size() {
	if (($1 % 1024)); then echo "$1M"; else echo "$(($1 / 1024))G"; fi
}

# --- the machine ---

save_pool() {
	local file

	for file in nr free resv surplus; do
		saved[$file]=$(<"$pool/${file}_hugepages")
	done
	[ "${saved[free]} ${saved[resv]} ${saved[surplus]}" = "${saved[nr]} 0 0" ] ||
		die "2 MiB pages are in use: the figures need the pool for themselves"
	for file in /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages \
		"$pool/nr_overcommit_hugepages"; do
		[ ! -e "$file" ] || saved[$file]=$(<"$file")
	done
}

# set_pool PAGES: the kernel may give fewer, and calls that success
set_pool() {
	echo "$1" >"$pool/nr_hugepages"
	[ "$(<"$pool/nr_hugepages")" = "$1" ] ||
		die "the pool has $(<"$pool/nr_hugepages") pages instead of $1"
}

restore_pool() {
	local file status=0

	# Without NUMA there are no nodes' files, so the whole goes first.
	echo "${saved[nr]}" >"$pool/nr_hugepages"
	for file in "${!saved[@]}"; do
		[[ $file = /* ]] || continue
		echo "${saved[$file]}" >"$file"
		[ "$(<"$file")" = "${saved[$file]}" ] || {
			echo "test/perf/${0##*/}: $file was ${saved[$file]}, is $(<"$file")" >&2
			status=1
		}
	done
	return $status
}

busy_ticks() {
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9 }' /proc/stat
}

# What others use of the CPUs, while nothing is measured.
look_around() {
	local before used

	before=$(busy_ticks)
	sleep 1
	used=$((($(busy_ticks) - before) * 100 / $(getconf CLK_TCK)))
	echo "others     use $used % of a CPU $1"
	((used <= 5)) || note "this machine is not idle: the figures are worth little"
}

# --- measuring ---

# timed COMMAND...: sets us
timed() {
	local start=${EPOCHREALTIME/./} status=0

	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	us=$((${EPOCHREALTIME/./} - start))
	[ $status = 0 ] || {
		cat "$tmp/out" "$tmp/err" >&2
		die "exit status $status: $*"
	}
}

# interleave RUNS "CONTESTANT ARGUMENT..."...
interleave() {
	local count=$1 i words

	shift
	for ((round = 0; round <= count; round++)); do
		for ((i = 0; i < $#; i++)); do
			read -ra words <<<"${@:(i + round) % $# + 1:1}"
			"${words[@]}"
		done
	done
}

# stats KEY: sets median, min, max
stats() {
	[ -n "${samples[$1]:-}" ] || die "nothing was measured of $1"
	read -r median min max < <(printf %s "${samples[$1]}" | sort -g | awk '
		{ v[NR] = $1 }
		END { printf "%.6f %.6f %.6f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }')
}

median() {
	stats "$1"
	echo "$median"
}

# json KEY: its sum in hugefill's answer; nothing else there has the name of a phase
json() {
	awk -v RS='[,{}]' -F '"' -v key="$1" '
		$2 == key { sub(/^[: ]*/, "", $3); sum += $3; seen = 1 }
		END { if (!seen) exit 1; printf "%.9f\n", sum }' "$tmp/out"
}

# json_us KEY: seconds as microseconds
json_us() {
	awk -v s="$(json "$1")" 'BEGIN { printf "%.0f\n", s * 1e6 }'
}

# --- tables ---

heading() {
	printf '\n%-54s %10s %10s %10s %7s %8s\n' "$1" "MEDIAN ms" MIN MAX SPREAD "${2:-}"
}

# timing KEY LABEL [MIB]: a row; a rate where a size is given
timing() {
	stats "$1"
	awk -v label="$2" -v med="$median" -v min="$min" -v max="$max" -v mib="${3:-0}" 'BEGIN {
		printf "%-54s %10.2f %10.2f %10.2f %6.1f%%", label, med / 1e3, min / 1e3, max / 1e3,
			(med ? (max - min) / med * 100 : 0)
		if (mib)
			printf " %8.2f", mib / 1024 / med * 1e6
		print "" }'
}

# figure LABEL VALUE OPERATOR LIMIT UNIT
figure() {
	figures+=("$(awk -v label="$1" -v value="$2" -v op="$3" -v limit="$4" -v unit="$5" 'BEGIN {
		met = op == ">=" ? value >= limit + 0 : op == "<=" ? value <= limit + 0 : value < limit + 0
		printf "%-70s %9.3f %-4s %2s %-5s %s\n", label, value, unit, op, limit, (met ? "yes" : "no") }')")
}

# ratio LABEL KEY KEY OPERATOR LIMIT: of the medians
ratio() {
	figure "$1" "$(awk -v a="$(median "$2")" -v b="$(median "$3")" 'BEGIN { print a / b }')" "$4" "$5" x
}

print_figures() {
	printf '\n%-70s %9s %-4s %-8s %s\n' FIGURE MEASURED "" WANTED MET
	printf '%s\n' "${figures[@]}"
}
