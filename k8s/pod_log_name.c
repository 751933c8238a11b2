/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_log_name.h"

#include "base/parse.h"
#include "cgroup/cgroup_path.h"
#include "k8s/pod_list.h"

/* Returns whether it has the characters of Kubernetes' names and UIDs. */
static bool is_name(struct strview view)
{
	return view.len > 0 && view.len <= POD_NAME_MAX &&
	       strview_has_only(view, "abcdefghijklmnopqrstuvwxyz0123456789-.");
}

/* Splits three names with "_" between them. */
static bool split(struct strview text, struct strview *ret_first, struct strview *ret_second,
		  struct strview *ret_third)
{
	struct strview parts[3];

	for (size_t i = 0; i < 3; i++)
		if (!strview_next(&text, '_', &parts[i]) || !is_name(parts[i]))
			return false;
	if (text.text)
		return false;
	*ret_first = parts[0];
	*ret_second = parts[1];
	*ret_third = parts[2];
	return true;
}

bool pod_log_dir_parse(struct strview name, struct pod_log_dir *ret_dir)
{
	return split(name, &ret_dir->namespace, &ret_dir->pod, &ret_dir->uid);
}

bool pod_log_link_parse(struct strview name, struct pod_log_link *ret_link)
{
	struct strview names = strview_without_suffix(name, ".log");

	if (names.len == name.len || names.len <= CONTAINER_ID_LEN + 1)
		return false;

	struct strview id = strview_tail(names, CONTAINER_ID_LEN);
	names = strview_head(names, names.len - CONTAINER_ID_LEN);
	if (!strview_is_hex(id) || !strview_ends_with(names, "-") ||
	    !split(strview_without_suffix(names, "-"), &ret_link->pod, &ret_link->namespace,
		   &ret_link->container))
		return false;
	ret_link->id = id;
	return true;
}

/* Takes the last name off a path. */
static struct strview take_last(struct strview *path)
{
	struct strview last = strview_behind_last(*path, '/');

	path->len -= last.len;
	*path = strview_without_suffix(*path, "/");
	return last;
}

bool pod_log_file_parse(struct strview path, struct pod_log_file *ret_file)
{
	struct strview log = take_last(&path);
	struct strview number = strview_without_suffix(log, ".log");
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
