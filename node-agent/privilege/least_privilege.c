/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/least_privilege.h"

#include "base/capabilities.h"
#include "base/log.h"
#include "privilege/privileges.h"

#include <sys/prctl.h>

/* The reader thread keeps these as long as the agent runs. It opens timers on CPUs that come
 * online and files of processes that start, reads the code of processes where no BPF program does
 * that, and looks up cgroups. */
#define OF_READER                                                                                  \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(SYS_PTRACE) |                          \
	 CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(CHECKPOINT_RESTORE))

/* Other threads keep these: /proc/kallsyms is read again when the kernel's code changes, and a
 * queue's directory may belong to another user. */
#define OF_OTHERS (CAPABILITY(SYSLOG) | CAPABILITY(DAC_OVERRIDE))

/* These are used if they are given. They allow timers where kernel.perf_event_paranoid
 * is 3 or more, memory for BPF maps before Linux 5.11, more locked memory for perf
 * events, and ports below 1024. */
#define OF_START                                                                                   \
	(CAPABILITY(SYS_ADMIN) | CAPABILITY(SYS_RESOURCE) | CAPABILITY(IPC_LOCK) |                 \
	 CAPABILITY(NET_BIND_SERVICE))

/* Does not warn of CAP_SYSLOG: where perf_event_paranoid is low, kernel functions have names
 * without it. The code that reads the names warns if they are hidden. */
static void warn_of_missing(enum backend_set wanted)
{
	uint64_t capabilities = capabilities_effective();

	for (size_t i = 0; i < nr_privileges; i++) {
		const struct capability *capability = &privileges_table[i];

		if (capabilities_include(capabilities, capability->set) ||
		    capability->set == CAPABILITY(SYSLOG))
			continue;
		if (capability->needed_by == BACKENDS_NONE || (capability->needed_by & wanted))
			log_warn("CAP_%s is missing: %s; in a pod, add %s to "
				 "securityContext.capabilities.add",
				 capability->name, capability->loss, capability->name);
	}
}

static void keep(uint64_t capabilities)
{
	int r = capabilities_keep(capabilities);

	if (r < 0)
		log_warn_errno(r, "could not drop unneeded capabilities; continuing with them");
}

/* Without CAP_SETPCAP, as in a pod, the bounding set stays as it is. That does no harm, since no
 * program that this process runs can gain privileges. */
void least_privilege_begin(enum backend_set wanted)
{
	warn_of_missing(wanted);
	int r = capabilities_deny_programs();
	if (r < 0)
		log_debug_errno(r,
				"could not empty the capability bounding set; continuing with it");
	keep(OF_READER | OF_OTHERS | OF_START);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		log_warn_errno(
			-errno,
			"could not set no_new_privs or clear the dumpable flag; child programs "
			"could gain privileges, or other processes could read the agent's memory");
}

void least_privilege_finish(bool has_bpf)
{
	keep(has_bpf ? OF_READER : OF_READER & ~CAPABILITY(BPF));
}
