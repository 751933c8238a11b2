/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_registry.h"

#include "base/cleanup.h"
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
	runtime_registry_wake_later(registry);
	runtime_registry_flush(registry);
}

void runtime_registry_wake_later(struct runtime_registry *registry)
{
	registry->is_idle = false;
	registry->nr_wakes++;
	registry->is_wake_due = true;
}

void runtime_registry_flush(struct runtime_registry *registry)
{
	if (!registry->is_wake_due)
		return;
	registry->is_wake_due = false;
	(void)eventfd_write(registry->wake_fd, 1);
}

void runtime_registry_tell(struct runtime_registry *registry)
{
	__atomic_add_fetch(&registry->generation, 1, __ATOMIC_RELEASE);
}
