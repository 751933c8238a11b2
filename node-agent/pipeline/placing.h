/* SPDX-License-Identifier: Apache-2.0 */
/* Turns offsets in files into the virtual addresses that the files are linked to.
 *
 * The reader places a frame by the process's mapping, which gives an offset in the file. Tools such
 * as addr2line(1), `pprof -disasm` and symbol servers take the address that the file's program
 * headers give that offset:
 *
 *	libc.so.6, offset 0x50d90
 *	    ─▶  segment at offset 0x26000, address 0x27000
 *	    ─▶  libc.so.6, address 0x51d90
 *
 * The headers are known only when a symbol worker has read the file, so this is the last step. If
 * they are not known, or if the code is in no executable segment, the frame keeps its offset, in a
 * mapping that is the whole file. */
#ifndef PIPELINE_PLACING_H
#define PIPELINE_PLACING_H

#include "base/err.h"
#include "pipeline/window.h"
#include "symbol/elf_cache.h"

/* Frames of language runtimes have no addresses: those of different processes become equal if they
 * have the same name.
 *
 * Moves the locations of ELF files into mappings of these files' segments, one mapping per segment.
 * The mappings take at most WINDOW_MAX_SEGMENT_BYTES; a location that finds no room stays where it
 * is. Call it after all names and build ids are set: the window's own numbers of mappings are
 * outdated afterwards. Errors: -ENOMEM; locations that were moved stay so. */
int place_window(struct elf_cache *elfs, struct window *window) must_check;

#endif
