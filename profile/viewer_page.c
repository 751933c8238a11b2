/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/viewer_page.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/gzip.h"
#include "profile/embedded.h"
#include "profile/page_policy.h"
#include "profile/xml.h"

#define DATA_MAX_BYTES ((size_t)1 << 30)

static size_t len_of(const char *file, const char *end)
{
	return (size_t)(end - file);
}

bool viewer_page_is_built(void)
{
	return len_of(embedded_viewer_js, embedded_viewer_js_end) > 0;
}

static void put_file(struct strbuf *out, const char *file, const char *end)
{
	strbuf_append(out, file, len_of(file, end));
}

static void put_head(struct strbuf *out, const struct caption *caption)
{
	const char *const scripts[] = { embedded_viewer_js_sha256 };

	strbuf_append_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			       "<meta charset=\"utf-8\">\n");
	page_policy_append(out, scripts, array_len(scripts), embedded_viewer_css_sha256);
	strbuf_append_str(out, "<meta name=\"viewport\" content=\"width=device-width\">\n"
			       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	xml_append(out, caption->title);
	strbuf_append_str(out, "</title>\n<style>");
	put_file(out, embedded_viewer_css, embedded_viewer_css_end);
	strbuf_append_str(out, "</style>\n</head>\n");
}

/* What is seen before the script has run, or without it. */
static void put_start(struct strbuf *out, const struct caption *caption)
{
	strbuf_append_str(out, "<body>\n<div id=\"app\">\n<h1>");
	xml_append(out, caption->title);
	strbuf_append_str(out, "</h1>\n<p>");
	xml_append(out, caption->subtitle);
	strbuf_append_str(out, "</p>\n<p id=\"status\" role=\"status\">Loading …</p>\n"
			       "<noscript><p>This page needs JavaScript. "
			       "<code>flamelet … -o profile.svg</code> writes a picture that does "
			       "not.</p></noscript>\n</div>\n");
}

static int put_data(struct strbuf *out, const struct viewer_content *content)
{
	_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(DATA_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(DATA_MAX_BYTES);

	int r = viewer_data_encode(content, &plain);
	if (r < 0)
		return r;
	gzip_append(&packed, plain.data, plain.len);
	r = strbuf_error(&packed);
	if (r < 0)
		return r;
	strbuf_append_str(out, "<script type=\"application/gzip\" id=\"data\">");
	base64_encode(out, packed.data, packed.len);
	strbuf_append_str(out, "</script>\n");
	return 0;
}

int viewer_page_encode(const struct viewer_content *content, struct strbuf *out)
{
	int r = viewer_page_is_built() ? 0 : -EOPNOTSUPP;

	if (r == 0) {
		put_head(out, content->caption);
		put_start(out, content->caption);
		r = put_data(out, content);
	}
	if (r == 0) {
		strbuf_append_str(out, "<script>");
		put_file(out, embedded_viewer_js, embedded_viewer_js_end);
		strbuf_append_str(out, "</script>\n</body>\n</html>\n");
		r = strbuf_error(out);
	}
	strbuf_fail(out, r);
	return r;
}

void viewer_page_append_live(const char *api, struct strbuf *out)
{
	strbuf_append_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			       "<meta charset=\"utf-8\">\n"
			       "<meta name=\"viewport\" content=\"width=device-width\">\n"
			       "<meta name=\"color-scheme\" content=\"light dark\">\n"
			       "<meta name=\"flamelet-api\" content=\"");
	xml_append(out, api);
	strbuf_append_str(out,
			  "\">\n<title>Flamelet</title>\n"
			  "<link rel=\"icon\" href=\"data:,\">\n"
			  "<link rel=\"stylesheet\" href=\"viewer.css\">\n</head>\n<body>\n"
			  "<div id=\"app\">\n<p id=\"status\" role=\"status\">Loading …</p>\n"
			  "<noscript><p>This page needs JavaScript. <code>flamelet query</code> "
			  "answers on a terminal.</p></noscript>\n</div>\n"
			  "<script src=\"viewer.js\"></script>\n</body>\n</html>\n");
}

void viewer_page_append_script(struct strbuf *out)
{
	put_file(out, embedded_record_js, embedded_record_js_end);
}

void viewer_page_append_style(struct strbuf *out)
{
	put_file(out, embedded_record_css, embedded_record_css_end);
}
