/* SPDX-License-Identifier: Apache-2.0 */
/* A file system with one file, which the process `mapper` can read as it likes, and
 * nobody else; without libfuse.
 *
 *	fuse_file CONTENT MOUNTPOINT HOW
 *
 * mounts it, with CONTENT's bytes as MOUNTPOINT/file. HOW tells what others meet. "hang": their
 * reads are never answered; "slow": each takes a second; "lie": each gives other bytes. The
 * mount ends with the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2
#define REQUEST_BYTES (1 << 20)
#define TIME_VALID_S 3600

static char *content;
static size_t content_len;

struct request {
	struct fuse_in_header head;
	char body[REQUEST_BYTES];
};

static void answer(int fd, const struct request *request, int error, const void *data, size_t len)
{
	static char reply[REQUEST_BYTES];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + len),
		.error = error,
		.unique = request->head.unique,
	};

	memcpy(reply, &head, sizeof(head));
	if (len > 0)
		memcpy(reply + sizeof(head), data, len);
	if (write(fd, reply, sizeof(head) + len) < 0 && errno != ENOENT)
		perror("fuse");
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = node == FILE_NODE ? content_len : 4096,
		.blocks = content_len / 512 + 1,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void look_up(int fd, const struct request *request)
{
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE,
		.entry_valid = TIME_VALID_S,
		.attr_valid = TIME_VALID_S,
		.attr = attributes(FILE_NODE),
	};

	if (strcmp(request->body, "file") == 0)
		answer(fd, request, 0, &entry, sizeof(entry));
	else
		answer(fd, request, -ENOENT, NULL, 0);
}

static void read_file(int fd, const struct request *request)
{
	const struct fuse_read_in *wanted = (const void *)request->body;
	size_t offset = wanted->offset < content_len ? (size_t)wanted->offset : content_len;
	size_t len = content_len - offset < wanted->size ? content_len - offset : wanted->size;

	answer(fd, request, 0, content + offset, len);
}

static void serve(int fd, const struct request *request)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION,
		.minor = 31,
		.max_readahead = 0,
		.max_write = 4096,
	};
	struct fuse_attr_out attr = {
		.attr_valid = TIME_VALID_S,
		.attr = attributes(request->head.nodeid),
	};
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (request->head.opcode) {
	case FUSE_INIT:
		answer(fd, request, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		look_up(fd, request);
		break;
	case FUSE_GETATTR:
		answer(fd, request, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(fd, request, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(fd, request);
		break;
	case FUSE_STATFS:
		answer(fd, request, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_ACCESS:
		answer(fd, request, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fd, request, -ENOSYS, NULL, 0);
	}
}

static bool is_mapper(uint32_t pid)
{
	char path[64], name[16] = "";

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t len = read(fd, name, sizeof(name) - 1);
	close(fd);
	return len > 0 && strncmp(name, "mapper\n", (size_t)len) == 0;
}

/* Returns whether to answer a request, after the delay that the mode asks for. */
static bool is_answered(const struct request *request, const char *how)
{
	if (request->head.opcode != FUSE_READ || is_mapper(request->head.pid))
		return true;
	fprintf(stderr, "read by %u\n", request->head.pid);
	if (strcmp(how, "slow") == 0)
		sleep(1);
	if (strcmp(how, "lie") == 0)
		for (size_t i = 0; i < content_len; i += 97)
			content[i] = (char)rand();
	return strcmp(how, "hang") != 0;
}

static int load(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	content = malloc((size_t)status.st_size);
	content_len = (size_t)status.st_size;
	if (!content || read(fd, content, content_len) != (ssize_t)content_len)
		return -1;
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	static struct request request;
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (argc != 4 || fd < 0 || load(argv[1]) < 0)
		return 77;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 fd);
	if (mount("hostile", argv[2], "fuse", MS_NODEV | MS_NOSUID, options) < 0)
		return 77;
	for (;;) {
		ssize_t len = read(fd, &request, sizeof(request) - 1);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < (ssize_t)sizeof(request.head))
			return 0;
		((char *)&request)[len] = '\0';
		if (is_answered(&request, argv[3]))
			serve(fd, &request);
	}
}
