/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "symbol/symbol_client.c" /* NOLINT(bugprone-suspicious-include) */

struct symbol_jobs *inside_jobs(const struct symbol_client *client)
{
	return client->jobs;
}

struct debug_downloads *inside_downloads(const struct symbol_client *client)
{
	return client->downloads;
}
