/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers and the thread that draws share the variables below. A handler only calls functions that
 * are safe there: write, poll, tcsetattr, dup2, kill, sigaction. */
#include "top/terminal.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 120 /* of a file */
#define DEFAULT_LINES 40
#define COLUMNS_MIN 20
#define COLUMNS_MAX 1000
#define STALL_MS 500
#define RESTORE_STALL_MS 200
#define MESSAGES_MAX_BYTES 65536
#define LINE_MAX_BYTES 1024

/* Alternate page, no cursor, no wrapping. */
#define ENTER_SCREEN "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE_SCREEN "\033[0m\033[?7h\033[?25h\033[?1049l"

static const int crash_signals[] = { SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };

static struct termios before; /* the user's */
static volatile sig_atomic_t is_open;
static volatile sig_atomic_t is_entered; /* the screen is ours at the moment */
static volatile sig_atomic_t must_redraw;
static int screen_fd = -EBADF; /* writes to the terminal without waiting */
static int held_fd = -EBADF; /* takes the messages; -EBADF: they are not held */
static int error_fd = -EBADF; /* standard error before */
static off_t message_end; /* of the last one that was taken */

static bool has_value(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool shows_utf8(void)
{
	const char *locale = has_value("LC_ALL")     ? getenv("LC_ALL")
			     : has_value("LC_CTYPE") ? getenv("LC_CTYPE")
						     : getenv("LANG");

	return !locale || !*locale || strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8");
}

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return term && strcmp(term, "dumb") == 0;
}

bool terminal_is_usable(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !is_dumb();
}

void terminal_get_style(int fd, struct cells_style *ret_style)
{
	struct winsize size = { 0 };
	uint64_t columns = DEFAULT_COLUMNS;
	bool is_terminal = isatty(fd);

	if (has_value("COLUMNS") && parse_u64(getenv("COLUMNS"), &columns) < 0)
		columns = DEFAULT_COLUMNS;
	if (columns < COLUMNS_MIN || columns > COLUMNS_MAX)
		columns = DEFAULT_COLUMNS;
	if (is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	*ret_style = (struct cells_style){
		.columns = (unsigned int)columns,
		.lines = size.ws_row > 0 ? size.ws_row : DEFAULT_LINES,
		.is_utf8 = shows_utf8(),
		.has_color = is_terminal && !is_dumb() && !has_value("NO_COLOR"),
	};
}

/* A terminal that takes nothing for a while misses the rest of the text. */
static int write_within(const char *text, size_t len, int stall_ms)
{
	int r = fd_write_within(screen_fd, text, len, stall_ms);

	return r == -ETIMEDOUT ? 0 : r;
}

static int enter(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN); /* Ctrl-C and Ctrl-Z stay signals */
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return -errno;
	is_entered = 1;
	return write_within(ENTER_SCREEN, sizeof(ENTER_SCREEN) - 1, STALL_MS);
}

static void leave(void)
{
	if (!is_entered)
		return;
	is_entered = 0;
	int r = write_within(LEAVE_SCREEN, sizeof(LEAVE_SCREEN) - 1, RESTORE_STALL_MS);
	(void)r; /* there is nothing else to try */
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void terminal_restore(void)
{
	int error = errno;

	is_open = 0;
	leave();
	if (error_fd >= 0)
		dup2(error_fd, STDERR_FILENO);
	errno = error;
}

static void on_crash(int signal_number)
{
	terminal_restore();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void handle(int signal_number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

/* Stops the process as the signal would have done without a handler: not if nobody could continue
 * it, as in a container without a shell. */
static void on_suspend(int signal_number)
{
	int error = errno;

	leave();
	handle(signal_number, SIG_DFL, 0);
	kill(getpid(), signal_number);
	handle(signal_number, on_suspend, SA_RESTART | SA_NODEFER);
	must_redraw = 1;
	errno = error;
}

static void on_change(int signal_number)
{
	(void)signal_number;
	must_redraw = 1;
}

static void handle_signals(void)
{
	for (size_t i = 0; i < array_len(crash_signals); i++)
		handle(crash_signals[i], on_crash, (int)SA_RESETHAND);
	handle(SIGTSTP, on_suspend, SA_RESTART | SA_NODEFER);
	handle(SIGCONT, on_change, SA_RESTART);
	handle(SIGWINCH, on_change, SA_RESTART);
}

/* Opens the terminal once more: not to wait is a property of the open file, and the user's shell
 * uses the other one. */
static int open_screen(void)
{
	int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd >= 0 ? fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Without the memory for it, messages are not held. */
static void hold_messages(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	held_fd = memfd_create("messages", MFD_CLOEXEC);
	if (held_fd < 0)
		return;
	fcntl(held_fd, F_SETFL, O_APPEND);
	error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (error_fd >= 0)
		dup2(held_fd, STDERR_FILENO);
}

int terminal_open(void)
{
	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return -errno;
	screen_fd = open_screen();
	if (screen_fd < 0)
		return -errno;
	handle_signals();
	hold_messages();
	is_open = 1;
	int r = enter();
	if (r < 0)
		terminal_close();
	return r;
}

/* Writes the messages that were held to standard error. */
static void release_messages(void)
{
	_cleanup_free_ char *text = malloc(MESSAGES_MAX_BYTES);
	ssize_t n = text ? pread(held_fd, text, MESSAGES_MAX_BYTES, 0) : 0;

	if (n > 0 && fd_write_all(STDERR_FILENO, text, (size_t)n) < 0)
		return;
}

void terminal_close(void)
{
	terminal_restore();
	if (held_fd >= 0)
		release_messages();
	for (size_t i = 0; i < array_len(crash_signals); i++)
		handle(crash_signals[i], SIG_DFL, 0);
	handle(SIGTSTP, SIG_DFL, 0);
	cleanup_closep(&screen_fd);
	cleanup_closep(&held_fd);
	cleanup_closep(&error_fd);
	screen_fd = held_fd = error_fd = -EBADF;
}

size_t terminal_read(char *bytes, size_t size)
{
	ssize_t n = is_entered ? read(STDIN_FILENO, bytes, size) : 0;

	return n > 0 ? (size_t)n : 0;
}

int terminal_write(const char *text, size_t len)
{
	if (!is_open)
		return 0;
	if (!is_entered) { /* after a stop */
		int r = enter();

		if (r < 0)
			return r;
	}
	return write_within(text, len, STALL_MS);
}

bool terminal_take_redraw(void)
{
	bool is_due = must_redraw != 0;

	must_redraw = 0;
	return is_due;
}

/* Appends the text of a line of the log without its level: level=warn msg="text". */
static void append_text(struct strbuf *out, const char *line)
{
	const char *text = strstr(line, "msg=\"");
	size_t len = strlen(text ? text + 5 : line);

	if (text && len > 0 && text[5 + len - 1] == '"')
		len--;
	strbuf_append(out, text ? text + 5 : line, len);
}

void terminal_take_message(struct strbuf *out)
{
	char text[LINE_MAX_BYTES];
	off_t end = held_fd >= 0 ? lseek(held_fd, 0, SEEK_END) : 0;

	if (end <= message_end)
		return;
	message_end = end;
	off_t start = end < (off_t)sizeof(text) ? 0 : end - (off_t)sizeof(text) + 1;
	ssize_t n = pread(held_fd, text, sizeof(text) - 1, start);
	if (end > MESSAGES_MAX_BYTES && ftruncate(held_fd, 0) == 0)
		message_end = 0;
	if (n <= 0)
		return;
	text[text[n - 1] == '\n' ? n - 1 : n] = '\0';
	const char *newline = strrchr(text, '\n');
	append_text(out, newline ? newline + 1 : text);
}
