#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hugefill.c -> cmd/ -> lib/, never back; lib neither prints nor exits nor reads its surroundings;
# each library and each path of the system is known to one file.

load house

objects() {
	find "$HF_OBJECTS/lib" -name '*.o' | sort
}

# Without objects there would be nothing to object to.
setup() {
	[ -n "$(objects)" ]
}

@test "every source of lib and cmd has its object" {
	missing_objects() {
		local file

		for file in $(sources lib cmd | grep '\.c$') hugefill.c; do
			[ -e "$HF_OBJECTS/${file%.c}.o" ] || echo "$file: not built"
		done
	}
	none missing_objects
}

@test "lib neither prints, nor exits, nor reads environment or arguments" {
	# fork's child may leave by _exit, and nothing else may.
	local banned='printf|vprintf|puts|putchar|perror|psignal|err|errx|verr|verrx|warn|warnx|vwarn|vwarnx|error'
	banned+='|syslog|vsyslog|dprintf|vdprintf|stdout|stderr|stdin|exit|quick_exit|abort|__assert_fail|system|popen'
	banned+='|getenv|secure_getenv|setenv|unsetenv|putenv|environ|__environ|getopt|getopt_long|argp_.*|program_invocation_.*'

	calls() {
		local object

		for object in $(objects); do
			undefined "$object" | grep -xE "$banned" | sed "s|^|${object##*/}: |"
			undefined "$object" | grep -qxE 'fork|vfork|clone|clone3' ||
				undefined "$object" | grep -xE '_exit|_Exit' | sed "s|^|${object##*/}: |"
		done
	}
	none calls
}

@test "only the modules that tell write to a stream, one that they are given" {
	calls() {
		local object

		for object in $(objects); do
			case ${object##*/} in table.o | doc.o | metrics.o | progress.o | histogram.o) continue ;; esac
			undefined "$object" | grep -xE 'v?fprintf|fputs|fputc|putc|_IO_putc|fwrite|fwrite_unlocked' |
				sed "s|^|${object##*/}: |"
		done
	}
	none calls
}

@test "lib takes nothing from cmd or hugefill.c" {
	back_includes() {
		(cd "$ROOT" && grep -nE '^ *# *include *"([^"]*/)?(cmd/|cmd\.h|hugefill)' lib/*.[ch])
		(cd "$ROOT" && grep -nE '^ *# *include *"([^"]*/)?hugefill\.' cmd/*.[ch])
	}
	back_symbols() {
		comm -12 <(objects | xargs nm -u | awk 'NF == 2 { print $2 }' | sort -u) \
			<(find "$HF_OBJECTS/cmd" "$HF_OBJECTS/hugefill.o" -name '*.o' -exec nm --defined-only {} + |
				awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u)
	}
	none back_includes
	none back_symbols
}

@test "lib has no globals" {
	# What each thread has for itself, and tables that are constant once relocated, are none.
	variables() {
		local object

		for object in $(objects); do
			objdump -t "$object" | grep -vE '\.data\.rel\.ro' | grep -E '\sO (\.data|\.bss|\*COM\*)' |
				grep -vE '__(a|ub|t)san|\*\.L|_\.' | awk -v o="${object##*/}" '{ print o ": " $NF }'
		done
	}
	none variables
}

@test "everything that lib exports is called hf_" {
	# libnuma's weak functions, which would print and exit.
	names() {
		objects | xargs nm --defined-only --extern-only | awk 'NF == 3 { print $3 }' |
			grep -vE '^(hf_|numa_(warn|error)$|__odr_asan)'
	}
	none names
}

@test "each library's header is included by one file" {
	local header

	users() {
		(cd "$ROOT" && grep -lE "^ *# *include *[<\"]([^\">]*/)?$1[\">]" hugefill.c cmd/*.[ch] lib/*.[ch])
	}
	for header in 'numa\.h' 'numaif\.h' 'libmount\.h' 'libsmartcols\.h' 'json(-c/[a-z_]+|_[a-z]+)?(\.h)'; do
		[ "$(users "$header" | wc -l)" -le 1 ] || { echo "$header:"; users "$header"; return 1; }
	done
}

@test "cmd names no place below /sys or /proc" {
	paths() {
		local file

		for file in $(sources cmd) hugefill.c; do
			strings_of "$file" |
				grep -E '/(sys|proc)([/" ]|$)|(^|[^a-z])(sys/(kernel|devices|fs)|proc/(self|sys|[0-9%a-z]))' |
				sed "s|^|$file: |"
		done
	}
	none paths
}

@test "a path of the system is spelt in lib/sysroot.c, a mount's place in lib/place.c" {
	# Further parts of a path may begin with a slash: NODES "/node%u".
	local top='^"/(bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)(/.*)?"$'

	paths() {
		local file

		for file in $(sources cmd lib) hugefill.c; do
			case $file in
			lib/sysroot.c) ;;
			lib/place.[ch]) strings_of "$file" | grep -E "$top" | grep -vE '^"/dev/hugepages' ;;
			*) strings_of "$file" | grep -E "$top" ;;
			esac | sed "s|^|$file: |"
		done
	}
	none paths
}
