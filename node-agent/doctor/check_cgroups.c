/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether cgroup ids lead to pods, and the memory limit of our own cgroup. */
#include "base/cleanup.h"
#include "base/kernel_file.h"
#include "base/parse.h"
#include "cgroup/cgroup_fs.h"
#include "cgroup/cgroup_path.h"
#include "doctor/doctor.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define HOST_ROOT_ID 1 /* the kernel's id of the root of a hierarchy */
#define VALUE_MAX_BYTES 256
#define PROCS_MAX_BYTES ((size_t)1 << 20)
#define UNLIMITED_MIN (UINT64_C(1) << 60) /* v1 writes the largest page-aligned number */
#define MEGABYTE (UINT64_C(1) << 20)

/* Sizes for memory_needed(); the chart uses the same ones (_sizes.tpl). The fixed part is for the
 * agent itself and the workers for files that are not large. Each destination adds a part, and
 * another one if profiles wait in memory. The worker that downloads debug files needs memory of its
 * own. JIT compilers' functions take an additional share of the memory for names. */
#define FIXED_BYTES ((64 + 48 + 2 * 16 + 56) * MEGABYTE)
#define DESTINATION_BYTES (48 * MEGABYTE)
#define MEMORY_QUEUE_BYTES (16 * MEGABYTE)
#define DEBUGINFOD_WORKER_BYTES (256 * MEGABYTE)
#define JIT_SHARE 4

/* Counts containers, and those whose cgroup id leads to their path. */
struct id_search {
	const struct cgroup_fs *fs;
	size_t nr_containers;
	size_t nr_found;
	int error; /* of the last container that was not found */
};

static int look_up(const char *path, uint64_t id, void *data)
{
	_cleanup_(strbuf_done) struct strbuf found = strbuf_with_max(PATH_MAX);
	struct id_search *search = data;
	struct cgroup_owner owner;

	cgroup_path_parse(path, &owner);
	if (!owner.container_id[0])
		return 0;

	int r = cgroup_fs_path(search->fs, id, &found);
	search->nr_containers++;
	if (r == 0 && strcmp(strbuf_str(&found), path) == 0)
		search->nr_found++;
	else if (r < 0 && r != -ESTALE)
		search->error = r;
	return 0;
}

static void add_ids(const struct id_search *search, bool is_host, struct doctor_report *report)
{
	static const char name[] = "cgroup ids";

	if (search->error < 0)
		doctor_report_add(report, FINDING_WARN, name,
				  "run as root; in a pod, add DAC_READ_SEARCH to "
				  "securityContext.capabilities.add, and allow open_by_handle_at "
				  "in its seccomp profile",
				  "lookup fails (%s): only cgroups that existed at the start or "
				  "that the agent saw being created are known",
				  strerror(-search->error));
	else if (!is_host)
		doctor_report_add(
			report, FINDING_WARN, name,
			"in a pod, mount the host's /sys/fs/cgroup as a hostPath and name it "
			"with --cgroup-root",
			"only a part of the host's cgroups is mounted: processes in the "
			"others are not attributed to pods");
	else if (search->nr_containers > 0)
		doctor_report_ok(report, name, "lookup works for %zu of %zu containers",
				 search->nr_found, search->nr_containers);
	else
		doctor_report_ok(report, name, "lookup works; there are no containers");
}

static void check_ids(const struct cgroup_fs *fs, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX);
	struct id_search search = { .fs = fs };
	uint64_t root_id = 0;

	int r = cgroup_fs_id(fs, "/", &root_id);
	if (r == 0)
		r = cgroup_fs_path(fs, root_id, &path);
	if (r == 0)
		r = cgroup_fs_walk(fs, look_up, &search);
	if (r < 0)
		search.error = r;
	add_ids(&search, root_id == HOST_ROOT_ID, report);
}

void check_cgroups(const struct doctor_host *host, struct doctor_report *report)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;

	int r = cgroup_fs_open(host->options->cgroup_root, &fs);
	if (r < 0) {
		doctor_report_add(report, FINDING_FAIL, "cgroups",
				  "mount the host's /sys/fs/cgroup and name it with --cgroup-root",
				  "%s: %s: samples cannot be attributed to pods",
				  host->options->cgroup_root ? host->options->cgroup_root
							     : "no hierarchy found",
				  strerror(-r));
		return;
	}
	doctor_report_ok(report, "cgroups", "%s, at %s", cgroup_mode_name(cgroup_fs_mode(fs)),
			 cgroup_fs_root(fs));
	check_ids(fs, report);
}

/* Lowers *limit to the number in a file, which may be "max" instead. Returns whether there is such
 * a file. */
static bool lower_limit(const char *dir, const char *name, uint64_t *limit)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(VALUE_MAX_BYTES);
	uint64_t value;

	if (kernel_file_read_line(dir, name, "", &text) < 0)
		return false;
	if (parse_u64(strbuf_str(&text), &value) == 0 && value < *limit)
		*limit = value;
	return true;
}

/* Lowers *limit to the lowest limit of a cgroup and those above it. Returns whether any of them has
 * a limit. */
static bool lower_limits(const char *hierarchy, const char *path, const char *name, uint64_t *limit)
{
	char dir[PATH_MAX];
	bool is_known = false;

	if ((size_t)snprintf(dir, sizeof(dir), "%s%s", hierarchy, path) >= sizeof(dir))
		return false;
	for (char *end = dir + strlen(dir); end; end = strrchr(dir + strlen(hierarchy), '/')) {
		*end = '\0';
		is_known |= lower_limit(dir, name, limit);
	}
	return is_known;
}

/* A search for our own cgroup. It is needed if the kernel reports the path relative to a namespace
 * whose root is not mounted. */
struct self_search {
	const char *root;
	const char *pid_line; /* "\n4711\n" */
	struct strbuf path;
};

static int find_self(const char *path, uint64_t id, void *data)
{
	_cleanup_(strbuf_done) struct strbuf procs = strbuf_with_max(PROCS_MAX_BYTES);
	struct self_search *search = data;
	char dir[PATH_MAX];

	(void)id;
	strbuf_append_char(&procs, '\n');
	if ((size_t)snprintf(dir, sizeof(dir), "%s%s", search->root, path) >= sizeof(dir) ||
	    kernel_file_read_head(dir, "cgroup.procs", &procs) < 0 ||
	    !strstr(strbuf_str(&procs), search->pid_line))
		return 0;
	strbuf_append_str(&search->path, path);
	return 1;
}

static bool lower_by_search(const struct doctor_host *host, uint64_t *limit)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;
	char pid_line[32];

	snprintf(pid_line, sizeof(pid_line), "\n%d\n", getpid());
	if (cgroup_fs_open(host->options->cgroup_root, &fs) < 0)
		return false;

	struct self_search search = { cgroup_fs_root(fs), pid_line, strbuf_with_max(PATH_MAX) };
	bool is_known = cgroup_fs_walk(fs, find_self, &search) == 1 &&
			lower_limits(search.root, strbuf_str(&search.path), "memory.max", limit);
	strbuf_done(&search.path);
	return is_known;
}

/* Finds our path in the memory hierarchy of cgroup v1: the line "NUMBER:memory:PATH". */
static int read_v1_path(const struct doctor_host *host, struct strbuf *path)
{
	static const char key[] = ":memory:";
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PROCS_MAX_BYTES);

	int r = kernel_file_read_head(host->proc_dir, "self/cgroup", &text);
	if (r < 0)
		return r;

	const char *found = strstr(strbuf_str(&text), key);
	if (!found)
		return -ENOENT;
	found += strlen(key);
	strbuf_append(path, found, strcspn(found, "\n"));
	return strbuf_error(path);
}

/* Finds the lowest limit of our cgroup and those above it; UINT64_MAX for none. Returns whether the
 * limit is known. */
static bool read_memory_limit(const struct doctor_host *host, uint64_t *ret_limit)
{
	_cleanup_(strbuf_done) struct strbuf v2 = strbuf_with_max(PATH_MAX);
	_cleanup_(strbuf_done) struct strbuf v1 = strbuf_with_max(PATH_MAX);
	char mounts[PATH_MAX], memory[PATH_MAX];
	uint64_t limit = UINT64_MAX;

	snprintf(mounts, sizeof(mounts), "%s/fs/cgroup", host->sys_dir);
	snprintf(memory, sizeof(memory), "%s/fs/cgroup/memory", host->sys_dir);
	bool is_known = kernel_file_read_line(host->proc_dir, "self/cgroup", "0::", &v2) == 0 &&
			lower_limits(mounts, strbuf_str(&v2), "memory.max", &limit);
	if (!is_known)
		is_known = lower_by_search(host, &limit);
	if (!is_known)
		is_known = read_v1_path(host, &v1) == 0 &&
			   lower_limits(memory, strbuf_str(&v1), "memory.limit_in_bytes", &limit);
	if (is_known)
		*ret_limit = limit < UNLIMITED_MIN ? limit : UINT64_MAX;
	return is_known;
}

/* Returns the most memory that the agent and its workers may use (docs/threat-model.md,
 * "Bounds"). */
static uint64_t memory_needed(const struct options *options)
{
	uint64_t destination_bytes = options->queue_dir ? DESTINATION_BYTES
							: DESTINATION_BYTES + MEMORY_QUEUE_BYTES;

	return options->tables_memory_max + options->symbol_memory_max / JIT_SHARE + FIXED_BYTES +
	       options->nr_destinations * destination_bytes +
	       (options->debuginfod_urls ? DEBUGINFOD_WORKER_BYTES : 0);
}

void check_memory(const struct doctor_host *host, struct doctor_report *report)
{
	uint64_t need = memory_needed(host->options);
	uint64_t limit;

	if (!read_memory_limit(host, &limit) || limit == UINT64_MAX)
		doctor_report_ok(report, "memory", "no limit found");
	else if (limit < need)
		doctor_report_add(report, FINDING_WARN, "memory",
				  "raise the limit, or lower --tables-memory-max",
				  "limited to %" PRIu64
				  " MB, but the agent and its workers may use %" PRIu64
				  " MB: the kernel may end them",
				  limit / MEGABYTE, need / MEGABYTE);
	else
		doctor_report_ok(report, "memory",
				 "limited to %" PRIu64
				 " MB; the agent and its workers use at most %" PRIu64 " MB",
				 limit / MEGABYTE, need / MEGABYTE);
}
