/* SPDX-License-Identifier: Apache-2.0 */
/* From offsets in files to the virtual addresses that the files are linked to.
 *
 * The reader places a frame by what the process's mapping tells: an offset in the file. What tools
 * such as addr2line(1), `pprof -disasm` and symbol servers take is the address that the file's
 * program headers give that offset:
 *
 *	libc.so.6, offset 0x50d90  ─▶  segment at offset 0x26000, address 0x27000  ─▶  libc.so.6, address 0x51d90
 *
 * The headers are known only when a symbol worker has read the file, so this comes last. Where they
 * are not, and where code is in no executable segment, the frame keeps its offset, in a mapping
 * that is the whole file. */
#ifndef PIPELINE_PLACING_H
#define PIPELINE_PLACING_H

#include "base/err.h"
#include "pipeline/window.h"
#include "symbol/elf_cache.h"

/* Moves the locations of ELF files into mappings of these files' segments, one a segment, which
 * take WINDOW_MAX_SEGMENT_BYTES at most; what finds no room there stays where it is. Comes when all
 * names and build ids are set; the window's own numbers of mappings are out of date then. Errors:
 * -ENOMEM; what is done stays. */
int place_window(struct elf_cache *elfs, struct window *window) must_check;

#endif
