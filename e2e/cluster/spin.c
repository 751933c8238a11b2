/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose samples tell by themselves which container they were taken in, though all
 * containers run the same image. The function that takes the CPU time bears a placeholder for a
 * name. At its start the program learns who it is, writes a copy of itself in which that name,
 * wherever it stands, is replaced by an identity of the same length, and executes the copy:
 *
 *	spin_<digest>_<pod uid>_<container id>
 *
 * 16 hex digits of "namespace/pod/container" (FNV-1a), all 32 of the pod's uid, the first 16 of the
 * container's ID. The first three are taken from POD_NAMESPACE, POD_NAME and CONTAINER_NAME in the
 * environment, the other two from the path of the program's own cgroup; what that does not show is
 * zeros. The copy's file name is its identity, too, and so the first 15 characters are its thread's
 * name. Its build id is derived from it.
 *
 *	spin PERCENT [SECONDS [STATUS]]		takes PERCENT of one CPU, for ever or SECONDS long
 *	spin name				says what it is called, and ends
 *
 * SPIN_DIRECTORY is where the copy is made, "/" without it. The last line on standard output is
 * "cpu_us=N": what it took under its name, also when it ends by SIGTERM.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DIGEST_AT 5
#define UID_AT 22
#define ID_AT 55
#define DIGEST_LEN 16
#define UID_LEN 32
#define ID_LEN 16
#define PERIOD_NS 50000000L
#define STEPS 500000

/* Nothing else in the program may spell it: it is replaced wherever it stands. */
#define PLACEHOLDER spin_xxxxxxxxxxxxxxxx_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_xxxxxxxxxxxxxxxx
#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)
#define NAME_LEN (sizeof(STRING(PLACEHOLDER)) - 1)

struct image {
	unsigned char *bytes;
	size_t len;
};

/* Volatile: what stands here in the copy is not what the compiler sees. */
static const volatile char own_name[] = STRING(PLACEHOLDER);
static volatile unsigned long sink;
static volatile sig_atomic_t end_signal;

void PLACEHOLDER(void);

/* About half a millisecond of arithmetic: nearly all time is spent here, not in reading the
 * clock. */
void PLACEHOLDER(void)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < STEPS; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x + 1;
}

static void fail(const char *what)
{
	perror(what);
	exit(3);
}

static void get_own_name(char *ret_name)
{
	for (size_t i = 0; i <= NAME_LEN; i++)
		ret_name[i] = own_name[i];
}

/* The original still has its placeholder, whose x is no hex digit. */
static int is_copy(void)
{
	return own_name[DIGEST_AT] != 'x';
}

static uint64_t add_to_digest(uint64_t digest, const char *text)
{
	for (; *text; text++)
		digest = (digest ^ (unsigned char)*text) * 0x100000001b3ULL;
	return digest;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static void put_digest(char *name)
{
	uint64_t digest = 0xcbf29ce484222325ULL;
	char hex[DIGEST_LEN + 1];

	digest = add_to_digest(digest, variable("POD_NAMESPACE"));
	digest = add_to_digest(digest, "/");
	digest = add_to_digest(digest, variable("POD_NAME"));
	digest = add_to_digest(digest, "/");
	digest = add_to_digest(digest, variable("CONTAINER_NAME"));
	snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)digest);
	memcpy(name + DIGEST_AT, hex, DIGEST_LEN);
}

/* Up to `len` hex digits of a text, over the dashes or underscores of a uid, the rest zeros. */
static void put_hex(char *place, size_t len, const char *text)
{
	memset(place, '0', len);
	for (size_t i = 0; i < len && *text; text++) {
		if (strchr("0123456789abcdef", *text))
			place[i++] = *text;
		else if (*text != '-' && *text != '_')
			break;
	}
}

/* A line of /proc/self/cgroup ends in …/pod<uid>/<container id>, in a
 * private namespace in "/" alone. */
static void put_cgroup(char *name)
{
	char text[4096];
	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *pod, *id;

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	pod = strstr(text, "/pod");
	put_hex(name + UID_AT, UID_LEN, pod ? pod + strlen("/pod") : "");
	id = pod ? strchr(pod + 1, '/') : NULL;
	put_hex(name + ID_AT, ID_LEN, id ? id + 1 : "");
}

static struct image read_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t len = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	struct image self = { .len = len < 0 ? 0 : (size_t)len };

	self.bytes = malloc(self.len);
	if (len < 0 || !self.bytes || pread(fd, self.bytes, self.len, 0) != len)
		fail("/proc/self/exe");
	close(fd);
	return self;
}

static void replace_name(struct image *self, const char *name)
{
	char old_name[NAME_LEN + 1];

	get_own_name(old_name);
	for (size_t i = 0; i + NAME_LEN <= self->len; i++) {
		if (memcmp(self->bytes + i, old_name, NAME_LEN) == 0)
			memcpy(self->bytes + i, name, NAME_LEN);
	}
}

/* The bytes of the build id become those of the name, which differ where the names do. */
static void replace_build_id(struct image *self, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)self->bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(self->bytes + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++) {
		Elf64_Nhdr *note = (Elf64_Nhdr *)(self->bytes + sections[i].sh_offset);
		unsigned char *id = (unsigned char *)(note + 1) + sizeof("GNU");

		if (sections[i].sh_type != SHT_NOTE || note->n_type != NT_GNU_BUILD_ID)
			continue;
		for (size_t at = DIGEST_AT; at < NAME_LEN; at++) {
			size_t k = (at - DIGEST_AT) % note->n_descsz;

			id[k] = (unsigned char)(id[k] * 31 + (unsigned char)name[at]);
		}
	}
}

/* Another run of the same container may have left a file here: it is made anew. */
static void write_program(const struct image *self, const char *path)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, self->bytes, self->len) != (ssize_t)self->len || close(fd) != 0)
		fail(path);
}

static void become_copy(char **argv)
{
	const char *directory = getenv("SPIN_DIRECTORY");
	char name[NAME_LEN + 1];
	char path[4096];
	struct image self = read_self();

	get_own_name(name);
	put_digest(name);
	put_cgroup(name);
	replace_name(&self, name);
	replace_build_id(&self, name);
	snprintf(path, sizeof(path), "%s/%s", directory ? directory : "", name);
	write_program(&self, path);
	execv(path, argv);
	fail(path);
}

static long long clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Takes its share of each period; ends with the last period that begins
 * before the end, or a signal. */
static void spin(unsigned long percent, double seconds)
{
	long long end = clock_ns(CLOCK_MONOTONIC) + (long long)(seconds * 1e9);
	long long work_ns = PERIOD_NS / 100 * (long long)percent;
	struct timespec rest = { 0, PERIOD_NS - work_ns };

	while (!end_signal && (seconds < 0 || clock_ns(CLOCK_MONOTONIC) < end)) {
		long long stop = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + work_ns;

		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < stop)
			PLACEHOLDER();
		nanosleep(&rest, NULL);
	}
}

/* The first process of a container does not end at SIGTERM by itself. */
static void end_soon(int number)
{
	end_signal = number;
}

int main(int argc, char **argv)
{
	char name[NAME_LEN + 1];
	long long begin_ns;

	if (argc < 2 || argc > 4) {
		fputs("usage: spin name | PERCENT [SECONDS [STATUS]]\n", stderr);
		return 2;
	}
	signal(SIGTERM, end_soon);
	if (!is_copy())
		become_copy(argv);
	get_own_name(name);
	puts(name);
	fflush(stdout);
	if (strcmp(argv[1], "name") == 0)
		return 0;
	begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	spin(strtoul(argv[1], NULL, 10), argc > 2 ? strtod(argv[2], NULL) : -1);
	printf("cpu_us=%lld\n", (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns) / 1000);
	if (end_signal)
		return 128 + end_signal;
	return argc > 3 ? (int)strtoul(argv[3], NULL, 10) : 0;
}
