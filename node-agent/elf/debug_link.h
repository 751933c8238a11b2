/* SPDX-License-Identifier: Apache-2.0 */
/* Parser for the section .gnu_debuglink, which names a file's separate debug file. It contains a
 * file name, zeros up to a multiple of 4 bytes, and the CRC-32 of the whole debug file. */
#ifndef ELF_DEBUG_LINK_H
#define ELF_DEBUG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name is borrowed from `link` and has no "/". Returns false if the section is damaged or the
 * name is not that of a file. */
bool debug_link_parse(const uint8_t *link, size_t len, const char **ret_name, uint32_t *ret_crc);

#endif
