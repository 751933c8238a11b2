/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_owners.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "cgroup/proc_cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define FILE_MAX_BYTES 65536 /* /proc/PID/cgroup has a line for each v1 controller */

int gpu_owners_init(struct gpu_owners *owners, int proc_fd, const char *cgroup_root)
{
	*owners = (struct gpu_owners){ .proc_fd = fcntl(proc_fd, F_DUPFD_CLOEXEC, 0) };
	if (owners->proc_fd < 0)
		return -errno;
	int r = cgroup_fs_open(cgroup_root, &owners->fs);
	return r < 0 ? r
		     : cgroup_namespace_find(owners->fs, owners->proc_fd,
					     cgroup_fs_hierarchy(owners->fs), &owners->namespace);
}

void gpu_owners_done(struct gpu_owners *owners)
{
	cgroup_namespace_done(&owners->namespace);
	cgroup_fs_close(owners->fs);
	cleanup_closep(&owners->proc_fd);
}

static int find_cgroup(const struct gpu_owners *owners, uint32_t pid, uint64_t *ret_id)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FILE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf resolved = strbuf_with_max(FILE_MAX_BYTES);
	char name[32];
	const char *path;
	size_t len;

	snprintf(name, sizeof(name), "%" PRIu32 "/cgroup", pid);
	int r = file_read_at(owners->proc_fd, name, &text);
	if (r == 0)
		r = proc_cgroup_find(strbuf_str(&text), text.len, cgroup_fs_hierarchy(owners->fs),
				     &path, &len);
	if (r == 0)
		r = cgroup_namespace_resolve(&owners->namespace, path, len, &resolved);
	return r < 0 ? r : cgroup_fs_id(owners->fs, strbuf_str(&resolved), ret_id);
}

static struct gpu_use *get_use(struct gpu_use *uses, size_t *nr, uint64_t cgroup_id)
{
	for (size_t i = 0; i < *nr; i++)
		if (uses[i].cgroup_id == cgroup_id)
			return &uses[i];
	if (*nr == GPU_OWNERS_MAX_USES)
		return NULL;
	uses[*nr] = (struct gpu_use){ .cgroup_id = cgroup_id };
	return &uses[(*nr)++];
}

size_t gpu_owners_sum(const struct gpu_owners *owners, const struct gpu_reading *reading,
		      struct gpu_use uses[static GPU_OWNERS_MAX_USES], uint64_t *nr_unknown)
{
	size_t nr = 0;

	for (size_t i = 0; i < reading->nr_processes; i++) {
		const struct gpu_process *process = &reading->processes[i];
		uint64_t id;
		struct gpu_use *use = find_cgroup(owners, process->pid, &id) == 0
					      ? get_use(uses, &nr, id)
					      : NULL;

		if (!use) {
			(*nr_unknown)++;
			continue;
		}
		use->utilization += process->utilization;
		use->memory += process->memory;
	}
	return nr;
}
