/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of waits. The reason of a wait tells what it is for; functions tell more. */
#include "findings/finding_rules.h"

#include "base/err.h"
#include "findings/function_patterns.h"
#include "profile/wait_reason.h"

#define REASON(reason) (UINT32_C(1) << (reason))
#define FILE_CALLS                                                                                 \
	LIBC_CALLS                                                                                 \
	" read __read pread* __pread* write __write pwrite* __pwrite* fsync "                      \
	"fdatasync sync* msync open* __open* unlink* rename* ftruncate* fallocate* "               \
	"close __close __GI__* _IO_* fread* fwrite* fflush stat* fstat* new_file_write "

const struct finding_rule wait_rules[] = {
	{ .id = "cpu-starvation",
	  .title = "waiting for a CPU",
	  .reasons = REASON(REASON_PREEMPTED) | REASON(REASON_RUN_QUEUE) | REASON(REASON_THROTTLED),
	  .of_delay = true,
	  .scope = SCOPE_PROGRAM,
	  .least = { 50, 0.5 },
	  .skip = LIBC_CALLS,
	  .caller_code = CODE_USER,
	  .steps = { "look for a CPU limit that stops it: nr_throttled and throttled_usec in the "
		     "cgroup's cpu.stat, the reason \"throttled\", and flamelet ls --events 10",
		     "compare its cpuset, its CPU weight (cpu.weight, requests.cpu) and its "
		     "niceness "
		     "with those of its neighbours" } },
	{ .id = "lock-waits",
	  .title = "waiting for a lock of the program in {caller}",
	  .reasons = REASON(REASON_FUTEX),
	  .scope = SCOPE_PROGRAM,
	  .least = { 30, 0.5 },
	  .skip = LIBC_LOCKS " lll_mutex_lock* take_gil absl::Mutex::* ObjectMonitor::* "
			     "ObjectSynchronizer::*",
	  .caller_code = CODE_USER,
	  .steps = { "see which lock it is, and who had it: flamelet record --kind lock --waker "
		     "-p PID",
		     "hold the lock for a shorter time, split it, or use fewer threads" } },
	{ .id = "mmap-lock-waits",
	  .title = "waiting for the lock of an address space (mmap_lock) in {caller}",
	  .frames = "rwsem_down_read_slowpath rwsem_down_write_slowpath",
	  .callers = MMAP_LOCK_TAKERS,
	  .reasons = REASON(REASON_KERNEL_LOCK),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_LOCK,
	  .least = { 20, 0.2 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "map, unmap and protect less often: pool buffers, let malloc keep memory "
		     "(M_TRIM_THRESHOLD)",
		     "look for agents that read /proc/PID/maps, smaps or cmdline of that "
		     "process" } },
	{ .id = "kernel-lock-waits",
	  .title = "waiting for a mutex or semaphore of the kernel in {caller}",
	  .frames = "__mutex_lock* mutex_lock* ww_mutex_lock* __down* down down_* percpu_down_* "
		    "percpu_rwsem_wait rwsem_down_* rt_mutex_slowlock*",
	  .reasons = REASON(REASON_KERNEL_LOCK),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_LOCK,
	  .least = { 30, 0.3 },
	  .skip = LOCK_FUNCTIONS " __down* down down_* percpu_rwsem_wait rwsem_down_* "
				 "rt_mutex_slowlock*",
	  .steps = { "find what the callers share (one file, one directory, one device)",
		     "flamelet record --kind offcpu --reason kernel-lock --waker shows who had "
		     "it" } },
	{ .id = "fsync-waits",
	  .title = "waiting until files are on the disk (fsync) in {caller}",
	  .frames = "do_fsync vfs_fsync_range vfs_fsync ksys_sync_file_range sync_file_range "
		    "__x64_sys_fsync __x64_sys_fdatasync __arm64_sys_fsync __arm64_sys_fdatasync "
		    "__do_sys_fsync __do_sys_fdatasync generic_write_sync ksys_sync",
	  .reasons = REASON(REASON_DISK) | REASON(REASON_KERNEL_LOCK),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_DISK,
	  .least = { 40, 0.3 },
	  .skip = FILE_CALLS,
	  .caller_code = CODE_USER,
	  .steps = { "write several records before each fsync, or let threads share one",
		     "iostat -x 1 (f_await, w_await); cat /proc/pressure/io" } },
	{ .id = "disk-waits",
	  .title = "waiting for a disk in {caller}",
	  .reasons = REASON(REASON_DISK),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_DISK,
	  .least = { 50, 0.5 },
	  .skip = FILE_CALLS,
	  .caller_code = CODE_USER,
	  .steps = { "iostat -x 1 (r_await, aqu-sz); cat /proc/pressure/io",
		     "read larger blocks, or ahead; or give the file cache more memory" } },
	{ .id = "reclaim-waits",
	  .title = "waiting for memory that the kernel frees first in {caller}",
	  .reasons = REASON(REASON_RECLAIM),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_MEMORY,
	  .least = { 20, 0.1 },
	  .skip = FILE_CALLS " memset* __memset* memcpy* __memcpy* malloc* __libc_malloc* calloc*",
	  .caller_code = CODE_USER,
	  .steps = { "cat /proc/pressure/memory, and memory.pressure of the cgroup",
		     "compare memory.current with memory.max and memory.high of the cgroup" } },
	{ .id = "file-fault-waits",
	  .title = "waiting for page faults that read from a disk in {caller}",
	  .reasons = REASON(REASON_PAGE_FAULT),
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_MEMORY,
	  .least = { 40, 0.3 },
	  .skip = "memset* __memset* memcpy* __memcpy* memmove* __memmove*",
	  .caller_code = CODE_USER,
	  .steps = { "grep -E 'pgmajfault|workingset_refault|pswpin' /proc/vmstat, twice",
		     "give the file cache more memory, or read mapped files ahead "
		     "(madvise, MAP_POPULATE)" } },
};

const size_t nr_wait_rules = array_len(wait_rules);
