/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_value.h"

#include "base/clock.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/parse.h"
#include "config/option_list.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FREQUENCY_MAX_HZ 10000
#define DURATION_MAX_NS (366 * 24 * 3600 * NSEC_PER_SEC)
#define MEMORY_MIN_BYTES (UINT64_C(1) << 20)
#define PID_MAX_LIMIT (1u << 22) /* the kernel's, on 64-bit machines */
#define CPU_MAX (LIST_ITEMS_MAX - 1)
#define COMM_MAX_BYTES 15
#define DNS_NAME_MAX 253
#define CONTAINER_ID_MIN 12
#define CONTAINER_ID_MAX 64
#define URLS_MAX_BYTES 4000

static int parse_frequency(const char *text, void *field)
{
	uint32_t hz;

	int r = parse_u32(text, &hz);
	if (r < 0)
		return r;
	if (hz < 1 || hz > FREQUENCY_MAX_HZ)
		return -ERANGE;
	*(uint32_t *)field = hz;
	return 0;
}

static int parse_duration_or_zero(const char *text, void *field)
{
	uint64_t ns;

	int r = parse_duration_ns(text, &ns);
	if (r < 0)
		return r;
	if (ns > DURATION_MAX_NS)
		return -ERANGE;
	*(uint64_t *)field = ns;
	return 0;
}

static int parse_duration(const char *text, void *field)
{
	uint64_t ns;

	int r = parse_duration_or_zero(text, &ns);
	if (r < 0)
		return r;
	if (ns == 0)
		return -ERANGE;
	*(uint64_t *)field = ns;
	return 0;
}

static int parse_memory(const char *text, void *field)
{
	uint64_t bytes;

	int r = parse_bytes(text, &bytes);
	if (r < 0)
		return r;
	if (bytes < MEMORY_MIN_BYTES || bytes > SIZE_MAX / 2)
		return -ERANGE;
	*(uint64_t *)field = bytes;
	return 0;
}

static int parse_flag(const char *text, void *field)
{
	return parse_bool(text, field);
}

static int parse_log_level(const char *text, void *field)
{
	return log_level_parse(text, field);
}

static int find_word(const char *const *words, size_t nr_words, const char *text)
{
	for (size_t i = 0; i < nr_words; i++) {
		if (strcmp(text, words[i]) == 0)
			return (int)i;
	}
	return -EINVAL;
}

static int parse_verify(const char *text, void *field)
{
	static const char *const words[] = {
		[HTTP_VERIFY_FULL] = "full",
		[HTTP_VERIFY_CA_ONLY] = "ca-only",
		[HTTP_VERIFY_NONE] = "insecure",
	};

	int r = find_word(words, array_len(words), text);
	if (r < 0)
		return r;
	*(enum http_verify *)field = (enum http_verify)r;
	return 0;
}

static int parse_demangle(const char *text, void *field)
{
	static const char *const words[] = {
		[OPTION_DEMANGLE_NONE] = "none",
		[OPTION_DEMANGLE_SHORT] = "short",
		[OPTION_DEMANGLE_FULL] = "full",
	};

	int r = find_word(words, array_len(words), text);
	if (r < 0)
		return r;
	*(enum option_demangle *)field = (enum option_demangle)r;
	return 0;
}

/* Reads "N" or "N-M" at *cursor. */
static int parse_range(const char **cursor, const char *end, uint64_t *ret_first,
		       uint64_t *ret_last)
{
	uint64_t first, last;

	int r = parse_digits(cursor, end, 10, &first);
	if (r < 0)
		return r;
	last = first;
	if (**cursor == '-') {
		(*cursor)++;
		r = parse_digits(cursor, end, 10, &last);
		if (r < 0)
			return r;
	}
	*ret_first = first;
	*ret_last = last;
	return 0;
}

static int add_range(struct number_list *list, uint64_t first, uint64_t last)
{
	for (uint64_t n = first; n <= last; n++) {
		int r = number_list_add(list, (uint32_t)n);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "0-3,8": CPUs as the kernel writes them. */
static int parse_cpus(const char *text, void *field)
{
	const char *end = text + strlen(text);

	for (;; text++) {
		uint64_t first, last;

		int r = parse_range(&text, end, &first, &last);
		if (r < 0)
			return r;
		if (first > last || last > CPU_MAX)
			return -ERANGE;
		r = add_range(field, first, last);
		if (r < 0)
			return r;
		if (*text != ',')
			return text == end ? 0 : -EINVAL;
	}
}

static int parse_pids(const char *text, void *field)
{
	const char *end = text + strlen(text);

	for (;; text++) {
		uint64_t pid;

		int r = parse_digits(&text, end, 10, &pid);
		if (r < 0)
			return r;
		if (pid < 1 || pid > PID_MAX_LIMIT)
			return -ERANGE;
		r = number_list_add(field, (uint32_t)pid);
		if (r < 0)
			return r;
		if (*text != ',')
			return text == end ? 0 : -EINVAL;
	}
}

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static int check_name(const char *text)
{
	return *text && is_printable(text) ? 0 : -EINVAL;
}

static bool is_dns_name(const char *text, size_t len)
{
	return len > 0 && len <= DNS_NAME_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") >= len;
}

static int check_pod(const char *text)
{
	const char *slash = strchr(text, '/');
	const char *name = slash ? slash + 1 : text;

	if (slash && !is_dns_name(text, (size_t)(slash - text)))
		return -EINVAL;
	return is_dns_name(name, strlen(name)) ? 0 : -EINVAL;
}

static int check_container(const char *text)
{
	size_t len = strlen(text);

	if (len < CONTAINER_ID_MIN || len > CONTAINER_ID_MAX || !is_lower_hex(text, len))
		return -EINVAL;
	return 0;
}

static int check_comm(const char *text)
{
	return *text && strlen(text) <= COMM_MAX_BYTES ? 0 : -EINVAL;
}

/* Whether a URL begins here. */
static bool has_scheme_and_host(const char *text)
{
	size_t scheme_len = strncasecmp(text, "https://", 8) == 0  ? 8
			    : strncasecmp(text, "http://", 7) == 0 ? 7
								   : 0;

	return scheme_len > 0 && text[scheme_len] && !strchr("/:?# ", text[scheme_len]);
}

static int check_url(const char *text)
{
	return has_scheme_and_host(text) && !strchr(text, ' ') && is_printable(text) ? 0 : -EINVAL;
}

/* One or more, separated by spaces. */
static int check_urls(const char *text)
{
	const char *url = text + strspn(text, " ");

	if (*url == '\0' || strlen(text) > URLS_MAX_BYTES || !is_printable(text))
		return -EINVAL;
	while (*url) {
		if (!has_scheme_and_host(url))
			return -EINVAL;
		url += strcspn(url, " ");
		url += strspn(url, " ");
	}
	return 0;
}

/* RFC 9110 5.1 and 5.5: a token, a colon, anything printable. */
static int check_header(const char *text)
{
	size_t name_len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789!#$%&'*+-.^_`|~");

	return name_len > 0 && text[name_len] == ':' && is_printable(text) ? 0 : -EINVAL;
}

static int check_file(const char *text)
{
	if (*text == '\0')
		return -EINVAL;
	return access(text, R_OK) < 0 ? -errno : 0;
}

static int check_directory(const char *text)
{
	return *text == '/' && is_printable(text) ? 0 : -EINVAL;
}

const struct value_type value_flag = { "yes or no", "true or false", STORE_FLAG,
				       .parse = parse_flag };
const struct value_type value_on_off = { "a switch", "on or off", STORE_PLAIN,
					 .parse = parse_flag };
const struct value_type value_frequency = { "a frequency from 1 to 10000 Hz", "99", STORE_PLAIN,
					    .parse = parse_frequency };
const struct value_type value_duration = { "a duration", "10s, 500ms or 2m", STORE_PLAIN,
					   .parse = parse_duration };
const struct value_type value_duration_or_zero = { "a duration", "10s, 500ms or 2m", STORE_PLAIN,
						   .parse = parse_duration_or_zero };
const struct value_type value_memory = { "an amount of memory from 1M", "256M or 1G", STORE_PLAIN,
					 .parse = parse_memory };
const struct value_type value_log_level = { "a log level", "error, warn, info or debug",
					    STORE_PLAIN, .parse = parse_log_level };
const struct value_type value_verify = { "a way to verify a certificate",
					 "full, ca-only or insecure", STORE_PLAIN,
					 .parse = parse_verify };
const struct value_type value_demangle = { "a way to demangle", "none, short or full", STORE_PLAIN,
					   .parse = parse_demangle };
const struct value_type value_pids = { "a list of process or thread ids", "1234 or 1234,5678",
				       STORE_NUMBERS, .parse = parse_pids };
const struct value_type value_cpus = { "a list of CPUs", "0-3,8", STORE_NUMBERS,
				       .parse = parse_cpus };
const struct value_type value_pod = { "a pod's name", "NAME or NAMESPACE/NAME", STORE_STRING,
				      .check = check_pod };
const struct value_type value_container = { "a container ID",
					    "12 to 64 digits of it, in lower-case hex",
					    STORE_STRING, .check = check_container };
const struct value_type value_cgroup = { "a cgroup's path", "/kubepods.slice/… or /system.slice/…",
					 STORE_STRINGS, .check = check_name };
const struct value_type value_comm = { "a process name as the kernel keeps it",
				       "its first 15 bytes, as ps -o comm shows them",
				       STORE_STRINGS, .check = check_comm };
const struct value_type value_url = { "an http or https URL",
				      "http://127.0.0.1:4318 or https://HOST:PORT", STORE_STRING,
				      .check = check_url };
const struct value_type value_urls = { "a list of http or https URLs",
				       "\"http://HOST:8002 https://HOST\"", STORE_STRING,
				       .check = check_urls };
const struct value_type value_header = { "an HTTP header", "\"Name: value\"", STORE_STRINGS, true,
					 .check = check_header };
const struct value_type value_file = { "a file", "the path of a file that can be read",
				       STORE_STRING, .check = check_file };
const struct value_type value_directory = { "a directory", "an absolute path", STORE_STRING,
					    .check = check_directory };
const struct value_type value_output = { "a file name", "out.svg", STORE_STRINGS,
					 .check = check_name };
const struct value_type value_name = { "a name", "printable characters", STORE_STRING,
				       .check = check_name };

static int store_string(const char *text, char **field)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

int value_store(const struct value_type *type, const char *text, void *field)
{
	int r = type->check ? type->check(text) : type->parse(text, field);

	if (r < 0)
		return r;
	if (type->storage == STORE_STRING)
		return store_string(text, field);
	if (type->storage == STORE_STRINGS)
		return string_list_add(field, text);
	return 0;
}

bool value_is_list(const struct value_type *type)
{
	return type->storage == STORE_STRINGS || type->storage == STORE_NUMBERS;
}

void value_clear(const struct value_type *type, void *field)
{
	if (type->storage == STORE_STRING) {
		free(*(char **)field);
		*(char **)field = NULL;
	} else if (type->storage == STORE_STRINGS) {
		string_list_done(field);
	} else if (type->storage == STORE_NUMBERS) {
		number_list_done(field);
	}
}
