/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/refusal.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/kernel_file.h"
#include "base/parse.h"
#include "privilege/perf_paranoid.h"

#include <limits.h>
#include <string.h>

#define VALUE_MAX_BYTES 64

static int read_number(const char *proc_dir, const char *name, const char *key)
{
	_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(VALUE_MAX_BYTES);
	uint32_t number;

	if (kernel_file_read_line(proc_dir, name, key, &value) < 0 ||
	    parse_u32(strbuf_str(&value), &number) < 0 || number > INT_MAX)
		return -1;
	return (int)number;
}

struct refusal refusal_of(const char *proc_dir, int error)
{
	return (struct refusal){
		.error = error,
		.capabilities = capabilities_effective(),
		.paranoid = read_number(proc_dir, "sys/kernel/perf_event_paranoid", ""),
		.is_filtered = read_number(proc_dir, "self/status", "Seccomp:") > 0,
	};
}

/* Returns whether a seccomp filter may have caused the error: filters make a system call fail with
 * one of these two numbers. A lack of CAP_PERFMON gives EACCES. */
static bool is_by_filter(const struct refusal *refusal)
{
	return refusal->is_filtered && (refusal->error == -EPERM || refusal->error == -ENOSYS);
}

static bool is_not_permitted(const struct refusal *refusal)
{
	return refusal->error == -EPERM || refusal->error == -EACCES;
}

struct refusal_words refusal_explain_perf(const struct refusal *refusal)
{
	if (is_not_permitted(refusal) &&
	    !capabilities_include(refusal->capabilities, CAPABILITY(PERFMON)))
		return (struct refusal_words){
			"CAP_PERFMON is missing",
			"run as root; in a pod, add PERFMON to securityContext.capabilities.add",
		};
	if (refusal->error == -EACCES && refusal->paranoid > PERF_PARANOID_ALLOWED &&
	    !capabilities_include(refusal->capabilities, CAPABILITY(SYS_ADMIN)))
		return (struct refusal_words){
			"with kernel.perf_event_paranoid above 2, this kernel requires "
			"CAP_SYS_ADMIN instead of CAP_PERFMON",
			"run sysctl kernel.perf_event_paranoid=2 on the node, or add SYS_ADMIN to "
			"the pod's securityContext.capabilities.add; the chart's "
			"security.perfEventParanoid does either",
		};
	if (is_by_filter(refusal))
		return (struct refusal_words){
			"a seccomp filter blocks it",
			"allow perf_event_open in the container's seccomp profile; RuntimeDefault "
			"of an old container runtime blocks it",
		};
	if (is_not_permitted(refusal))
		return (struct refusal_words){
			"a security module (SELinux, AppArmor) blocks it, or other perf users use "
			"up the locked-memory limit",
			"see the kernel log and the audit log; add CAP_IPC_LOCK, or raise ulimit "
			"-l or kernel.perf_event_mlock_kb",
		};
	return (struct refusal_words){ 0 };
}

struct refusal_words refusal_explain_bpf(const struct refusal *refusal)
{
	if (is_not_permitted(refusal) &&
	    !capabilities_include(refusal->capabilities, CAPABILITY(BPF) | CAPABILITY(PERFMON)))
		return (struct refusal_words){
			"CAP_BPF and CAP_PERFMON are required",
			"run as root; in a pod, add BPF and PERFMON to "
			"securityContext.capabilities.add",
		};
	if (is_by_filter(refusal))
		return (struct refusal_words){
			"a seccomp filter blocks it",
			"allow bpf in the container's seccomp profile; RuntimeDefault of an old "
			"container runtime blocks it",
		};
	if (is_not_permitted(refusal))
		return (struct refusal_words){
			"the kernel is locked down, or a security module blocks it",
			"see the kernel log and the audit log",
		};
	if (refusal->error == -ENOSYS)
		return (struct refusal_words){
			"this kernel was built without BPF, or is too old for it",
			"boot Linux 5.10 or newer with CONFIG_BPF_SYSCALL=y",
		};
	return (struct refusal_words){ 0 };
}

void refusal_append_perf(int error, struct strbuf *message)
{
	const struct refusal refusal = refusal_of("/proc", error);
	const struct refusal_words words = refusal_explain_perf(&refusal);

	strbuf_appendf(message, "perf_event_open: %s", strerror(-error));
	if (words.cause)
		strbuf_appendf(message, ": %s (kernel.perf_event_paranoid is %d); %s", words.cause,
			       refusal.paranoid, words.remedy);
}

void refusal_explain_load(int error, struct strbuf *message)
{
	const struct refusal refusal = refusal_of("/proc", error);
	const struct refusal_words words = refusal_explain_bpf(&refusal);

	if (!words.cause)
		return;
	strbuf_clear(message);
	strbuf_appendf(message, "the BPF programs cannot be loaded: %s: %s; %s", strerror(-error),
		       words.cause, words.remedy);
}
