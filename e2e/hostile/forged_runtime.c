/* SPDX-License-Identifier: Apache-2.0 */
/* Claims to be a language runtime, by its exported symbols, and lies:
 *
 *	forged_runtime cycles	each word of the runtime's state points to a word before it, or to itself
 *	forged_runtime rewrite	a thread writes pointers, lengths and noise over that state for ever
 *	forged_runtime hold	that state is in pages that a userfaultfd holds
 *	forged_runtime FILE	that state is a file's, whose file system may not answer
 *	forged_runtime many	2000 processes that do as in "cycles", and are busy in turns
 *
 * Build it with -rdynamic and one of -DPYTHON, -DJAVA and -DV8. Exit status 77: this kernel does
 * not allow it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096UL
#define NR_WORDS 65536UL
#define NR_PROCESSES 2000
#define CANNOT_RUN 77

__attribute__((aligned(4096))) static volatile uint64_t state[NR_WORDS];

#ifdef PYTHON
extern volatile uint64_t _PyRuntime[NR_WORDS] __attribute__((alias("state")));
unsigned long Py_Version = 0x030b02f0;
#endif

#ifdef JAVA
#define STATE_ENTRIES(prefix, entry)                                                               \
	volatile uint64_t *prefix##s = state;                                                      \
	uint64_t entry##ArrayStride = 64;                                                          \
	uint64_t entry##NameOffset = 0
#define OFFSET(name, value) uint64_t gHotSpotVM##name##Offset = (value)

STATE_ENTRIES(gHotSpotVMStruct, gHotSpotVMStructEntry);
STATE_ENTRIES(gHotSpotVMType, gHotSpotVMTypeEntry);
STATE_ENTRIES(gHotSpotVMIntConstant, gHotSpotVMIntConstantEntry);
STATE_ENTRIES(gHotSpotVMLongConstant, gHotSpotVMLongConstantEntry);
OFFSET(StructEntryTypeName, 0);
OFFSET(StructEntryFieldName, 8);
OFFSET(StructEntryTypeString, 16);
OFFSET(StructEntryIsStatic, 24);
OFFSET(StructEntryOffset, 32);
OFFSET(StructEntryAddress, 40);
OFFSET(TypeEntryTypeName, 0);
OFFSET(TypeEntrySuperclassName, 8);
OFFSET(TypeEntrySize, 32);
OFFSET(IntConstantEntryValue, 8);
OFFSET(LongConstantEntryValue, 8);
#endif

#ifdef V8
int v8dbg_HeapObjectTag = 1;
int _ZN2v88internal7Version6major_E = 12;
int v8dbg_SmiTag = 0;
int v8dbg_SmiTagMask = 1;
int v8dbg_frametype_EntryFrame = 1;
int v8dbg_frametype_InterpretedFrame = 13;
int v8dbg_off_fp_function = -16;
int v8dbg_class_SharedFunctionInfo__length__uint16_t = 0x7fffffff;
int v8dbg_class_Script__source__Object = 1;
#endif

static void make_cycles(void)
{
	for (unsigned long i = 0; i < NR_WORDS; i++)
		state[i] = (uint64_t)&state[i % 3 == 0 ? i : i / 2];
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void *rewrite(void *data)
{
	uint64_t seed = 0x9e3779b97f4a7c15ULL;

	for (;;) {
		uint64_t random = next_random(&seed);
		const uint64_t values[] = { random, random >> 40, ~0ULL - (random & 4095),
					    (uint64_t)&state[random % NR_WORDS] };

		state[(random >> 20) % NR_WORDS] = values[random >> 62];
	}
	return data;
}

static int hold(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)state, .len = sizeof(state) },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		return -1;
	return madvise((void *)(uintptr_t)state, sizeof(state), MADV_DONTNEED);
}

/* Readers wait for ever if the file system does not answer. */
static int map_over(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *place = (void *)(uintptr_t)state;

	if (fd < 0)
		return -1;
	void *pages = mmap(place, sizeof(state), PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	close(fd);
	return pages == MAP_FAILED ? -1 : 0;
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(unsigned long turns);
__attribute__((noinline)) void _PyEval_EvalFrameDefault(unsigned long turns)
{
	while (turns--)
		__asm__ volatile("" : : : "memory");
}

static void be_busy_sometimes(void)
{
	const struct timespec pause = { .tv_sec = 2 };

	for (;;) {
		_PyEval_EvalFrameDefault(5000000);
		nanosleep(&pause, NULL);
	}
}

static void start_many(void)
{
	for (int i = 0; i < NR_PROCESSES; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, 9);
			be_busy_sometimes();
		}
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "cycles";
	pthread_t thread;

	make_cycles();
	if (strcmp(mode, "rewrite") == 0 && pthread_create(&thread, NULL, rewrite, NULL) != 0)
		return CANNOT_RUN;
	if (strcmp(mode, "hold") == 0 && hold() < 0)
		return CANNOT_RUN;
	if (mode[0] == '/' && map_over(mode) < 0)
		return CANNOT_RUN;
	if (strcmp(mode, "many") == 0)
		start_many();
	for (;;)
		_PyEval_EvalFrameDefault(100000000);
}
