/* SPDX-License-Identifier: Apache-2.0 */
#include "code_fixture.h"

#include "program_offset.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define ELF_MAX_BYTES ((size_t)256 << 20)
#define JIT_MAX_BYTES ((size_t)16 << 20)
#define START_NS UINT64_C(1000000000000)

/* The mappings without the program's. */
static const char other_maps[] =
	"30000000-30001000 r-xp 00000000 00:00 0 \n"
	"40000000-40001000 r-xp 00000000 00:00 0 [anon:js/code]\n"
	"50000000-50001000 r-xp 00003000 fe:01 101 /opt/gone.so\n"
	"60000000-60001000 r-xp 00000000 fe:01 102 /dev/odd\n"
	"68000000-68001000 r-xp 00002000 00:01 103 /memfd:doublemapper (deleted)\n"
	"70000000-70001000 r-xp 00000000 00:00 0 [vdso]\n";

void code_fixture_identity(const char *path, char ret_text[static CODE_IDENTITY_BYTES])
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	snprintf(ret_text, CODE_IDENTITY_BYTES, "%02x:%02x %" PRIu64, major(st.st_dev),
		 minor(st.st_dev), (uint64_t)st.st_ino);
}

static void put_processes(struct code_fixture *fixture)
{
	char identity[CODE_IDENTITY_BYTES];
	char maps[1024];

	code_fixture_identity("/proc/self/exe", identity);
	snprintf(maps, sizeof(maps),
		 "10000000-20000000 r-xp 00000000 %s /opt/program\n"
		 "20000000-20001000 rw-p 00001000 %s /opt/program\n%s",
		 identity, identity, other_maps);
	proc_fixture_put(&fixture->proc, CODE_PID, START_NS, maps);
	snprintf(maps, sizeof(maps), "7f0000000000-7f0010000000 r-xp 00000000 %s /opt/program\n",
		 identity);
	proc_fixture_put(&fixture->proc, CODE_FORKED_PID, START_NS, maps);
}

static void link_file(const struct code_fixture *fixture, const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/%s", fixture->proc.dir, CODE_PID, name);
	assert_int_equal(symlink(target, path), 0);
}

void code_fixture_init(struct code_fixture *fixture)
{
	char path[96];
	char program[512] = "";

	proc_fixture_init(&fixture->proc, 8);
	put_processes(fixture);
	snprintf(path, sizeof(path), "%s/%d/map_files", fixture->proc.dir, CODE_PID);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	link_file(fixture, "mountinfo", "/proc/self/mountinfo");
	link_file(fixture, "map_files/10000000-20000000", program);
	link_file(fixture, "map_files/60000000-60001000", "/dev/null");
	link_file(fixture, "map_files/68000000-68001000", "/dev/null");

	const struct elf_cache_opts opts = {
		.proc_fd = fixture->proc.proc_fd,
		.max_bytes = ELF_MAX_BYTES,
		.demangle = DEMANGLE_SHORT,
		.debug_files = { .host_root_fd = -EBADF },
	};
	assert_int_equal(elf_cache_new(&opts, &fixture->elfs), 0);
	const struct jit_cache_opts jits = {
		.proc_fd = fixture->proc.proc_fd,
		.max_bytes = JIT_MAX_BYTES,
	};
	assert_int_equal(jit_cache_new(&jits, &fixture->jits), 0);
	assert_int_equal(window_new(CODE_NOW, CODE_NOW, PROFILE_CPU, &fixture->window), 0);
	fixture->locator = (struct locator){ .processes = fixture->proc.table,
					     .elfs = fixture->elfs,
					     .jits = fixture->jits,
					     .window = fixture->window };
}

void code_fixture_done(struct code_fixture *fixture)
{
	window_free(fixture->window);
	elf_cache_free(fixture->elfs);
	jit_cache_free(fixture->jits);
	proc_fixture_done(&fixture->proc);
}

void code_fixture_next_window(struct code_fixture *fixture)
{
	uint64_t start_ns = fixture->window->end_ns;

	window_free(fixture->window);
	assert_int_equal(window_new(start_ns, start_ns, PROFILE_CPU, &fixture->window), 0);
	fixture->locator.window = fixture->window;
}

uint64_t code_fixture_offset(void (*function)(void))
{
	return program_offset((uintptr_t)function);
}

uint32_t code_fixture_locate(struct code_fixture *fixture, const struct sample_event *event)
{
	uint32_t stack = UINT32_MAX;

	assert_int_equal(locate_stack(&fixture->locator, event, &stack), 0);
	return stack;
}

uint32_t code_fixture_frame(const struct code_fixture *fixture, uint32_t stack, size_t n)
{
	const struct profile *profile = builder_peek(fixture->window->builder);

	assert_true(stack < profile->nr_stacks);
	assert_true(n < profile->stacks[stack].nr);
	return profile->stack_locations[profile->stacks[stack].first + n];
}

int code_fixture_set_up(void **state)
{
	struct code_fixture *fixture = test_calloc(1, sizeof(*fixture));

	code_fixture_init(fixture);
	*state = fixture;
	return 0;
}

int code_fixture_tear_down(void **state)
{
	code_fixture_done(*state);
	test_free(*state);
	return 0;
}
