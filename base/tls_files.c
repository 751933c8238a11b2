/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tls_files.h"

#include "base/fileio.h"
#include "base/text.h"

#include <fcntl.h>
#include <string.h>

int tls_files_init(struct tls_files *files, const char *ca, const char *cert, const char *key)
{
	*files = (struct tls_files){ .ca = NULL };
	int r = text_copy(ca, &files->ca);

	if (r == 0)
		r = text_copy(cert, &files->cert);
	return r == 0 ? text_copy(key, &files->key) : r;
}

void tls_files_done(struct tls_files *files)
{
	free(files->ca);
	free(files->cert);
	free(files->key);
	*files = (struct tls_files){ .ca = NULL };
}

void tls_texts_done(struct tls_texts *texts)
{
	strbuf_done(&texts->ca);
	strbuf_done(&texts->cert);
	strbuf_done(&texts->key);
}

static int read_one(const char *path, struct strbuf *text, struct http_pem *pem,
		    struct strbuf *reterr_msg)
{
	*text = strbuf_with_max(TLS_FILE_MAX_BYTES);
	if (!path)
		return 0;

	int r = file_read_at(AT_FDCWD, path, text);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "%s: %s", path,
			       r == -ENOSPC ? "larger than 1 MB" : strerror(-r));
		return r;
	}
	*pem = (struct http_pem){ .text = strbuf_str(text), .len = text->len };
	return 0;
}

int tls_files_read(const struct tls_files *files, struct tls_texts *ret_texts,
		   struct strbuf *reterr_msg)
{
	struct tls_texts texts = { .tls = { .ca = { .text = NULL } } };

	int r = read_one(files->ca, &texts.ca, &texts.tls.ca, reterr_msg);
	if (r == 0)
		r = read_one(files->cert, &texts.cert, &texts.tls.cert, reterr_msg);
	if (r == 0)
		r = read_one(files->key, &texts.key, &texts.tls.key, reterr_msg);
	if (r < 0)
		tls_texts_done(&texts);
	else
		*ret_texts = texts;
	return r;
}
