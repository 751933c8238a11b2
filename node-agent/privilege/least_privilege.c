/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/least_privilege.h"

#include "base/capabilities.h"
#include "base/log.h"
#include "privilege/privileges.h"

#include <sys/prctl.h>

/* The reader opens timers on CPUs that come, and files of processes that start, reads code of processes where no BPF program
 * does, and looks cgroups up. */
#define OF_READER                                                                                  \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(SYS_PTRACE) |                          \
	 CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(CHECKPOINT_RESTORE))

/* What threads take with them: /proc/kallsyms is read again when the kernel's code changes; a queue of another user. */
#define OF_OTHERS (CAPABILITY(SYSLOG) | CAPABILITY(DAC_OVERRIDE))

/* Where they are given: timers where kernel.perf_event_paranoid is 3 or more, memory for maps before Linux 5.11, more of it
 * locked for perf events than others leave, and ports below 1024. */
#define OF_START                                                                                   \
	(CAPABILITY(SYS_ADMIN) | CAPABILITY(SYS_RESOURCE) | CAPABILITY(IPC_LOCK) |                 \
	 CAPABILITY(NET_BIND_SERVICE))

/* Where perf_event_paranoid is low, kernel functions have names without CAP_SYSLOG: whoever reads them warns. */
static void warn_of_missing(enum backend_set wanted)
{
	uint64_t capabilities = capabilities_effective();

	for (size_t i = 0; i < nr_privileges; i++) {
		const struct capability *capability = &privileges_table[i];

		if (capabilities_include(capabilities, capability->set) ||
		    capability->set == CAPABILITY(SYSLOG))
			continue;
		if (capability->needed_by == BACKENDS_NONE || (capability->needed_by & wanted))
			log_warn("CAP_%s is missing: %s; in a pod, %s in capabilities.add",
				 capability->name, capability->loss, capability->name);
	}
}

static void keep(uint64_t capabilities)
{
	int r = capabilities_keep(capabilities);

	if (r < 0)
		log_warn_errno(r, "capabilities that are not needed cannot be given up, going on "
				  "with all of them");
}

/* Without CAP_SETPCAP, as in a pod, programs could have what this one was given; but it runs none with new privileges. */
void least_privilege_begin(enum backend_set wanted)
{
	warn_of_missing(wanted);
	int r = capabilities_deny_programs();
	if (r < 0)
		log_debug_errno(r, "the bounding set stays as it is");
	keep(OF_READER | OF_OTHERS | OF_START);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		log_warn_errno(-errno, "privileges could be gained by running programs, or "
				       "secrets be read from memory");
}

void least_privilege_finish(bool has_bpf)
{
	keep(has_bpf ? OF_READER : OF_READER & ~CAPABILITY(BPF));
}
