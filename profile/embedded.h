/* SPDX-License-Identifier: Apache-2.0 */
/* Source files embedded in the program: texts without a NUL at the end. */
#ifndef PROFILE_EMBEDDED_H
#define PROFILE_EMBEDDED_H

extern const char embedded_flamegraph_css[], embedded_flamegraph_css_end[];
extern const char embedded_flamegraph_diff_js[], embedded_flamegraph_diff_js_end[];
extern const char embedded_flamegraph_js[], embedded_flamegraph_js_end[];
extern const char embedded_page_css[], embedded_page_css_end[];
extern const char embedded_page_js[], embedded_page_js_end[];

/* Empty if the program was built without the viewer. */
extern const char embedded_record_css[], embedded_record_css_end[];
extern const char embedded_record_js[], embedded_record_js_end[];
extern const char embedded_viewer_css[], embedded_viewer_css_end[];
extern const char embedded_viewer_js[], embedded_viewer_js_end[];

/* SHA-256 of the scripts and of the viewer's style sheet, in hexadecimal digits. */
extern const char embedded_flamegraph_diff_js_sha256[];
extern const char embedded_flamegraph_js_sha256[], embedded_page_js_sha256[];
extern const char embedded_viewer_css_sha256[], embedded_viewer_js_sha256[];

#endif
