/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "symbol/debug_downloads.c" /* NOLINT(bugprone-suspicious-include) */

void inside_ask_downloads_again(struct debug_downloads *downloads)
{
	downloads->ask_again_ns = 0;
}
