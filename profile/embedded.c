/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler reads the files; profile/CMakeLists.txt gives their directories, the hashes of
 * scripts and the dependency on the files. The viewer is made by cmake/viewer.cmake. */
#include "profile/embedded.h"

#include <viewer_hashes.h>

/* clang-format off */
#define EMBED(name, file)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global embedded_" name ", embedded_" name "_end\n"                               \
		"embedded_" name ":\n"                                                             \
		".incbin \"" file "\"\n"                                             \
		"embedded_" name "_end:\n"                                                         \
		".byte 0\n"                                                                        \
		".popsection\n")
/* clang-format on */

EMBED("flamegraph_css", EMBED_DIR "/flamegraph.css");
EMBED("flamegraph_diff_js", EMBED_DIR "/flamegraph_diff.js");
EMBED("flamegraph_js", EMBED_DIR "/flamegraph.js");
EMBED("page_css", EMBED_DIR "/page.css");
EMBED("page_js", EMBED_DIR "/page.js");
EMBED("record_css", VIEWER_DIR "/record.css");
EMBED("record_js", VIEWER_DIR "/record.js");
EMBED("viewer_css", VIEWER_DIR "/viewer.css");
EMBED("viewer_js", VIEWER_DIR "/viewer.js");

const char embedded_flamegraph_diff_js_sha256[] = FLAMEGRAPH_DIFF_JS_SHA256;
const char embedded_flamegraph_js_sha256[] = FLAMEGRAPH_JS_SHA256;
const char embedded_page_js_sha256[] = PAGE_JS_SHA256;
const char embedded_viewer_css_sha256[] = VIEWER_CSS_SHA256;
const char embedded_viewer_js_sha256[] = VIEWER_JS_SHA256;
