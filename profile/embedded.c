/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler reads the files; profile/CMakeLists.txt gives EMBED_DIR and the dependency on
 * them. */
#include "profile/embedded.h"

/* clang-format off */
#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global embedded_" name ", embedded_" name "_end\n"                               \
		"embedded_" name ":\n"                                                             \
		".incbin \"" EMBED_DIR "/" file "\"\n"                                             \
		"embedded_" name "_end:\n"                                                         \
		".byte 0\n"                                                                        \
		".popsection\n")
/* clang-format on */

EMBED("flamegraph_css", "flamegraph.css");
EMBED("flamegraph_js", "flamegraph.js");
