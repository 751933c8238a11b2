/* SPDX-License-Identifier: Apache-2.0 */
/* What works inside, and what does not, each tried in a process that is given up for it. The
 * file with debug information is this program, whose debug sections are compressed. */
#include "worker/worker_sandbox.h"

#include "base/cleanup.h"
#include "base/cold_file.h"
#include "base/fileio.h"
#include "worker/worker_process.h"

#include <elfutils/libdw.h>
#include <dwarf.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"

#define SORTED_BYTES 65536 /* more than qsort() has on its stack */
#define BIG_BYTES ((size_t)64 << 20)
#define BIGGER_BYTES ((size_t)128 << 20)

static int own_fd = -EBADF;

/* Runs in a process inside the sandbox; returns how that ended, as waitpid(2) gives it. */
static int run_inside(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit no_core = { 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		_exit(worker_sandbox_enter(WORKER_SANDBOX_FILES) == 0 ? body() : 100);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int compare_bytes(const void *a, const void *b)
{
	return memcmp(a, b, 4);
}

static int use_memory(void)
{
	char *bytes = malloc(BIG_BYTES);

	if (!bytes)
		return 1;
	for (size_t i = 0; i < SORTED_BYTES; i++)
		bytes[i] = (char)(i * 7919);
	qsort(bytes, SORTED_BYTES / 4, 4, compare_bytes);
	char *moved = realloc(bytes, BIGGER_BYTES);
	free(moved ? moved : bytes);
	malloc_trim(0);
	mallinfo2();
	return moved ? 0 : 1;
}

static int use_file(void)
{
	char bytes[4];
	struct stat st;

	_cleanup_close_ int fd = fcntl(own_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || pread(fd, bytes, 4, 0) != 4 || read(fd, bytes, 4) != 4)
		return 1;
	void *mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	return mapped == MAP_FAILED || munmap(mapped, (size_t)st.st_size) < 0 ? 2 : 0;
}

static int use_file_once(void)
{
	struct cold_file file;
	char bytes[4];

	cold_file_init(&file, own_fd);
	ssize_t n = cold_file_pread(&file, bytes, 4, 0);
	cold_file_done(&file);
	cold_file_drop_all(own_fd);
	return n == 4 ? 0 : 1;
}

static int use_clock(void)
{
	struct timespec now;

	return syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) < 0;
}

static void what_reading_files_needs_works(void **state)
{
	(void)state;
	assert_int_equal(run_inside(use_memory), 0);
	assert_int_equal(run_inside(use_file), 0);
	assert_int_equal(run_inside(use_file_once), 0);
	assert_int_equal(run_inside(use_clock), 0);
}

/* A function to be found in the debug information, with a scope of its own. */
static __attribute__((noinline)) int marker(int turns)
{
	volatile int sum = 0;

	for (int i = 0; i < turns; i++) {
		volatile int square = i * i;

		sum += square;
	}
	return sum;
}

/* Of the function called "marker", when it is in this unit. Where there are variants of it, one
 * entry has no address. */
static bool find_marker(Dwarf_Die *unit, Dwarf_Addr *ret_address)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die) != 0)
		return false;
	do {
		const char *name = dwarf_diename(&die);

		if (dwarf_tag(&die) == DW_TAG_subprogram && name && strcmp(name, "marker") == 0 &&
		    dwarf_lowpc(&die, ret_address) == 0)
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static int describe(Dwarf *dwarf, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die found;
	Dwarf_Die *scopes = NULL;
	int line = 0;

	dwarf_addrdie(dwarf, address, &found); /* clang writes no table for that */
	if (dwarf_getscopes(unit, address, &scopes) < 2)
		return 3;
	free(scopes);
	Dwarf_Line *source = dwarf_getsrc_die(unit, address);
	if (!source || dwarf_lineno(source, &line) < 0 || line == 0)
		return 4;
	return strstr(dwarf_linesrc(source, NULL, NULL), "test_worker_sandbox.c") ? 0 : 5;
}

static int use_libdw(Elf_Cmd command)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header_len;
	int r = 2;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(own_fd, command, NULL);
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	if (!dwarf)
		return 1;
	while (r == 2 && dwarf_nextcu(dwarf, offset, &next, &header_len, NULL, NULL, NULL) == 0) {
		Dwarf_Addr address;
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header_len, &unit) && find_marker(&unit, &address))
			r = describe(dwarf, &unit, address);
		offset = next;
	}
	dwarf_end(dwarf);
	elf_end(elf);
	return r;
}

static int use_libdw_reading(void)
{
	return use_libdw(ELF_C_READ);
}

static int use_libdw_mapping(void)
{
	return use_libdw(ELF_C_READ_MMAP);
}

static void libdw_works(void **state)
{
	(void)state;
	assert_true(marker(3) > 0);
	assert_int_equal(run_inside(use_libdw_reading), 0);
	assert_int_equal(run_inside(use_libdw_mapping), 0);
}

static bool is_refused(long result)
{
	return result < 0 && errno == EACCES;
}

static int use_names(void)
{
	char path[8];
	struct stat st;

	return is_refused(open("/dev/null", O_RDONLY | O_CLOEXEC)) &&
			       is_refused(openat(AT_FDCWD, ".", O_PATH | O_CLOEXEC)) &&
			       is_refused(stat("/", &st)) && is_refused(lstat("/", &st)) &&
			       is_refused(readlink("/proc/self/exe", path, sizeof(path)))
		       ? 0
		       : 1;
}

static int use_old_calls(void)
{
#ifdef SYS_open
	return is_refused(syscall(SYS_open, "/dev/null", O_RDONLY | O_CLOEXEC)) ? 0 : 1;
#else
	return 0;
#endif
}

static int share_memory(void)
{
	void *shared = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED && errno == EACCES ? 0 : 1;
}

static int write_to_standard_error(void)
{
	return write(STDERR_FILENO, "", 0) == 0 ? 0 : 1;
}

static void memory_that_does_not_count_is_refused(void **state)
{
	(void)state;
	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	assert_int_equal(run_inside(share_memory), 0);
	assert_int_equal(run_inside(write_to_standard_error), 0);
}

static void files_are_not_had_by_name(void **state)
{
	(void)state;
	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	assert_int_equal(run_inside(use_names), 0);
	assert_int_equal(run_inside(use_old_calls), 0);
}

static int make_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0;
}

static int make_process(void)
{
	return fork() >= 0;
}

static int run_program(void)
{
	char *const args[] = { (char *)"true", NULL };

	return execve("/bin/true", args, args + 1);
}

static int signal_somebody(void)
{
	return kill(1, 0);
}

static int open_by_openat2(void)
{
	static const uint64_t how[3];

	return (int)syscall(SYS_openat2, AT_FDCWD, "/dev/null", how, sizeof(how));
}

static int map_executable(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, own_fd, 0) == MAP_FAILED;
}

static int make_executable(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static int write_elsewhere(void)
{
	return (int)write(STDOUT_FILENO, "", 0);
}

static int own_file(void)
{
	return fcntl(own_fd, F_SETOWN, 1);
}

#ifdef __x86_64__
/* exit() of 32-bit programs; in 64-bit ones the number is write()'s. */
static int call_as_32_bit(void)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(1), "b"(0) : "memory");
	return result;
}

static int call_as_x32(void)
{
	return (int)syscall(0x40000000 | SYS_exit_group, 0);
}
#endif

static void whatever_else_is_asked_for_kills(void **state)
{
	static int (*const bodies[])(void) = {
		make_socket,	make_process,	 run_program, signal_somebody, open_by_openat2,
		map_executable, make_executable, own_file,    write_elsewhere,
#ifdef __x86_64__
		call_as_32_bit, call_as_x32,
#endif
	};
	(void)state;

	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	for (size_t i = 0; i < array_len(bodies); i++) {
		int status = run_inside(bodies[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
}

/* Of /proc/self/status, through a descriptor opened before. */
static int status_fd = -EBADF;

static int has_no_privileges(void)
{
	static const char *const lines[] = {
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n",
		WORKER_PROCESS_IS_SANITIZED ? "\nSeccomp:\t0\n" : "\nSeccomp:\t2\n",
	};
	char text[8192];
	ssize_t n = pread(status_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 1;
	text[n] = '\0';
	for (size_t i = 0; i < array_len(lines); i++) {
		if (!strstr(text, lines[i]))
			return 10 + (int)i;
	}
	return 0;
}

/* The file tells about the process that opened it, not about who reads it. */
static int enter_and_look(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		status_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
		_exit(worker_sandbox_enter(WORKER_SANDBOX_FILES) == 0 ? has_no_privileges() : 100);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void it_has_no_privileges(void **state)
{
	(void)state;
	assert_int_equal(enter_and_look(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_reading_files_needs_works),
		cmocka_unit_test(libdw_works),
		cmocka_unit_test(memory_that_does_not_count_is_refused),
		cmocka_unit_test(files_are_not_had_by_name),
		cmocka_unit_test(whatever_else_is_asked_for_kills),
		cmocka_unit_test(it_has_no_privileges),
	};

	own_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
