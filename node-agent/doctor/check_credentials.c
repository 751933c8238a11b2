/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check_credentials.h"

#include "agent/export_headers.h"
#include "base/bearer_token.h"
#include "base/cleanup.h"

#include <string.h>
#include <sys/stat.h>

#define TOKEN_MAX_BYTES ((size_t)16 << 10)
#define AUTHORIZATION_MAX_BYTES ((size_t)20 << 10)
#define MESSAGE_MAX_BYTES 4096

/* Returns words that say who else may read or change a file with a secret; NULL: nobody. */
static const char *find_leak(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return NULL;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return "belongs to another user, who can read and change it";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "can be changed by other users";
	return st.st_mode & S_IROTH ? "can be read by every user" : NULL;
}

/* Adds a finding if others have access to the file. Returns whether they have. */
static bool add_leak(const char *name, const char *path, struct doctor_report *report)
{
	const char *leak = find_leak(path);

	if (leak)
		doctor_report_add(
			report, FINDING_WARN, name,
			"chown root and chmod 0400; in a pod, set defaultMode: 0400 in the "
			"secret's volume",
			"%s %s", path, leak);
	return leak;
}

static void add_header_file(const struct destination *destination, struct header_list *headers,
			    struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	size_t nr_before = headers->nr_lines;

	int r = export_read_header_file(destination, headers, &message);
	if (r < 0)
		doctor_report_add(report, FINDING_FAIL, "headers", "see --otlp-header-file", "%s",
				  message.len > 0 ? message.data : strerror(-r));
	else if (!add_leak("headers", destination->header_file, report))
		doctor_report_ok(report, "headers", "%s: %zu", destination->header_file,
				 headers->nr_lines - nr_before);
}

static void add_token(const char *path, struct header_list *headers, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(AUTHORIZATION_MAX_BYTES);

	int r = bearer_token_read(path, TOKEN_MAX_BYTES, &header);
	if (r == 0)
		r = header_list_add(headers, strbuf_str(&header));
	if (r < 0)
		doctor_report_add(
			report, FINDING_FAIL, "token",
			"see --otlp-token-file: the file must have one token and nothing else",
			"%s: %s", path,
			r == -EBADMSG ? "it does not have exactly one token" : strerror(-r));
	else
		add_leak("token", path, report);
}

void check_credentials(const struct destination *destination, struct header_list *headers,
		       struct doctor_report *report)
{
	if (destination->header_file)
		add_header_file(destination, headers, report);
	if (destination->token_file)
		add_token(destination->token_file, headers, report);
}
