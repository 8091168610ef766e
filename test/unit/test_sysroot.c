/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "tree.h"

static void test_open(void)
{
	struct hf_sysroot root, zeroed = { 0 };
	struct hf_err err = { 0 };
	char *path;

	ok(hf_sysroot_open(&root, NULL, &err) == 0, "the running machine opens");
	ok(root.live, "and is live");
	path = hf_sysroot_path(&root, "sys/%s", "x");
	is_text(path, "/sys/x", "its paths begin with /");
	free(path);
	hf_sysroot_close(&root);
	hf_sysroot_close(&root);

	ok(hf_sysroot_open(&root, FIXTURES "one-node//", &err) == 0, "a tree opens");
	ok(!root.live, "and is not live");
	path = hf_sysroot_path(&root, "proc/meminfo");
	is_text(path, FIXTURES "one-node/proc/meminfo", "its paths begin with its name, without slashes");
	free(path);
	hf_sysroot_close(&root);

	ok(hf_sysroot_open(&root, FIXTURES "absent", &err) == -ENOENT, "no such tree");
	is_text(err.object, FIXTURES "absent", "is named");
	hf_sysroot_close(&root);
	ok(hf_sysroot_open(&root, FIXTURES "README.md", &err) == -ENOTDIR, "a file is no tree");
	hf_sysroot_close(&root);

	hf_sysroot_close(&zeroed);
	ok(fcntl(0, F_GETFD) >= 0, "closing a zeroed struct does not close descriptor 0");
}

static void test_read(void)
{
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	char buf[8];
	size_t len = 0;

	tree_open(&root, tree_new());
	tree_put("seven", "1234567");
	tree_put("eight", "12345678");
	tree_put("empty", "");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), &len, &err, "%s", "seven") == 0, "what fits is read");
	is_text(buf, "1234567", "whole");
	is_u64(len, 7, "with its length");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "eight") == -EFBIG, "one byte more is EFBIG");
	has_text(err.object, "/eight", "and named");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), &len, &err, "empty") == 0 && len == 0 && !*buf,
	   "empty is fine");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), &len, &err, "absent") == -ENOENT, "absent is ENOENT");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), &len, NULL, "absent") == -ENOENT, "also without an err");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), &len, &err, ".") == -EISDIR, "a folder is EISDIR");
	ok(hf_sysroot_exists(&root, "%s", "empty") && !hf_sysroot_exists(&root, "absent"), "exists");
	hf_sysroot_close(&root);
}

static void test_read_u64(void)
{
	static const struct {
		const char *text;
		size_t len;
		int rc;
		uint64_t value;
	} t[] = {
		{ "0\n", 2, 0, 0 },
		{ "42", 2, 0, 42 },
		{ "007\n", 4, 0, 7 },
		{ "18446744073709551615\n", 21, 0, UINT64_MAX },
		{ "18446744073709551616\n", 21, -EBADMSG, 0 },
		{ "99999999999999999999999\n", 24, -EBADMSG, 0 },
		{ "", 0, -EBADMSG, 0 },
		{ "\n", 1, -EBADMSG, 0 },
		{ "4\n\n", 3, -EBADMSG, 0 },
		{ " 4\n", 3, -EBADMSG, 0 },
		{ "-4\n", 3, -EBADMSG, 0 },
		{ "+4\n", 3, -EBADMSG, 0 },
		{ "0x4\n", 4, -EBADMSG, 0 },
		{ "4 \n", 3, -EBADMSG, 0 },
		{ "4\0", 2, -EBADMSG, 0 },
		{ "4\0\n", 3, -EBADMSG, 0 },
		{ "max\n", 4, -EBADMSG, 0 },
	};
	char zeros[101];
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	uint64_t value;

	tree_open(&root, tree_new());
	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		char shown[64];

		value = 0;
		tree_put_bytes("n", t[i].text, t[i].len);
		ok(hf_sysroot_read_u64(&root, &value, &err, "n") == t[i].rc &&
			   (t[i].rc || value == t[i].value),
		   "a number: \"%s\" (%zu bytes)", hf_err_escape(t[i].text, shown, sizeof(shown)), t[i].len);
	}
	has_text(err.what, "\"max\"", "the message says what was there");
	ok(err.silent_errno && strstr(err.object, "/n"), "and where");
	memset(zeros, '0', 100);
	zeros[100] = '\0';
	tree_put("n", zeros);
	ok(hf_sysroot_read_u64(&root, &value, &err, "n") == -EBADMSG, "too long is no number");
	tree_put("n", "\033[2J\n");
	ok(hf_sysroot_read_u64(&root, &value, &err, "n") == -EBADMSG && !strchr(err.what, '\033'),
	   "control bytes do not get into the message");
	hf_sysroot_close(&root);
}

/* Captured trees refuse every way of writing. */
static void test_refusal(void)
{
	static const int flags[] = { O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT };
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	char buf[16];

	tree_open(&root, tree_new());
	tree_put("n", "1024\n");
	ok(hf_sysroot_write_u64(&root, 8, &err, "n") == -EROFS, "write_u64 is refused");
	has_text(err.what, "captured tree", "and says why");
	ok(hf_sysroot_write(&root, "8", &err, "n") == -EROFS, "write is refused");
	ok(hf_sysroot_write(&root, "8", NULL, "n") == -EROFS, "also without an err");
	for (size_t i = 0; i < HF_LENGTH(flags); i++)
		ok(hf_sysroot_fd(&root, flags[i], &err, "n") == -EROFS, "open flags %#x are refused",
		   flags[i]);
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "n") == 0 && strcmp(buf, "1024\n") == 0,
	   "the file is as it was");
	hf_sysroot_close(&root);
}

/* The write path itself, on a plain file: a root that claims to be live. */
static void test_write(void)
{
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	struct stat st;
	char buf[16];
	int fd;

	tree_open(&root, tree_new());
	root.live = true;
	tree_put("n", "1024\n");
	ok(hf_sysroot_write_u64(&root, 8, &err, "n") == 0, "a number is written");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "n") == 0 && strcmp(buf, "8") == 0,
	   "over a longer one, which is gone");
	ok(hf_sysroot_write(&root, "1", &err, "absent") == -ENOENT, "a write makes no file");
	fd = hf_sysroot_fd(&root, O_RDWR | O_CREAT | O_EXCL, &err, "lock");
	ok(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600, "O_CREAT makes it 0600");
	ok(fcntl(fd, F_GETFD) == FD_CLOEXEC, "close on exec");
	close(fd);
	if (access("/dev/full", W_OK) == 0 && symlink("/dev/full", tree_path("full")) == 0)
		ok(hf_sysroot_write(&root, "1", &err, "full") == -ENOSPC && err.errnum == ENOSPC,
		   "a failed write is seen");
	hf_sysroot_close(&root);
}

/* A tree comes from elsewhere: links must not lead out of it, FIFOs must not block. */
static void test_hostile(void)
{
	char outside[PATH_MAX], longer[PATH_MAX + 10], buf[64];
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	int fd;

	tree_new();
	tree_put("secret", "outside");
	tree_put("tree/secret", "inside");
	snprintf(outside, sizeof(outside), "%s/secret", tree_dir);
	if (symlink(outside, tree_path("tree/absolute")) < 0 ||
	    symlink("../secret", tree_path("tree/up")) < 0 || symlink("/secret", tree_path("tree/own")) < 0 ||
	    mkfifo(tree_path("tree/fifo"), 0600) < 0)
		abort();
	snprintf(outside, sizeof(outside), "%s/tree", tree_dir);
	tree_open(&root, outside);
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "absolute") == -ENOENT,
	   "an absolute link stays inside");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "up") == 0 && strcmp(buf, "inside") == 0,
	   "so does one that goes up");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "own") == 0 && strcmp(buf, "inside") == 0,
	   "/ is the tree");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "../secret") == 0 &&
		   strcmp(buf, "inside") == 0,
	   ".. of the tree is the tree");
	ok(!hf_sysroot_exists(&root, "absolute"), "exists follows the same rule");
	ok(hf_sysroot_read(&root, buf, sizeof(buf), NULL, &err, "fifo") == 0, "a FIFO does not block");
	for (size_t i = 0; i < sizeof(longer); i++)
		longer[i] = i % 2 ? '/' : '.';
	longer[sizeof(longer) - 1] = '\0';
	fd = hf_sysroot_fd(&root, O_RDONLY, &err, "%s", longer);
	ok(fd == -ENAMETOOLONG, "a path that is too long is an error, not cut");
	hf_sysroot_close(&root);
}

static int count_names(const char *name, void *arg)
{
	unsigned *count = arg;

	++*count;
	return strcmp(name, "stop") == 0 ? 77 : 0;
}

static void test_list(void)
{
	struct hf_sysroot root;
	struct hf_err err = { 0 };
	unsigned count = 0;

	tree_open(&root, tree_new());
	tree_put("d/one", "");
	tree_put("d/.two", "");
	tree_put("d/three/four", "");
	tree_put("s/stop", "");
	ok(hf_sysroot_list(&root, count_names, &count, &err, "%s", "d") == 0, "a folder is listed");
	is_u64(count, 3, "every entry but . and ..");
	ok(hf_sysroot_list(&root, count_names, &count, &err, "s") == 77, "the callback's result stops it");
	ok(hf_sysroot_list(&root, count_names, &count, &err, "absent") == -ENOENT, "no such folder");
	ok(hf_sysroot_list(&root, count_names, &count, &err, "d/one") == -ENOTDIR, "a file is no folder");
	hf_sysroot_close(&root);
}

static void test_kib(void)
{
	static const struct {
		const char *text, *key;
		int rc;
		uint64_t bytes;
	} t[] = {
		{ "MemTotal:       16 kB\n", "MemTotal", 0, 16384 },
		{ "MemTotal:16 kB", "MemTotal", 0, 16384 },
		{ "A: 1 kB\nB: 2 kB\n", "B", 0, 2048 },
		{ "Node 0 MemFree:   3 kB\n", "Node 0 MemFree", 0, 3072 },
		{ "AB: 1 kB\nB: 2 kB\n", "B", 0, 2048 },
		{ "BB: 1 kB\n", "B", -ENOENT, 0 },
		{ "", "B", -ENOENT, 0 },
		{ "B: 2", "B", -EBADMSG, 0 },
		{ "B: 2 MB\n", "B", -EBADMSG, 0 },
		{ "B: 2 kBx\n", "B", -EBADMSG, 0 },
		{ "B: kB\n", "B", -EBADMSG, 0 },
		{ "B: -2 kB\n", "B", -EBADMSG, 0 },
		{ "B: 18014398509481983 kB\n", "B", 0, UINT64_MAX - 1023 },
		{ "B: 18014398509481984 kB\n", "B", -EBADMSG, 0 },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		uint64_t bytes = 0;

		ok(hf_sysroot_parse_kib(t[i].text, t[i].key, &bytes) == t[i].rc && bytes == t[i].bytes,
		   "kib: %s in \"%s\"", t[i].key, t[i].text);
	}
}

int main(void)
{
	test_open();
	test_read();
	test_read_u64();
	test_refusal();
	test_write();
	test_hostile();
	test_list();
	test_kib();
	return tap_done();
}
