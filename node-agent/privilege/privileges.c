/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/privileges.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define CMDLINE_MAX_BYTES ((size_t)1 << 20)

/* capabilities(7) */
const struct capability privileges_table[] = {
	{ "BPF", CAPABILITY(BPF), BACKEND_BPF, "BPF programs cannot be loaded" },
	{ "PERFMON", CAPABILITY(PERFMON), BACKENDS_ALL, "CPU timers cannot be opened" },
	{ "SYS_PTRACE", CAPABILITY(SYS_PTRACE), BACKENDS_NONE,
	  "functions of other users' processes have no names" },
	{ "DAC_READ_SEARCH", CAPABILITY(DAC_READ_SEARCH), BACKENDS_NONE,
	  "new pods are recognised late, and functions of programs that other users keep private "
	  "have no names" },
	{ "CHECKPOINT_RESTORE", CAPABILITY(CHECKPOINT_RESTORE), BACKENDS_NONE,
	  "functions of replaced or deleted programs have no names" },
	{ "SYSLOG", CAPABILITY(SYSLOG), BACKENDS_NONE, "kernel functions have no names" },
};
const size_t nr_privileges = array_len(privileges_table);

static enum backend_set ruled_out(uint64_t capabilities)
{
	enum backend_set backends = BACKENDS_NONE;

	for (size_t i = 0; i < nr_privileges; i++) {
		if (!capabilities_include(capabilities, privileges_table[i].set))
			backends |= privileges_table[i].needed_by;
	}
	return backends;
}

/* Appends the command line with sudo before it. The value of a header may be a secret and is left
 * out. */
static void append_sudo_line(const struct privileges_process *process, struct strbuf *out)
{
	const char *end = process->args + process->args_len;
	bool is_secret = false;

	strbuf_append_str(out, "sudo ");
	text_append_shell_word(out, process->program);
	for (const char *arg = process->args; arg < end; arg += strlen(arg) + 1) {
		if (arg == process->args)
			continue;
		strbuf_append_char(out, ' ');
		if (strncmp(arg, "--otlp-header=", 14) == 0)
			strbuf_append_str(out, "--otlp-header=…");
		else if (is_secret)
			strbuf_append_str(out, "…");
		else
			text_append_shell_word(out, arg);
		is_secret = strcmp(arg, "--otlp-header") == 0;
	}
}

static void append_missing(uint64_t capabilities, struct strbuf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < nr_privileges; i++) {
		if (capabilities_include(capabilities, privileges_table[i].set))
			continue;
		strbuf_appendf(out, "%s%s", separator, privileges_table[i].name);
		separator = ", ";
	}
}

int privileges_check_process(const struct privileges_process *process, struct strbuf *message)
{
	if (process->wanted & ~ruled_out(process->capabilities))
		return 0;
	if (process->is_root) {
		strbuf_append_str(message, "root lacks the capabilities that profiling needs; in a "
					   "pod, set securityContext.capabilities.add: [");
		append_missing(process->capabilities, message);
		strbuf_append_char(message, ']');
	} else {
		strbuf_append_str(message,
				  "profiling needs root, or CAP_BPF and CAP_PERFMON; run: ");
		append_sudo_line(process, message);
	}
	return -EPERM;
}

int privileges_check(enum backend_set wanted, struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf args = strbuf_with_max(CMDLINE_MAX_BYTES);
	char program[PATH_MAX] = "flamelet";
	struct privileges_process process = { .wanted = wanted,
					      .capabilities = capabilities_effective(),
					      .is_root = geteuid() == 0,
					      .program = program };

	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (len > 0)
		program[len] = '\0';
	if (file_read_at(AT_FDCWD, "/proc/self/cmdline", &args) == 0) {
		process.args = strbuf_str(&args);
		process.args_len = args.len;
	}
	return privileges_check_process(&process, message);
}
