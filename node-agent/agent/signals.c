/* SPDX-License-Identifier: Apache-2.0 */
/* A signal for the process goes to its first thread, if that runs or sleeps so that it can be
 * woken, else to another that does not block it: to the thread "signals", which lets them in while
 * it waits. What went to a thread that sleeps so deep that nothing wakes it, as in a file system
 * that does not answer, stays the process's: the thread finds it when it next begins to wait. So
 * one of the two may hang, and signals are taken all the same. */
#include "agent/signals.h"

#include "base/heartbeat.h"
#include "base/thread.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TIDY_NS (2 * NSEC_PER_SEC) /* to free and to close */
#define WATCH_MAX_NS (30 * NSEC_PER_SEC)
#define LINE_MAX_BYTES 1024
#define LINE_NS (200 * NSEC_PER_MSEC) /* for the last line to be written */
#define HANGS_NS (2 * HEARTBEAT_NAP_NS) /* a thread that only waits reports sooner */

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t reload_requested;

/* This and the next variables are atomic. */
static uint64_t stop_ns = UINT64_MAX; /* when the end was asked for */
static uint64_t end_ns = UINT64_MAX; /* when the process is ended */
static const char *loss; /* static; NULL: nothing can be lost any more */
static int exit_status;
static void (*stop_call)(void); /* NULL: none */
static bool is_ending; /* a thread or the timer writes the last line */

static timer_t end_timer;
static bool has_end_timer;

/* A line that a signal handler can build. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

static void append(struct line *line, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(line->text) - line->len)
		len = sizeof(line->text) - line->len;
	memcpy(line->text + line->len, text, len);
	line->len += len;
}

static void append_seconds(struct line *line, uint64_t ns)
{
	char digits[24];
	size_t i = sizeof(digits);
	uint64_t seconds = ns / NSEC_PER_SEC;

	digits[--i] = '\0';
	do
		digits[--i] = (char)('0' + seconds % 10);
	while ((seconds /= 10) > 0);
	append(line, digits + i);
	append(line, " s");
}

/* Names the threads that keep the program from ending. When nothing is lost by that, it
 * names late threads only. */
static void append_hanging(struct line *line, uint64_t now_ns, bool is_loss)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];
	size_t nr = heartbeat_list(now_ns, list);

	for (size_t i = 0; i < nr; i++) {
		if (list[i].age_ns <= (is_loss ? HANGS_NS : list[i].max_ns))
			continue;
		append(line, "; the thread ");
		append(line, list[i].name);
		append(line, " has made no progress for ");
		append_seconds(line, list[i].age_ns);
	}
}

static void append_ending(struct line *line, uint64_t now_ns)
{
	const char *lost = __atomic_load_n(&loss, __ATOMIC_ACQUIRE);

	append(line, "flamelet: ending by force");
	if (lost) {
		append(line, ", ");
		append_seconds(line, now_ns - signals_stop_ns());
		append(line, " after the signal that requested the end: ");
		append(line, lost);
	}
	size_t len = line->len;
	append_hanging(line, now_ns, lost);
	if (!lost && line->len == len)
		line->len = 0; /* not worth a line */
	else
		append(line, "\n");
}

/* Standard error itself may hang: nothing is written to a full pipe, and a write to a disk that
 * does not answer is not waited for. */
static void end_now(uint64_t now_ns)
{
	struct pollfd error = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct line line = { .len = 0 };

	if (__atomic_exchange_n(&is_ending, true, __ATOMIC_ACQ_REL)) {
		if (now_ns < __atomic_load_n(&end_ns, __ATOMIC_RELAXED) + LINE_NS)
			return;
	} else {
		append_ending(&line, now_ns);
		if (line.len > 0 && poll(&error, 1, 0) == 1) {
			ssize_t n = write(STDERR_FILENO, line.text, line.len);

			(void)n;
		}
	}
	_exit(__atomic_load_n(&exit_status, __ATOMIC_RELAXED));
}

static void end_if_due(uint64_t now_ns)
{
	if (now_ns >= __atomic_load_n(&end_ns, __ATOMIC_ACQUIRE))
		end_now(now_ns);
}

static void on_timer(int signal_number)
{
	(void)signal_number;
	end_if_due(clock_mono_ns());
}

/* Sets the time at which the process ends, unless it is set to an earlier one. */
static void end_at(uint64_t when_ns)
{
	const struct itimerspec time = { .it_value = clock_timespec(when_ns),
					 .it_interval = clock_timespec(LINE_NS) };

	if (when_ns >= __atomic_load_n(&end_ns, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&end_ns, when_ns, __ATOMIC_RELEASE);
	if (has_end_timer)
		timer_settime(end_timer, TIMER_ABSTIME, &time, NULL);
}

static void on_stop(int signal_number)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t never = UINT64_MAX;
	int before = errno;
	void (*call)(void) = __atomic_load_n(&stop_call, __ATOMIC_ACQUIRE);

	if (__atomic_compare_exchange_n(&stop_ns, &never, now_ns, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		end_at(now_ns + SIGNALS_END_NS);
	if (call)
		call();
	signal(signal_number, SIG_DFL);
	errno = before;
}

static void on_reload(int signal_number)
{
	(void)signal_number;
	reload_requested = 1;
}

static void *watch(void *data)
{
	const struct timespec tick = clock_timespec(HEARTBEAT_TICK_NS);
	sigset_t blocked;

	(void)data;
	sigfillset(&blocked);
	for (size_t i = 0; i < array_len(stop_signals); i++)
		sigdelset(&blocked, stop_signals[i]);
	sigdelset(&blocked, SIGALRM);
	heartbeat_begin_ticking("signals", WATCH_MAX_NS);
	do {
		uint64_t now_ns = clock_mono_ns();

		heartbeat_tick(now_ns);
		end_if_due(now_ns);
	} while (ppoll(NULL, 0, &tick, &blocked) == 0 || errno == EINTR);
	return NULL;
}

/* Neither a child that is forked nor the program it becomes has this timer. */
static void make_end_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	has_end_timer = timer_create(CLOCK_MONOTONIC, &event, &end_timer) == 0;
}

static int start_watching(void)
{
	pthread_t thread;

	int r = thread_start("signals", 0, watch, NULL, &thread);
	if (r == 0)
		pthread_detach(thread);
	return r;
}

static void handle_stop_signals(void)
{
	struct sigaction action = { .sa_handler = on_stop };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < array_len(stop_signals); i++) {
		bool is_hang_up = stop_signals[i] == SIGHUP;

		if (is_hang_up && (sigaction(SIGHUP, NULL, &before) < 0 ||
				   before.sa_handler == SIG_IGN)) /* nohup(1) */
			continue;
		sigaction(stop_signals[i], &action, NULL);
	}
}

int signals_setup(const char *what_is_lost, int status)
{
	__atomic_store_n(&exit_status, status, __ATOMIC_RELAXED);
	__atomic_store_n(&loss, what_is_lost, __ATOMIC_RELEASE);
	make_end_timer();
	handle_stop_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return start_watching();
}

bool signals_stop_requested(void)
{
	return signals_stop_ns() != UINT64_MAX;
}

uint64_t signals_stop_ns(void)
{
	return __atomic_load_n(&stop_ns, __ATOMIC_ACQUIRE);
}

void signals_done(int status)
{
	fflush(stdout);
	__atomic_store_n(&exit_status, status, __ATOMIC_RELAXED);
	__atomic_store_n(&loss, NULL, __ATOMIC_RELEASE);
	end_at(clock_mono_ns() + TIDY_NS);
}

void signals_on_stop(void (*call)(void))
{
	__atomic_store_n(&stop_call, call, __ATOMIC_RELEASE);
}

void signals_reload_on_hang_up(void)
{
	struct sigaction action = { .sa_handler = on_reload, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGHUP, &action, NULL);
}

bool signals_take_reload(void)
{
	bool is_requested = reload_requested != 0;

	reload_requested = 0;
	return is_requested;
}
