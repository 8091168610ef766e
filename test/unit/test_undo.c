/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../../lib/undo.h"
#include "tap.h"

/* What was called, as letters: a step's name, in lower case when it is dropped. */
static char trace[512];

struct step {
	char name;
	int fails; /* errno, or 0 */
};

static void note(char c)
{
	size_t len = strlen(trace);

	if (len + 1 < sizeof(trace)) {
		trace[len] = c;
		trace[len + 1] = '\0';
	}
}

static int back(void *arg, struct hf_err *err)
{
	const struct step *step = arg;
	const char object[] = { step->name, '\0' };

	note(step->name);
	if (!step->fails)
		return 0;
	hf_err_sys(err, step->fails, object, "is left");
	hf_err_hint(err, "mend %s", object);
	return -step->fails;
}

static void drop(void *arg)
{
	struct step *step = arg;

	note((char)(step->name - 'A' + 'a'));
	free(step);
}

/* tell's arg: what was said. */
static void tell(const struct hf_err *err, void *arg)
{
	char *text = arg;
	size_t used = strlen(text);

	snprintf(text + used, 256 - used, "%s %d %s;", err->object, err->errnum, err->hint);
}

static void push(struct hf_undo *undo, char name, int fails)
{
	struct hf_err err = { 0 };
	struct step *step = malloc(sizeof(*step));

	if (!step || hf_undo_reserve(undo, &err) < 0)
		abort();
	*step = (struct step){ name, fails };
	hf_undo_push(undo, back, drop, step);
}

static void test_order(void)
{
	struct hf_undo undo = { 0 };
	char told[256] = "";

	trace[0] = '\0';
	push(&undo, 'A', 0);
	push(&undo, 'B', 0);
	push(&undo, 'C', 0);
	is_u64(hf_undo_run(&undo, tell, told), 0, "none failed");
	is_text(trace, "CcBbAa", "the last step first, each freed after it ran");
	is_text(told, "", "nothing is told");
	ok(undo.count == 0, "the log is empty");

	trace[0] = '\0';
	is_u64(hf_undo_run(&undo, tell, told), 0, "running it again");
	is_text(trace, "", "does nothing");
}

static void test_failures(void)
{
	struct hf_undo undo = { 0 };
	char told[256] = "";

	trace[0] = '\0';
	push(&undo, 'A', EBUSY);
	push(&undo, 'B', 0);
	push(&undo, 'C', EIO);
	push(&undo, 'D', 0);
	is_u64(hf_undo_run(&undo, tell, told), 2, "two failed");
	is_text(trace, "DdCcBbAa", "the others ran nevertheless");
	is_text(told, "C 5 mend C;A 16 mend A;", "each failure is told, each with its own error");

	push(&undo, 'E', EIO);
	is_u64(hf_undo_run(&undo, NULL, NULL), 1, "nobody needs to listen");
}

static void test_forget(void)
{
	struct hf_undo undo = { 0 };

	trace[0] = '\0';
	push(&undo, 'A', 0);
	push(&undo, 'B', EIO);
	hf_undo_forget(&undo);
	ok(strchr(trace, 'a') && strchr(trace, 'b'), "forget frees what the steps hold");
	ok(!strchr(trace, 'A') && !strchr(trace, 'B'), "and runs none");
	is_u64(undo.count, 0, "the log is empty");
	hf_undo_forget(&undo);
	ok(true, "forgetting nothing");
}

/* The log grows as it must; drop may be missing. */
static void test_many(void)
{
	struct step steps[100];
	struct hf_undo undo = { 0 };
	bool reversed = true;

	trace[0] = '\0';
	for (int i = 0; i < 100; i++) {
		struct hf_err err = { 0 };

		steps[i] = (struct step){ (char)('A' + i % 26), 0 };
		if (hf_undo_reserve(&undo, &err) < 0)
			abort();
		ok(undo.room > undo.count, "room for step %d", i);
		hf_undo_push(&undo, back, NULL, &steps[i]);
	}
	is_u64(hf_undo_run(&undo, NULL, NULL), 0, "a hundred steps");
	is_u64(strlen(trace), 100, "all ran");
	for (size_t i = 0; i < 100; i++)
		reversed = reversed && trace[i] == steps[99 - i].name;
	ok(reversed, "in reverse order");
}

int main(void)
{
	test_order();
	test_failures();
	test_forget();
	test_many();
	return tap_done();
}
