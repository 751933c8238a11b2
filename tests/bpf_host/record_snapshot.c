/* SPDX-License-Identifier: Apache-2.0 */
/* Records where a program asks for it by trap() (trap.h):
 *
 *	record_snapshot OUTPUT PROGRAM CASE
 *
 * The program runs without address randomization and without an environment, so that a record
 * has nothing of the machine but its libraries. */
#include "snapshot_writer.h"
#include "tracee.h"
#include "trap.h"

#include <elfutils/libdw.h>
#include <dwarf.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_STEPS 1000000

struct tracee {
	pid_t pid;
	pid_t tid; /* that stopped */
	struct tracee_registers registers;
	uint64_t first_ip; /* where stepping began */
};

static pid_t start(char **arguments)
{
	char *no_environment[] = { NULL };
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return pid;
	personality(ADDR_NO_RANDOMIZE);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execve(arguments[0], arguments, no_environment);
	_exit(127);
}

static bool is_cfa_a_deref(Dwfl_Module *module, uint64_t address)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t nr_ops;
	bool is_deref = false;

	if (!cfi || dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0)
		return false;
	if (dwarf_frame_cfa(frame, &ops, &nr_ops) == 0)
		for (size_t i = 0; i < nr_ops; i++)
			is_deref |= ops[i].atom == DW_OP_deref;
	free(frame);
	return is_deref;
}

static bool matches(Dwfl *dwfl, const struct tracee *tracee, enum trap what)
{
	Dwfl_Module *here = dwfl_addrmodule(dwfl, tracee->registers.ip);

	switch (what) {
	case TRAP_STEPS_ELSEWHERE:
		return here != dwfl_addrmodule(dwfl, tracee->first_ip);
	case TRAP_STEPS_DEREF:
		return here && is_cfa_a_deref(here, tracee->registers.ip);
	default:
		return true;
	}
}

static void take(const struct tracee *tracee, size_t max_frames)
{
	Dwfl *dwfl = snapshot_attach(tracee->pid);

	snapshot_take(dwfl, tracee->pid, tracee->tid, max_frames);
	dwfl_end(dwfl);
}

/* The next instruction; false when it is a trap, or something else than a step stops the thread. */
static bool step(struct tracee *tracee)
{
	int status;

	if (tracee_is_before_trap(tracee->tid, &tracee->registers) ||
	    ptrace(PTRACE_SINGLESTEP, tracee->tid, NULL, NULL) < 0 ||
	    waitpid(tracee->tid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP)
		return false;
	tracee_read_registers(tracee->tid, &tracee->registers);
	return true;
}

static void follow_steps(struct tracee *tracee)
{
	enum trap what = (enum trap)tracee_argument(&tracee->registers, 0);
	uint64_t max = tracee_argument(&tracee->registers, 1);
	uint64_t stride = tracee_argument(&tracee->registers, 2);
	uint64_t nr_matches = 0;
	unsigned int nr_dropped = 0;
	Dwfl *dwfl = snapshot_attach(tracee->pid);

	tracee->first_ip = tracee->registers.ip;
	for (unsigned int i = 0; i < MAX_STEPS && nr_matches < max * stride; i++) {
		if (!step(tracee))
			break;
		if (!matches(dwfl, tracee, what) || nr_matches++ % stride != 0)
			continue;
		take(tracee, 0);
		nr_dropped += !snapshot_reaches("_start");
	}
	if (nr_dropped)
		warnx("%u places from which libdw does not find the way", nr_dropped);
	dwfl_end(dwfl);
}

/* Returns the signal with which the thread goes on. */
static int handle_stop(struct tracee *tracee, int status)
{
	int signal_number = WSTOPSIG(status);
	uint64_t what;

	if (status >> 16 || signal_number == SIGSTOP)
		return 0;
	if (signal_number != SIGTRAP)
		return signal_number;
	tracee_read_registers(tracee->tid, &tracee->registers);
	if (!tracee_skip_trap(tracee->tid, &tracee->registers))
		return 0;
	what = tracee_argument(&tracee->registers, 0);
	if (what == TRAP_HERE)
		take(tracee, tracee_argument(&tracee->registers, 1));
	else if (what != TRAP_END)
		follow_steps(tracee);
	return 0;
}

static void run(pid_t pid)
{
	struct tracee tracee = { .pid = pid };
	int status;

	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		errx(1, "the program does not start");
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	while ((tracee.tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, tracee.tid, NULL, handle_stop(&tracee, status));
		else if (tracee.tid == pid && (!WIFEXITED(status) || WEXITSTATUS(status)))
			errx(1, "the program fails (wait status %#x)", (unsigned int)status);
	}
	if (errno != ECHILD)
		err(1, "waitpid");
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: record_snapshot OUTPUT PROGRAM CASE\n");
		return 2;
	}
	run(start(argv + 2));
	snapshot_write(argv[1], argv[3]);
	return 0;
}
