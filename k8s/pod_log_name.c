/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_log_name.h"

#include "base/parse.h"
#include "cgroup/cgroup_path.h"
#include "k8s/pod_list.h"

/* What Kubernetes takes for a name, and for the UIDs it makes. */
static bool is_name(struct span span)
{
	return span.len > 0 && span.len <= POD_NAME_MAX &&
	       span_has_only(span, "abcdefghijklmnopqrstuvwxyz0123456789-.");
}

/* Three names with "_" between them. */
static bool split(struct span text, struct span *ret_first, struct span *ret_second,
		  struct span *ret_third)
{
	struct span parts[3];

	for (size_t i = 0; i < 3; i++)
		if (!span_next(&text, '_', &parts[i]) || !is_name(parts[i]))
			return false;
	if (text.text)
		return false;
	*ret_first = parts[0];
	*ret_second = parts[1];
	*ret_third = parts[2];
	return true;
}

bool pod_log_dir_parse(struct span name, struct pod_log_dir *ret_dir)
{
	return split(name, &ret_dir->namespace, &ret_dir->pod, &ret_dir->uid);
}

bool pod_log_link_parse(struct span name, struct pod_log_link *ret_link)
{
	struct span names = span_without_suffix(name, ".log");

	if (names.len == name.len || names.len <= CONTAINER_ID_LEN + 1)
		return false;

	struct span id = span_tail(names, CONTAINER_ID_LEN);
	names = span_head(names, names.len - CONTAINER_ID_LEN);
	if (!span_is_hex(id) || !span_ends_with(names, "-") ||
	    !split(span_without_suffix(names, "-"), &ret_link->pod, &ret_link->namespace,
		   &ret_link->container))
		return false;
	ret_link->id = id;
	return true;
}

/* Cuts the last name off a path. */
static struct span take_last(struct span *path)
{
	struct span last = span_behind_last(*path, '/');

	path->len -= last.len;
	*path = span_without_suffix(*path, "/");
	return last;
}

bool pod_log_file_parse(struct span path, struct pod_log_file *ret_file)
{
	struct span log = take_last(&path);
	struct span number = span_without_suffix(log, ".log");
	struct pod_log_file file = { .container = take_last(&path) };
	const char *digits = number.text;
	uint64_t count;

	if (number.len == log.len || !is_name(file.container) ||
	    !pod_log_dir_parse(take_last(&path), &file.dir))
		return false;
	if (parse_digits(&digits, number.text + number.len, 10, &count) < 0 ||
	    digits != number.text + number.len || count > UINT32_MAX)
		return false;
	file.restart_count = (uint32_t)count;
	*ret_file = file;
	return true;
}
