/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_registry.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/thread.h"

#include <sys/eventfd.h>

int runtime_registry_init(struct runtime_registry *registry, const struct runtimes_opts *opts)
{
	int r = runtime_processes_init(&registry->processes);

	if (r < 0)
		return r;
	registry->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (registry->wake_fd < 0) {
		r = -errno;
		runtime_processes_done(&registry->processes);
		return r;
	}
	registry->max_bytes = opts->max_bytes;
	registry->kinds = opts->kinds;
	registry->is_idle = true;
	registry->wake_due_ns = UINT64_MAX;
	runtime_files_init(&registry->files);
	pthread_mutex_init(&registry->lock, NULL);
	thread_init_cond(&registry->is_idle_now);
	return 0;
}

void runtime_registry_done(struct runtime_registry *registry)
{
	runtime_processes_done(&registry->processes);
	runtime_files_done(&registry->files);
	code_copies_done(&registry->copies);
	pthread_cond_destroy(&registry->is_idle_now);
	pthread_mutex_destroy(&registry->lock);
	cleanup_closep(&registry->wake_fd);
}

void runtime_registry_wake(struct runtime_registry *registry)
{
	runtime_registry_wake_later(registry, 0);
	runtime_registry_flush(registry, 0);
}

void runtime_registry_wake_later(struct runtime_registry *registry, uint64_t due_ns)
{
	registry->is_idle = false;
	registry->nr_wakes++;
	registry->wake_due_ns = min_u64(registry->wake_due_ns, due_ns);
}

void runtime_registry_flush(struct runtime_registry *registry, uint64_t now_ns)
{
	if (registry->wake_due_ns == UINT64_MAX || now_ns < registry->wake_due_ns)
		return;
	registry->wake_due_ns = UINT64_MAX;
	(void)eventfd_write(registry->wake_fd, 1);
}

void runtime_registry_tell(struct runtime_registry *registry)
{
	__atomic_add_fetch(&registry->generation, 1, __ATOMIC_RELEASE);
}
