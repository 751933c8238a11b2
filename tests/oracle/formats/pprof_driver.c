/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pprof file and writes the profile of one type again, not compressed, to standard output:
 *
 *	pprof_driver FILE [SAMPLE_TYPE UNIT]		samples count, unless said otherwise
 */
#include "base/fileio.h"
#include "profile/pprof.h"
#include "profile/pprof_reader.h"

#include <fcntl.h>

#define MAX_BYTES ((size_t)1 << 28)

static int rewrite(const char *path, enum profile_type type, struct strbuf *reason)
{
	_cleanup_(pprof_profiles_done) struct pprof_profiles profiles = { 0 };
	_cleanup_(strbuf_done) struct strbuf in = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	int r = file_read_at(AT_FDCWD, path, &in);
	if (r == 0)
		r = pprof_read(in.data, in.len, MAX_BYTES, &profiles, reason);
	if (r == 0)
		r = profiles.of[type] ? pprof_encode(profiles.of[type], NULL, NULL, &out) : -ENOENT;
	return r < 0 ? r : fd_write_all(STDOUT_FILENO, out.data, out.len);
}

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(1024);
	enum profile_type type = argc == 4 ? profile_type_find(argv[2], argv[3]) : PROFILE_CPU;

	if ((argc != 2 && argc != 4) || type == PROFILE_NR_TYPES) {
		fprintf(stderr, "usage: pprof_driver FILE [SAMPLE_TYPE UNIT]\n");
		return 2;
	}
	int r = rewrite(argv[1], type, &reason);
	if (r < 0)
		fprintf(stderr, "%s: error %d: %s\n", argv[1], -r, strbuf_str(&reason));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
