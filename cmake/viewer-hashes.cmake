# SPDX-License-Identifier: Apache-2.0
# Writes DIRECTORY/viewer_hashes.h: the SHA-256 of viewer.js and viewer.css, for the policy of a page that has them.
file(SHA256 ${DIRECTORY}/viewer.js js)
file(SHA256 ${DIRECTORY}/viewer.css css)
file(WRITE ${DIRECTORY}/viewer_hashes.h
	"#define VIEWER_JS_SHA256 \"${js}\"\n#define VIEWER_CSS_SHA256 \"${css}\"\n")
