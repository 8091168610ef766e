/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

int hf_cmd_free(int argc, char **argv, struct hf_common *common)
{
	(void)argc;
	(void)argv;
	(void)common;
	return HF_EXIT_USAGE;
}
