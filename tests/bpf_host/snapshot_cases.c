/* SPDX-License-Identifier: Apache-2.0 */
/* The hard cases of unwinding, to be recorded: each argument is a case. Compiled with
 * optimization and with lazy binding, not like the tests. */
#include "trap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES 65536

/* Keeps a call from being the last thing a function does, and a value from being known. */
#define KEEP(value) __asm__ volatile("" : "+r"(value))

static const char *case_name;

static int is_case(const char *name)
{
	return case_name && strcmp(case_name, name) == 0;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (x == 5 && y != 5)
		trap(TRAP_HERE, 0, 0);
	return (x > y) - (x < y);
}

static void run_qsort(void)
{
	int numbers[] = { 3, 1, 4, 1, 5, 9, 2, 6 };

	qsort(numbers, sizeof(numbers) / sizeof(*numbers), sizeof(*numbers), compare);
}

/* The first call goes through the dynamic linker's resolver. */
static void run_plt(void)
{
	int r;

	trap(TRAP_STEPS, 34, 1);
	r = strcoll("a", "b");
	trap(TRAP_END, 0, 0);
	KEEP(r);
}

static void trap_here(void)
{
	trap(TRAP_HERE, 0, 0);
}

static long add_numbers(long a, long b)
{
	return a + b;
}

/* A function called through a pointer that might change is neither inlined nor tailored to its
 * caller. */
static long (*volatile add)(long, long) = add_numbers;

/* Six registers live across two calls: all of them are pushed and popped. */
static long push_six(long a, long b, long c, long d, long e, long f)
{
	long sum = add(a, b);

	sum += add(c, d) * a + b;
	sum += add(e, f) * c + d;
	return sum * e + f;
}

static long (*volatile pushes)(long, long, long, long, long, long) = push_six;

static void run_prologue(void)
{
	long r;

	trap(TRAP_STEPS, 64, 1);
	r = pushes(1, 2, 3, 4, 5, 6);
	trap(TRAP_END, 0, 0);
	KEEP(r);
}

#if defined(__x86_64__)

struct addends {
	long values[4]; /* too large for registers: on the stack */
};

/* The stack is aligned to 32 bytes and grows in between: gcc finds the arguments through a
 * register (DRAP). */
__attribute__((target("avx"))) static double sum_vectors(long n, double x, struct addends addends)
{
	typedef double vector __attribute__((vector_size(32)));
	vector *many = __builtin_alloca((size_t)n * sizeof(*many));
	volatile vector one = { x, x, x, x };
	const long *values = addends.values;

	for (long i = 0; i < n; i++)
		many[i] = one * (double)add(i, values[0]);
	return many[n - 1][0] + (double)add(values[1], values[2]) + (double)values[3];
}

static double (*volatile aligned)(long, double, struct addends) = sum_vectors;

static void run_drap(void)
{
	double r;

	trap(TRAP_STEPS, 128, 2);
	r = aligned(2, 1.5, (struct addends){ { 1, 2, 3, 4 } });
	trap(TRAP_END, 0, 0);
	__asm__ volatile("" : : "x"(r));
}

#endif

static long sum_on_stack(long n)
{
	long *numbers = __builtin_alloca((size_t)n * sizeof(*numbers));

	for (long i = 0; i < n; i++)
		numbers[i] = add(i, n);
	return numbers[n / 2];
}

static long (*volatile growing)(long) = sum_on_stack;

static void run_alloca(void)
{
	long r;

	trap(TRAP_STEPS, 64, 2);
	r = growing(3);
	trap(TRAP_END, 0, 0);
	KEEP(r);
}

/* The kernel's return from a handler on arm64 has no CFI: there libdw takes the wrong way. */
#if defined(__x86_64__)
#define SIGNAL_FRAMES 0
#define SIGNAL_STEPS TRAP_STEPS
#else
#define SIGNAL_FRAMES 2
#define SIGNAL_STEPS TRAP_END
#endif

/* On a stack of its own, from the middle of a function without a frame; and how it ends:
 * __restore_rt. */
static void on_fault(int signal_number)
{
	static int nr_faults;

	(void)signal_number;
	if (nr_faults++)
		_exit(0);
	trap(TRAP_HERE, SIGNAL_FRAMES, 0);
	trap(SIGNAL_STEPS, 12, 1);
}

static int read_from(volatile int *where)
{
	return *where;
}

static int (*volatile fault)(volatile int *) = read_from;

static void run_signal(void)
{
	stack_t stack = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	int r;

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	r = fault(NULL);
	KEEP(r);
}

/* Assembly that keeps its stack pointer's old value on the stack. Low-level functions: nothing
 * is loaded. */
static void run_openssl(void)
{
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);
	unsigned char *(*sha512)(const unsigned char *, size_t, unsigned char *);
	static unsigned char data[4096], digest[64];

	if (!library)
		_exit(2);
	*(void **)&sha512 = dlsym(library, "SHA512");
	sha512(data, 1, digest);
	trap(TRAP_STEPS_DEREF, 16, 96);
	sha512(data, sizeof(data), digest);
	trap(TRAP_END, 0, 0);
}

static ucontext_t main_context, coroutine_context;

/* Below is __start_context, whose call frame information says nothing of its being the first
 * frame. */
static void coroutine(void)
{
	trap(TRAP_HERE, 2, 0);
	swapcontext(&coroutine_context, &main_context);
	trap(TRAP_HERE, 2, 0);
}

static void run_coroutine(void)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = malloc(STACK_BYTES);
	coroutine_context.uc_stack.ss_size = STACK_BYTES;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&main_context, &coroutine_context);
	trap(TRAP_STEPS, 38, 1); /* as far as it is on the old stack, in glibc 2.36 */
	swapcontext(&main_context, &coroutine_context);
	trap(TRAP_HERE, 0, 0);
}

static void *thread(void *argument)
{
	trap(TRAP_HERE, 0, 0);
	return argument;
}

static void run_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL) == 0)
		pthread_join(id, NULL);
}

/* A clock that the vDSO does not know by itself. */
static void run_vdso(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	trap(TRAP_STEPS_ELSEWHERE, 48, 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	trap(TRAP_END, 0, 0);
}

#if defined(__x86_64__)

/* Hand-written code with a frame pointer and without CFI. */
void call_without_cfi(void (*function)(void));
__asm__(".text\n"
	".type call_without_cfi, @function\n"
	"call_without_cfi:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $48, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	".size call_without_cfi, . - call_without_cfi\n");

static void run_frame_pointer(void)
{
	call_without_cfi(trap_here);
}

#endif

__attribute__((constructor)) static void before_main(int nr_arguments, char **arguments)
{
	case_name = nr_arguments > 1 ? arguments[1] : NULL;
	if (is_case("main"))
		trap(TRAP_HERE, 0, 0);
}

static void run_main(void)
{
	atexit(trap_here);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "alloca", run_alloca }, { "coroutine", run_coroutine },
	{ "main", run_main },	  { "openssl", run_openssl },
	{ "plt", run_plt },	  { "prologue", run_prologue },
	{ "qsort", run_qsort },	  { "signal", run_signal },
	{ "thread", run_thread }, { "vdso", run_vdso },
#if defined(__x86_64__)
	{ "drap", run_drap },	  { "frame_pointer", run_frame_pointer },
#endif
};

/* Its frame grows, so that its CFA is relative to the frame pointer: every stack depends on what
 * its callees saved of that. */
int main(void)
{
	volatile size_t growth = 16;
	char *grown = __builtin_alloca(growth);

	KEEP(grown);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (is_case(cases[i].name)) {
			cases[i].run();
			return 0;
		}
	}
	return 2;
}
