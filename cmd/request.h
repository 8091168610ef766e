/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request - what is asked of alloc and of check: the options of a request and its specs. */
#ifndef HF_CMD_REQUEST_H
#define HF_CMD_REQUEST_H

#include "cmd.h"

struct request_opts {
	const struct hf_common *common;
	const char *size, *file, *page_size, *nodes, *from, *headroom, *mode, *owner;
	size_t nspecs;
	char **specs;      /* borrowed from argv */
	size_t first_from; /* index of the first spec that --from brought */
	struct hf_request request;
};

/* Also takes the SPECs, if its parent leaves ARGP_KEY_ARGS to it. Its input is a struct request_opts,
 * which request_init made. */
extern const struct argp request_argp;
void request_init(struct request_opts *opts, const struct hf_common *common);

/* Whether there is any spec. */
bool request_is_given(const struct request_opts *opts);

/* Everything that can be wrong with the request, before anything is touched: completes opts->request
 * but for the places; page_size is for bare names. */
int request_read(struct request_opts *opts, const struct hf_machine *machine, struct hf_spec_list *specs,
		 uint64_t *page_size, struct hf_err *err) _must_check;

/* The options that a later call with the same specs needs, each with a blank before it, quoted as
 * systemd's ExecStart= wants them: alloc's, or with for_free what free knows of them. malloc'd. NULL: no
 * memory. */
char *request_repeat(const struct request_opts *opts, bool for_free) _must_check;

#endif
