/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/main_program.h"

#include <stdbool.h>
#include <string.h>

#define COMM_MAX_BYTES 15 /* the kernel cuts a process's name */

/* Returns the name that all processes have, or "". */
static const char *find_comm(const struct profile *profile)
{
	for (size_t i = 1; i < profile->nr_samples; i++)
		if (profile->samples[i].process_comm != profile->samples[0].process_comm)
			return "";
	return profile->nr_samples > 0 ? profile_string(profile, profile->samples[0].process_comm)
				       : "";
}

/* A file that was deleted is "/bin/program (deleted)". */
static bool is_file_of(const char *path, const char *comm)
{
	const char *slash = strrchr(path, '/');
	size_t len = strlen(comm);

	if (!slash || strncmp(slash + 1, comm, len) != 0)
		return false;
	return len == COMM_MAX_BYTES || slash[1 + len] == '\0' || slash[1 + len] == ' ';
}

uint32_t main_program_find(const struct profile *profile)
{
	const char *comm = find_comm(profile);

	for (size_t i = 1; *comm && i < profile->nr_mappings; i++)
		if (is_file_of(profile_string(profile, profile->mappings[i].filename), comm))
			return (uint32_t)i;
	return 0;
}
