# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reads what strace -f -o wrote of a run, and prints "CALL N WHO" for every occurrence that is to fail.
# N counts as strace's when= does: per thread, from its start.
#
# The program begins with the first system file that is opened: what the dynamic loader did before is
# skipped. Of each call that follows the first, middle and last occurrence are taken, the first that is
# the program's own (its libraries look at the system before main), and all from the first change to
# the machine on. Workers count by themselves, each from 1: only numbers that the main thread reaches
# after the loader are of use. With after=CALL only what the main thread does after that call is printed.

function take(name, number, who) {
	if (number && !((name, number) in taken)) {
		taken[name, number] = 1
		print name, number, who
	}
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
	if (number in worker)
		;
	workers[name] = 1
	next
}

!begun && !/"\/?(proc|sys)\// {
	loader[name]++
	next
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
	if (after != "" && !undo)
		exit 1
	for (i = 1; i <= ncalls; i++) {
		name = calls[i]
		if (undo) {
			if (i > undo)
				take(name, numbers[i], "undo")
			continue
		}
		if (!(name in first))
			first[name] = i
		if (own && i > own && !(name in own_first))
			own_first[name] = i
		last[name] = i
		seen[name, ++times[name]] = i
	}
	for (name in first) {
		take(name, numbers[first[name]], "first")
		take(name, numbers[own_first[name]], "own")
		take(name, numbers[seen[name, int((times[name] + 1) / 2)]], "middle")
		take(name, numbers[last[name]], "last")
	}
	for (i = changed; !undo && changed && i <= ncalls; i++)
		take(calls[i], numbers[i], "change")
	for (name in workers) {
		if (undo)
			continue
		if (loader[name] < 1)
			take(name, 1, "worker")
		if (loader[name] < int((most[name] + 1) / 2))
			take(name, int((most[name] + 1) / 2), "worker")
		if (loader[name] < most[name])
			take(name, most[name], "worker")
	}
}
