/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol worker bounds the time a name takes by a timer, as libiberty has names with which it
 * does not come to an end; here such a name is left by a jump. What it had allocated is lost then:
 * so lost memory is not looked for. Where it jumps out of an allocation the process may be stuck
 * afterwards; the worker ends instead. libiberty's D demangler takes memory without a bound and
 * ends the process when there is no more, which only a worker can afford: here its input is taken
 * for its output, which is ours to shorten. */
#include "base/cleanup.h"
#include "symbol/demangle/demangle.h"
#include "symbol/demangle/short_name.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Of CPU time, for each style; sanitizers are slow, and all of an input's may take a second. */
#define MAX_NAME_US 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static sigjmp_buf give_up;

static void on_timer(int number)
{
	(void)number;
	siglongjmp(give_up, 1);
}

static void set_timer(suseconds_t us)
{
	const struct itimerval timer = { .it_value.tv_usec = us };

	if (setitimer(ITIMER_PROF, &timer, NULL) < 0)
		abort();
}

/* ThreadSanitizer holds signals back. */
#if defined(__SANITIZE_THREAD__)
#define HAS_SIGNALS false
#elif defined(__has_feature)
#define HAS_SIGNALS (!__has_feature(thread_sanitizer))
#else
#define HAS_SIGNALS true
#endif

static void check_style(const char *name, enum demangle_style style)
{
	char *volatile pretty = NULL;

	if (sigsetjmp(give_up, 1) != 0)
		return;
	set_timer(MAX_NAME_US);
	pretty = demangle(name, style);
	set_timer(0);
	if (!pretty || (strlen(pretty) > DEMANGLE_MAX_BYTES && strcmp(pretty, name) != 0))
		abort();
	free(pretty);
}

static void check_short_d(const char *text)
{
	_cleanup_free_ char *text_short = strdup(text);

	if (!text_short || (short_name_d(text, text_short) && strlen(text_short) > strlen(text)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *name = strndup((const char *)data, size);

	if (name)
		check_short_d(name);
	if (name && strncmp(name, "_D", 2) == 0)
		return 0;
	if (!HAS_SIGNALS || !name || signal(SIGPROF, on_timer) == SIG_ERR)
		return 0;
	for (int style = DEMANGLE_NONE; style <= DEMANGLE_FULL; style++)
		check_style(name, (enum demangle_style)style);
	return 0;
}
