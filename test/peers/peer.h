/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer - a program that uses huge pages as it is told, one step a line: what the peers tests look at
 * the counters between. Standard input has commands, standard output one line for each: "ok", a value,
 * the name of an errno, or "SIGBUS at PAGE".
 *
 * Offsets and lengths are pages of 2 MiB; 5b is bytes, 4G is GiB. FILE and MAP are names that a
 * command gave; - for FILE is no file.
 */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define PAGE (2UL << 20)
#define WORDS 8
#define REPLY 256

/* What a command gets: its words after the command's own, "" where there are fewer. */
struct call {
	const char *word[WORDS];
	char *reply; /* [REPLY], "ok" unless the command writes something else */
};

struct thing {
	char name[16]; /* "": a free place */
	int fd;
	char *at; /* mappings */
	size_t length;
};

/* A thing of this name, or NULL with the reply set. */
struct thing *find(struct call *call, const char *name);
/* A new one, or a NULL with the reply set. */
struct thing *add(struct call *call, const char *name);
void drop(struct thing *thing);

/* 0: there is none. */
pid_t child_of(void);
/* Bytes. */
uint64_t size_of(const char *word);
/* The errno as the reply. */
void failed(struct call *call);
/* Runs visit on a range of a mapping; a SIGBUS or SIGSEGV becomes the reply. */
void guarded(struct call *call, void (*visit)(struct call *call, struct thing *map, size_t from, size_t to));

void peer_open(struct call *call);
void peer_memfd(struct call *call);
void peer_close(struct call *call);
void peer_truncate(struct call *call);
void peer_allocate(struct call *call);
void peer_punch(struct call *call);
void peer_pages(struct call *call);
void peer_size(struct call *call);
void peer_pread(struct call *call);
void peer_pwrite(struct call *call);
void peer_ahead(struct call *call);

void peer_map(struct call *call);
void peer_unmap(struct call *call);
void peer_write(struct call *call);
void peer_check(struct call *call);
void peer_zero(struct call *call);
void peer_protect(struct call *call);
void peer_advise(struct call *call);
void peer_remap(struct call *call);
void peer_lock(struct call *call);
void peer_shm(struct call *call);
void peer_send(struct call *call);
void peer_poke(struct call *call);
void peer_userfault(struct call *call);

#endif
