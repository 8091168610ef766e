/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doc.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#define KEY_TEXT 128
#define REAL_TEXT 64

struct hf_doc {
	struct json_object *root;
	int failed;
};

struct hf_doc *hf_doc_new(void)
{
	struct hf_doc *doc = calloc(1, sizeof(*doc));

	if (!doc)
		return NULL;
	doc->root = json_object_new_object();
	if (!doc->root) {
		free(doc);
		return NULL;
	}
	return doc;
}

void hf_doc_free(struct hf_doc *doc)
{
	if (!doc)
		return;
	json_object_put(doc->root);
	free(doc);
}

static void fail(struct hf_doc *doc, int error)
{
	if (!doc->failed)
		doc->failed = error;
}

/* json-c's null is NULL: what must not be null is passed through here. */
static struct json_object *made(struct hf_doc *doc, struct json_object *value)
{
	if (!value)
		fail(doc, -ENOMEM);
	return value;
}

/* Takes value over; false where that failed and value is gone. */
static bool add(struct hf_doc *doc, struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) == 0)
		return true;
	json_object_put(value);
	fail(doc, -ENOMEM);
	return false;
}

/* The object under key, made where there is none; NULL where something else has that key. */
static struct json_object *child(struct hf_doc *doc, struct json_object *object, const char *key)
{
	struct json_object *value;

	if (json_object_object_get_ex(object, key, &value)) {
		if (json_object_is_type(value, json_type_object))
			return value;
		fail(doc, -EINVAL);
		return NULL;
	}
	value = made(doc, json_object_new_object());
	return value && add(doc, object, key, value) ? value : NULL;
}

/* Takes value over. */
static void set(struct hf_doc *doc, const char *key, struct json_object *value)
{
	struct json_object *object = doc->root;
	char part[KEY_TEXT];
	const char *dot;

	while (object && (dot = strchr(key, '.'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(dot - key), key);
		object = child(doc, object, part);
		key = dot + 1;
	}
	if (object)
		add(doc, object, key, value);
	else
		json_object_put(value);
}

/* Length of the UTF-8 sequence at s, or 0 where there is no valid one. */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 0x6 ? 2 : s[0] >> 4 == 0xe ? 3 : s[0] >> 3 == 0x1e ? 4 : 0;
	uint32_t code = n > 1 ? s[0] & (0x7fU >> n) : s[0];

	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 0x2)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (n && (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return n;
}

static struct json_object *text_value(struct hf_doc *doc, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	_cleanup_free_ char *valid = NULL;
	size_t at = 0;

	if (!text)
		return NULL;
	valid = reallocarray(NULL, strlen(text) + 1, 3);
	if (!valid)
		return made(doc, NULL);
	while (*s) {
		size_t n = utf8_length(s);

		memcpy(valid + at, n ? (const char *)s : "\xef\xbf\xbd", n ? n : 3);
		at += n ? n : 3;
		s += n ? n : 1;
	}
	return made(doc, json_object_new_string_len(valid, (int)at));
}

/* Six decimals without trailing zeros; where those lose a small value six digits, and for one too large
 * to have decimals all of its digits. */
static struct json_object *real_value(struct hf_doc *doc, double value)
{
	double size = fabs(value);
	char text[REAL_TEXT];
	size_t len;

	if (!isfinite(value))
		return NULL;
	if (size != 0 && (size < 1e-3 || size >= 1e15)) {
		snprintf(text, sizeof(text), size < 1 ? "%.6g" : "%.17g", value);
	} else {
		len = (size_t)snprintf(text, sizeof(text), "%.6f", size == 0 ? 0 : value);
		while (text[len - 1] == '0')
			len--;
		len -= text[len - 1] == '.';
		text[len] = '\0';
	}
	return made(doc, json_object_new_double_s(value, text));
}

static struct json_object *cell_value(struct hf_doc *doc, const struct hf_cell *cell, enum hf_type type)
{
	if (!cell->set)
		return NULL;
	switch (type) {
	case HF_TEXT:
		return text_value(doc, cell->text);
	case HF_COUNT:
	case HF_BYTES:
	case HF_GIB:
		return made(doc, json_object_new_uint64(cell->u64));
	case HF_RATE:
		return real_value(doc, round(cell->real));
	case HF_SECONDS:
	case HF_FINE:
	case HF_REAL:
		return real_value(doc, cell->real);
	case HF_BOOL:
		return made(doc, json_object_new_boolean(cell->boolean));
	}
	return NULL;
}

void hf_doc_text(struct hf_doc *doc, const char *key, const char *value)
{
	set(doc, key, text_value(doc, value));
}

void hf_doc_u64(struct hf_doc *doc, const char *key, uint64_t value)
{
	set(doc, key, made(doc, json_object_new_uint64(value)));
}

void hf_doc_real(struct hf_doc *doc, const char *key, double value)
{
	set(doc, key, real_value(doc, value));
}

void hf_doc_bool(struct hf_doc *doc, const char *key, bool value)
{
	set(doc, key, made(doc, json_object_new_boolean(value)));
}

static struct json_object *row_value(struct hf_doc *doc, const struct hf_table *table, size_t row,
				     const size_t *which, size_t count)
{
	struct json_object *object = made(doc, json_object_new_object());
	char key[KEY_TEXT];
	size_t ncolumns;
	const struct hf_column *columns = hf_table_columns(table, &ncolumns);

	for (size_t i = 0; object && i < count; i++)
		add(doc, object, hf_table_key(&columns[which[i]], key, sizeof(key)),
		    cell_value(doc, hf_table_cell(table, row, which[i]), columns[which[i]].type));
	return object;
}

void hf_doc_table(struct hf_doc *doc, const struct hf_table *table, const struct hf_format *format)
{
	struct json_object *array = made(doc, json_object_new_array());
	_cleanup_free_ size_t *which = NULL;
	size_t ncolumns, count;

	hf_table_columns(table, &ncolumns);
	which = calloc(ncolumns + 1, sizeof(*which));
	if (hf_table_failed(table) || !which)
		fail(doc, which ? hf_table_failed(table) : -ENOMEM);
	count = which ? hf_table_selection(table, format, which) : 0;
	for (size_t row = 0; array && which && row < hf_table_rows(table); row++) {
		struct json_object *object = row_value(doc, table, row, which, count);

		if (object && json_object_array_add(array, object) != 0) {
			json_object_put(object);
			fail(doc, -ENOMEM);
		}
	}
	set(doc, hf_table_name(table), array);
}

/*
 * JSON allows DEL and the C1 control characters (UTF-8 c2 80 to c2 9f) as they are, but a terminal
 * obeys them. They can only be within strings, where an escape means the same.
 */
static void write_escaped(const char *text, size_t len, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == 0x7f)
			fputs("\\u007f", out);
		else if (s[i] == 0xc2 && i + 1 < len && s[i + 1] < 0xa0)
			fprintf(out, "\\u00%02x", s[++i]);
		else
			putc(s[i], out);
	}
	putc('\n', out);
}

int hf_doc_print(struct hf_doc *doc, FILE *out, struct hf_err *err)
{
	const int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text;
	size_t len;

	if (doc->failed == -EINVAL)
		return hf_err_set(err, EINVAL, "JSON", "internal error: a value does not fit its key");
	/* json-c leaves out what it found no memory for, and says so only by malloc's errno. */
	errno = 0;
	text = doc->failed ? NULL : json_object_to_json_string_length(doc->root, flags, &len);
	if (!text || errno == ENOMEM)
		return hf_err_nomem(err);
	write_escaped(text, len, out);
	return 0;
}

#define READ_MOST (64ULL << 20) /* bytes of a document that is read */

static int read_text(FILE *in, const char *name, char **text, size_t *len, struct hf_err *err)
{
	size_t room = 0;

	for (;;) {
		if (*len == room) {
			char *more = realloc(*text, room = room ? room * 2 : 65536);

			if (!more)
				return hf_err_nomem(err);
			*text = more;
		}
		*len += fread(*text + *len, 1, room - *len, in);
		if (*len > READ_MOST)
			return hf_err_set(err, EFBIG, name, "is too long for a result of hugefill");
		if (ferror(in))
			return hf_err_sys(err, errno, name, "cannot read it");
		if (feof(in))
			return 0;
	}
}

int hf_doc_read(FILE *in, const char *name, struct hf_doc **doc, struct hf_err *err)
{
	struct json_tokener *tokener = json_tokener_new();
	_cleanup_free_ char *text = NULL;
	enum json_tokener_error error;
	size_t len = 0;
	int r = tokener ? read_text(in, name, &text, &len, err) : hf_err_nomem(err);

	*doc = r == 0 ? calloc(1, sizeof(**doc)) : NULL;
	if (r == 0 && !*doc)
		r = hf_err_nomem(err);
	if (r == 0) {
		(*doc)->root = json_tokener_parse_ex(tokener, text, (int)len);
		error = json_tokener_get_error(tokener);
		if (error != json_tokener_success || !json_object_is_type((*doc)->root, json_type_object))
			r = hf_err_set(err, EINVAL, name, "is no JSON document: %s",
				       error == json_tokener_success    ? "not an object"
				       : error == json_tokener_continue ? "it ends too early"
									: json_tokener_error_desc(error));
	}
	if (tokener)
		json_tokener_free(tokener);
	if (r < 0) {
		hf_doc_free(*doc);
		*doc = NULL;
	}
	return r;
}

/* The value under a key with dots, or of a row of an array; NULL: none. */
static struct json_object *find(const struct hf_doc *doc, const char *table, size_t row, const char *key)
{
	struct json_object *value = doc->root;
	char part[KEY_TEXT];
	const char *dot;

	if (table && (!json_object_object_get_ex(value, table, &value) ||
		      !json_object_is_type(value, json_type_array) || row >= json_object_array_length(value)))
		return NULL;
	if (table)
		value = json_object_array_get_idx(value, row);
	while ((dot = strchr(key, '.'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(dot - key), key);
		if (!json_object_is_type(value, json_type_object) ||
		    !json_object_object_get_ex(value, part, &value))
			return NULL;
		key = dot + 1;
	}
	if (!json_object_is_type(value, json_type_object) || !json_object_object_get_ex(value, key, &value))
		return NULL;
	return value;
}

size_t hf_doc_rows(const struct hf_doc *doc, const char *table)
{
	struct json_object *value;

	if (!json_object_object_get_ex(doc->root, table, &value) ||
	    !json_object_is_type(value, json_type_array))
		return 0;
	return json_object_array_length(value);
}

const char *hf_doc_get_text(const struct hf_doc *doc, const char *table, size_t row, const char *key)
{
	struct json_object *value = find(doc, table, row, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

double hf_doc_get_real(const struct hf_doc *doc, const char *table, size_t row, const char *key)
{
	struct json_object *value = find(doc, table, row, key);

	if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
		return NAN;
	return json_object_get_double(value);
}

const char *hf_doc_version(void)
{
	return json_c_version();
}
