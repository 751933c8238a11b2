/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/libdw_stack.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/fileio.h"

#define ANY_PID 1
/* DWARF's numbers. */
#if CFI_IS_ARM64
#define RETURN_ADDRESS CFI_LR
#else
#define RETURN_ADDRESS 16
#endif

#define ADDRESS_BITS 48 /* on arm64; above is a signature (pointer authentication) */

/* All of the vDSO: an ELF file of one or two pages, whose section headers are at its end. */
#define VDSO_MAX_BYTES 16384

struct libdw {
	Dwfl *dwfl; /* owned */
	const struct perf_copy *copy; /* borrowed; while one is unwound */
	uint64_t not_copied; /* memory that was wanted last and is not in it */
	bool left_copy; /* it was set */
	struct libdw_stack *stack; /* out */
};

/* No debug files: the oracle is to read what is there on every machine. */
/* NOLINTNEXTLINE(readability-function-size): libdwfl wants these parameters */
static int find_no_debuginfo(Dwfl_Module *module, void **user_data, const char *name,
			     Dwarf_Addr base, const char *file_name, const char *debuglink_file,
			     GElf_Word debuglink_crc, char **debuginfo_file_name)
{
	(void)module;
	(void)user_data;
	(void)name;
	(void)base;
	(void)file_name;
	(void)debuglink_file;
	(void)debuglink_crc;
	(void)debuginfo_file_name;
	return -1;
}

static const Dwfl_Callbacks dwfl_callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return ANY_PID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

/* libdw knows nothing of signatures. A word that without one is an address of
 * code is a return address. */
static Dwarf_Word take_signature_off(Dwfl *dwfl, Dwarf_Word word)
{
	Dwarf_Word mask = CFI_IS_ARM64 ? (UINT64_C(1) << ADDRESS_BITS) - 1 : UINT64_MAX;
	Dwarf_Word address = word & mask;

	return address != word && dwfl_addrmodule(dwfl, address) ? address : word;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	struct libdw *libdw = arg;
	uint64_t offset = address - libdw->copy->registers[CFI_SP];

	if (offset >= libdw->copy->len || libdw->copy->len - offset < sizeof(*result)) {
		libdw->left_copy = true;
		libdw->not_copied = address;
		return false;
	}
	memcpy(result, libdw->copy->bytes + offset, sizeof(*result));
	*result = take_signature_off(dwfl, *result);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *thread_arg)
{
	const struct libdw *libdw = thread_arg;
	uint64_t registers[NR_DWARF_REGISTERS];

	memcpy(registers, libdw->copy->registers, sizeof(registers));
	if (!CFI_IS_ARM64)
		return dwfl_thread_state_registers(thread, 0, NR_DWARF_REGISTERS, registers);
	registers[RETURN_ADDRESS] = take_signature_off(libdw->dwfl, registers[RETURN_ADDRESS]);
	dwfl_thread_state_register_pc(thread, registers[NR_REGS]);
	return dwfl_thread_state_registers(thread, 0, NR_REGS, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* All processes have the same vDSO; libdw is given this one's as a file. */
static int report_vdso(Dwfl *dwfl, const struct mapping_list *list)
{
	uintptr_t address = getauxval(AT_SYSINFO_EHDR);
	const void *vdso = (const void *)address; /* NOLINT(performance-no-int-to-ptr) */

	for (size_t i = 0; vdso && i < list->nr_items; i++) {
		const struct mapping *mapping = &list->items[i];
		size_t len = mapping->end - mapping->start;

		if (strcmp(mapping->file->path, "[vdso]") != 0 || len > VDSO_MAX_BYTES)
			continue;
		int fd = memfd_create("vdso", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		int r = fd_write_all(fd, vdso, len);
		if (r == 0 && !dwfl_report_elf(dwfl, "[vdso]", "[vdso]", fd, mapping->start, false))
			r = -EBADMSG;
		if (r < 0)
			close(fd);
		return r;
	}
	return 0;
}

static int report_modules(Dwfl *dwfl, const char *maps, size_t len, const struct mapping_list *list)
{
	_cleanup_fclose_ FILE *file = fmemopen((char *)(uintptr_t)maps, len, "re");
	if (!file)
		return -errno;
	dwfl_report_begin(dwfl);
	if (dwfl_linux_proc_maps_report(dwfl, file) != 0)
		return -EBADMSG;
	int r = report_vdso(dwfl, list);
	if (dwfl_report_end(dwfl, NULL, NULL) != 0)
		return -EBADMSG;
	return r;
}

int libdw_new(const char *maps, size_t len, const struct mapping_list *list,
	      struct libdw **ret_libdw)
{
	_cleanup_(libdw_freep) struct libdw *libdw = calloc(1, sizeof(*libdw));

	if (!libdw)
		return -ENOMEM;
	libdw->dwfl = dwfl_begin(&dwfl_callbacks);
	if (!libdw->dwfl)
		return -ENOMEM;
	int r = report_modules(libdw->dwfl, maps, len, list);
	if (r < 0)
		return r;
	if (!dwfl_attach_state(libdw->dwfl, NULL, ANY_PID, &thread_callbacks, libdw))
		return -EBADMSG;
	*ret_libdw = take_ptr(libdw);
	return 0;
}

void libdw_free(struct libdw *libdw)
{
	if (!libdw)
		return;
	if (libdw->dwfl)
		dwfl_end(libdw->dwfl);
	free(libdw);
}

/* The rules for the code at an address, or NULL; the caller frees them. */
static Dwarf_Frame *find_rules(Dwfl_Module *module, Dwarf_Addr address)
{
	Dwarf_Addr bias = 0;
	Dwarf_Frame *frame = NULL;

	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0)
		return frame;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, address - bias, &frame) == 0)
		return frame;
	return NULL;
}

static bool has_cfi(Dwfl_Module *module, Dwarf_Addr address)
{
	_cleanup_free_ Dwarf_Frame *frame = find_rules(module, address);

	return frame;
}

/* Where the rules find the return address. */
enum return_rule { RETURN_NOWHERE, RETURN_IN_REGISTER, RETURN_ELSEWHERE };

static enum return_rule find_return_rule(Dwfl_Module *module, Dwarf_Addr address)
{
	_cleanup_free_ Dwarf_Frame *frame = module ? find_rules(module, address) : NULL;
	Dwarf_Op place[3], *operations;
	size_t nr_operations;

	if (!frame ||
	    dwarf_frame_register(frame, RETURN_ADDRESS, place, &operations, &nr_operations) != 0)
		return RETURN_ELSEWHERE;
	if (nr_operations > 0)
		return RETURN_ELSEWHERE;
	return operations == place ? RETURN_NOWHERE : RETURN_IN_REGISTER;
}

static bool is_root(Dwfl_Module *module, Dwarf_Addr address)
{
	return find_return_rule(module, address) == RETURN_NOWHERE;
}

static const char *module_name(Dwfl_Module *module)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (!name)
		return "?";
	return slash ? slash + 1 : name;
}

/* Returns whether the rules are wrong: the called function overwrote the register
 * with the return address. */
static bool is_untold(struct libdw *libdw, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(libdw->dwfl, address - 1);

	return find_return_rule(module, address - 1) == RETURN_IN_REGISTER;
}

static bool repeats(const struct libdw_stack *stack)
{
	size_t nr = stack->nr_frames;

	return nr > 2 && stack->frames[nr - 1] == stack->frames[nr - 2];
}

/* Wrong rules lead to the same frame again and again. */
static int on_frame(Dwfl_Frame *state, void *arg)
{
	struct libdw *libdw = arg;
	struct libdw_stack *stack = libdw->stack;
	Dwarf_Addr pc;

	if (stack->nr_frames == LIBDW_MAX_FRAMES || !dwfl_frame_pc(state, &pc, NULL))
		return DWARF_CB_ABORT;
	stack->frames[stack->nr_frames++] = pc;
	if (CFI_IS_ARM64 && repeats(stack) && is_untold(libdw, pc))
		return DWARF_CB_ABORT;
	return DWARF_CB_OK;
}

/* Why the last frame has no caller. Return addresses belong to the call before them. */
static void explain(struct libdw *libdw, const char *message, struct libdw_stack *stack)
{
	uint64_t pc = stack->nr_frames ? stack->frames[stack->nr_frames - 1] : 0;
	Dwfl_Module *module = dwfl_addrmodule(libdw->dwfl, pc - 1);

	if (!module)
		snprintf(stack->why, sizeof(stack->why), "code without a file");
	else if (!has_cfi(module, pc - 1))
		snprintf(stack->why, sizeof(stack->why), "no CFI in %s", module_name(module));
	else
		snprintf(stack->why, sizeof(stack->why), "%s in %s", message, module_name(module));
}

/* A frame pointer that was none leads out of the code, or to 0 where there is no more caller. */
static void cut_to_code(struct libdw *libdw, const struct mapping_list *list,
			struct libdw_stack *stack)
{
	for (size_t i = 1; i < stack->nr_frames; i++) {
		if (mapping_list_find(list, stack->frames[i] - 1))
			continue;
		stack->end = stack->frames[i] == 0 ? LIBDW_END_OF_STACK : LIBDW_FAILED;
		stack->nr_frames = i;
		if (stack->end == LIBDW_FAILED)
			explain(libdw, "leaves the code", stack);
		return;
	}
}

static bool is_without_cfi(struct libdw *libdw, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(libdw->dwfl, address);

	return !module || !has_cfi(module, address);
}

static void cut(struct libdw *libdw, struct libdw_stack *stack, size_t nr_frames,
		enum libdw_end end)
{
	stack->end = end;
	stack->nr_frames = nr_frames;
	explain(libdw, "guesses", stack);
}

/* libdw guesses some callers on arm64. It takes the link register for the caller of
 * code without CFI, as of a stub for calls between files, which it is in a leaf, but not in the
 * code that ends a signal handler. Then it goes on from the frame pointer, as if that were not the
 * caller's own: it misses a frame. */
static void cut_to_known(struct libdw *libdw, struct libdw_stack *stack)
{
	for (size_t i = 0; CFI_IS_ARM64 && i + 1 < stack->nr_frames; i++) {
		if (is_without_cfi(libdw, stack->frames[i] - (i > 0))) {
			cut(libdw, stack, i + 1, LIBDW_FAILED);
			return;
		}
		if (i > 0 && is_untold(libdw, stack->frames[i])) {
			cut(libdw, stack, i + 1, LIBDW_UNTOLD);
			return;
		}
	}
}

static uint64_t last_frame(const struct libdw_stack *stack)
{
	return stack->nr_frames ? stack->frames[stack->nr_frames - 1] : 0;
}

/* For libdw a stack also ends well at a return address of 0, as at the bottom of each of Go's
 * system stacks, and where the place of a return address cannot be found because a register could
 * not be read before. Its root is where the rules say so, or where a frame pointer of 0 ends the
 * list of frames: libdw reads where it points to all the same. */
static enum libdw_end how_it_ended(struct libdw *libdw, int result, const struct libdw_stack *stack)
{
	uint64_t address = last_frame(stack) - (stack->nr_frames > 1);

	if (is_root(dwfl_addrmodule(libdw->dwfl, address), address) ||
	    (libdw->left_copy && libdw->not_copied == 0))
		return LIBDW_COMPLETE;
	return result == 0 || libdw->left_copy ? LIBDW_END_OF_STACK : LIBDW_FAILED;
}

/* Returns whether the frame `i` frames before the last one is of that function of Go's, of
 * either calling convention. */
static bool is_of(struct libdw *libdw, const struct libdw_stack *stack, size_t i,
		  const char *go_name)
{
	if (i >= stack->nr_frames)
		return false;

	size_t index = stack->nr_frames - 1 - i;
	uint64_t address = stack->frames[index] - (index > 0);
	Dwfl_Module *module = dwfl_addrmodule(libdw->dwfl, address);
	const char *name = module ? dwfl_module_addrname(module, address) : NULL;

	return name && strncmp(name, go_name, strlen(go_name)) == 0;
}

/* Two roots of Go's are none. runtime.systemstack() goes on on another stack, whose bottom is there
 * for debuggers alone, and runtime.sigtramp() is called by a signal. */
static void cut_roots_of_go(struct libdw *libdw, struct libdw_stack *stack)
{
	if (stack->end != LIBDW_COMPLETE)
		return;
	if (is_of(libdw, stack, 1, "runtime.systemstack")) {
		stack->end = LIBDW_END_OF_STACK;
		stack->nr_frames--;
	} else if (is_of(libdw, stack, 0, "runtime.sigtramp")) {
		stack->end = LIBDW_END_OF_STACK;
	}
}

void libdw_unwind(struct libdw *libdw, const struct mapping_list *list,
		  const struct perf_copy *copy, struct libdw_stack *ret_stack)
{
	libdw->copy = copy;
	libdw->left_copy = false;
	libdw->stack = ret_stack;
	ret_stack->nr_frames = 0;
	ret_stack->why[0] = '\0';
	int result = dwfl_getthread_frames(libdw->dwfl, ANY_PID, on_frame, libdw);
	const char *message = dwfl_errmsg(-1);
	ret_stack->end = how_it_ended(libdw, result, ret_stack);
	if (ret_stack->end == LIBDW_FAILED)
		explain(libdw, message, ret_stack);
	cut_to_code(libdw, list, ret_stack);
	cut_to_known(libdw, ret_stack);
	cut_roots_of_go(libdw, ret_stack);
}

void libdw_describe(struct libdw *libdw, uint64_t address, char *ret_text, size_t text_bytes)
{
	Dwfl_Module *module = dwfl_addrmodule(libdw->dwfl, address);
	Dwarf_Addr bias = 0;
	GElf_Off offset;
	GElf_Sym symbol;

	if (!module) {
		snprintf(ret_text, text_bytes, "?");
		return;
	}
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL,
						NULL);
	(void)dwfl_module_getelf(module, &bias);
	snprintf(ret_text, text_bytes, "%s+%#llx %s%s", module_name(module),
		 (unsigned long long)(address - bias), name ? name : "",
		 has_cfi(module, address) ? "" : " (no CFI)");
}
