# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads what strace -f -o wrote of a run, and prints "CALL N WHY" for every occurrence that is to fail.
# N counts as strace's when= does: per thread or process, from its start.
#
# The program begins with the first system file that is opened: what the dynamic loader did before is
# skipped. Of each call that follows the first, middle and last occurrence are taken, the first that is
# the program's own (its libraries look at the system before main), and all from the first change to
# the machine on. Workers count by themselves, each from 1, and the main thread meets the same numbers:
# only those that it does not reach in the loader are of use. With after=CALL only what the main thread
# does after that call is printed.

function take(name, number, why) {
	if (number && !((name, number) in taken)) {
		taken[name, number] = 1
		print name, number, why
	}
}

function take_worker(name, number) {
	if (loader[name] < number)
		take(name, number, "worker")
}

$2 !~ /^[a-z0-9_]+\(/ { next }

{
	name = $2
	sub(/\(.*/, "", name)
	if (main == "")
		main = $1
	number = ++count[$1, name]
}

$1 != main {
	if (number > most[name])
		most[name] = number
	next
}

!begun && !/"\/?(proc|sys)\// {
	loader[name]++
	next
}

# A close that is made to fail does not close, as it would in any kernel; where the file's mount goes
# next, that matters.
/ fcntl\([0-9]+, F_SETLEASE, F_WRLCK\) += 0/ {
	fd = $2
	gsub(/[^0-9]/, "", fd)
	leased[fd] = 1
}

name == "close" {
	fd = $2
	gsub(/[^0-9]/, "", fd)
	if (fd in leased) {
		delete leased[fd]
		next
	}
}

{
	begun = 1
	calls[++ncalls] = name
	numbers[ncalls] = number
	if (/openat\(AT_FDCWD, "\/", /)
		own = ncalls
	if (!changed && (/O_WRONLY/ || name ~ /^(mkdir|mount|ftruncate|unlinkat|fallocate|umount2)$/))
		changed = ncalls
	if (after != "" && name == after)
		undo = ncalls
}

END {
	if (after != "") {
		for (i = undo + 1; undo && i <= ncalls; i++)
			take(calls[i], numbers[i], "undo")
		exit !undo
	}
	for (i = 1; i <= ncalls; i++) {
		name = calls[i]
		if (own && i > own && !(name in first_own))
			first_own[name] = i
		seen[name, ++times[name]] = i
	}
	for (name in times) {
		take(name, numbers[seen[name, 1]], "first")
		take(name, numbers[first_own[name]], "own")
		take(name, numbers[seen[name, int((times[name] + 1) / 2)]], "middle")
		take(name, numbers[seen[name, times[name]]], "last")
	}
	for (i = changed; changed && i <= ncalls; i++)
		take(calls[i], numbers[i], "change")
	for (name in most) {
		take_worker(name, 1)
		take_worker(name, int((most[name] + 1) / 2))
		take_worker(name, most[name])
	}
}
