/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "k8s/pod_list.h"
#include "tests/standin/kubelet_standin.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define PODS_FILE FIXTURES_DIR "/kubelet/big.json"
#define TIMEOUT_NS (NSEC_PER_SEC)
#define LONG_TIMEOUT_NS (20 * NSEC_PER_SEC)

static struct kubelet_standin server;
static bool has_server;

static int start_server(void **state)
{
	(void)state;
	has_server = kubelet_standin_start(&server, "127.0.0.1:0", "node-1", PODS_FILE) == 0;
	return 0;
}

static int stop_server(void **state)
{
	(void)state;
	if (has_server)
		kubelet_standin_stop(&server);
	return 0;
}

static void skip_without_server(void)
{
	if (has_server)
		return;
	print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
	skip();
}

/* What a well configured agent says. */
static struct kubelet_opts good_opts(void)
{
	return (struct kubelet_opts){
		.url = server.url,
		.node_name = "node-1",
		.ca_file = server.ca_file,
		.token_file = server.token_file,
		.timeout_ns = LONG_TIMEOUT_NS,
	};
}

static void set_fault(const char *fault)
{
	assert_int_equal(kubelet_standin_write(&server, "fault", fault), 0);
}

/* One request; a failure must leave the body empty and come with a sentence that has `words` in
 * it. */
static int get(const struct kubelet_opts *opts, const char *words, struct strbuf *body)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;

	assert_int_equal(kubelet_new(opts, &kubelet), 0);
	int r = kubelet_get_pods(kubelet, body);
	if (r == 0) {
		assert_string_equal(kubelet_error(kubelet), "");
		return 0;
	}
	assert_int_equal(body->len, 0);
	if (!strstr(kubelet_error(kubelet), words))
		fail_msg("\"%s\" does not speak of \"%s\"", kubelet_error(kubelet), words);
	return r;
}

static void assert_get(const struct kubelet_opts *opts, int result, const char *words)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(KUBELET_BODY_MAX_BYTES);

	assert_int_equal(get(opts, words, &body), result);
}

static void the_body_arrives_as_it_was_sent(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(KUBELET_BODY_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(KUBELET_BODY_MAX_BYTES);
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	assert_int_equal(get(&opts, "", &body), 0);
	assert_int_equal(file_read_at(AT_FDCWD, PODS_FILE, &file), 0);
	assert_int_equal(body.len, file.len);
	assert_memory_equal(body.data, file.data, file.len);
}

struct fault_case {
	const char *fault;
	int result;
	const char *words;
	uint64_t timeout_ns;
};

static void every_fault_has_its_error_and_remedy(void **state)
{
	static const struct fault_case cases[] = {
		{ "401", -EACCES, "must hold a token of a service account", LONG_TIMEOUT_NS },
		{ "403", -EPERM, "get on the resource nodes/pods (Kubernetes 1.33",
		  LONG_TIMEOUT_NS },
		{ "403", -EPERM, "Forbidden (user=system:serviceaccount:prof:agent",
		  LONG_TIMEOUT_NS },
		{ "500", -EBADMSG, "status 500: Internal Error", LONG_TIMEOUT_NS },
		{ "hang", -ETIMEDOUT, "within 1.0 s", TIMEOUT_NS },
		{ "truncate", -EPROTO, "cannot be read", LONG_TIMEOUT_NS },
		{ "huge", -ENOSPC, "longer than 32 MB", LONG_TIMEOUT_NS },
		{ "slow-chunks", 0, "", LONG_TIMEOUT_NS },
		{ "none", 0, "", LONG_TIMEOUT_NS },
	};
	(void)state;

	skip_without_server();
	for (size_t i = 0; i < array_len(cases); i++) {
		struct kubelet_opts opts = good_opts();

		opts.timeout_ns = cases[i].timeout_ns;
		set_fault(cases[i].fault);
		assert_get(&opts, cases[i].result, cases[i].words);
	}
}

static void null_items_and_garbage_are_the_parsers_matter(void **state)
{
	static const struct fault_case cases[] = {
		{ .fault = "null-items", .result = 0 },
		{ .fault = "garbage", .result = -EBADMSG },
	};
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(KUBELET_BODY_MAX_BYTES);
		const struct pod_list_opts list_opts = { .max_bytes = 1 << 20 };
		_cleanup_(pod_list_freep) struct pod_list *list = NULL;

		set_fault(cases[i].fault);
		assert_int_equal(get(&opts, "", &body), 0);
		assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list),
				 cases[i].result);
	}
	set_fault("none");
}

static void one_object_goes_on_after_each_fault(void **state)
{
	static const char *const faults[] = { "none", "401", "truncate", "500", "none" };
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	for (size_t i = 0; i < array_len(faults); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(KUBELET_BODY_MAX_BYTES);

		set_fault(faults[i]);
		int r = kubelet_get_pods(kubelet, &body);
		assert_int_equal(r == 0, strcmp(faults[i], "none") == 0);
		assert_int_equal(kubelet_error(kubelet)[0] == '\0', r == 0);
	}
}

static void the_certificate_is_verified(void **state)
{
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	opts.ca_file = NULL;
	assert_get(&opts, -EKEYREJECTED, "--kubelet-ca-file");
	opts.ca_file = "/no/such/ca.crt";
	assert_get(&opts, -EKEYREJECTED, "--kubelet-ca-file");
	opts = good_opts();
	opts.node_name = "node-2";
	assert_get(&opts, -EKEYREJECTED, "node's name");
	opts.node_name = NULL;
	assert_get(&opts, -EKEYREJECTED, "node's name");
}

static void less_is_verified_when_asked_for(void **state)
{
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	opts.node_name = "node-2";
	opts.verify = HTTP_VERIFY_CA_ONLY;
	assert_get(&opts, 0, "");
	opts.ca_file = NULL;
	assert_get(&opts, -EKEYREJECTED, "--kubelet-ca-file");
	opts.verify = HTTP_VERIFY_NONE;
	assert_get(&opts, 0, "");
}

static void a_rotated_token_is_read_again(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	for (int i = 0; i < 3; i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(KUBELET_BODY_MAX_BYTES);
		char token[32];

		snprintf(token, sizeof(token), "%stoken-%d\n", i % 2 ? " \n" : "", i);
		assert_int_equal(kubelet_standin_write(&server, "token", token), 0);
		assert_int_equal(kubelet_get_pods(kubelet, &body), 0);
	}
}

/* A token file of our own: the stand-in goes by its. */
static void assert_token(const char *token, size_t len, int result, const char *words)
{
	char path[] = "/tmp/flamelet-token-XXXXXX";
	struct kubelet_opts opts = good_opts();
	_cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, token, len), 0);
	opts.token_file = path;
	assert_get(&opts, result, words);
	unlink(path);
}

static void a_token_that_cannot_be_one_is_not_sent(void **state)
{
	static char overlong[70000];
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	memset(overlong, 'x', sizeof(overlong));
	size_t nr_requests = kubelet_standin_nr_requests(&server);
	assert_token("", 0, -EBADMSG, "holds no token");
	assert_token(" \n\t", 3, -EBADMSG, "holds no token");
	assert_token("a\r\nX-Evil: 1", 11, -EBADMSG, "holds no token");
	assert_token("a\0b", 3, -EBADMSG, "holds no token");
	assert_token("tok\xc3\xa9n", 6, -EBADMSG, "holds no token");
	assert_token(overlong, sizeof(overlong), -ENOSPC, "cannot read");
	opts.token_file = "/no/such/token";
	assert_get(&opts, -ENOENT, "/no/such/token");
	assert_int_equal(kubelet_standin_nr_requests(&server), nr_requests);

	assert_token("wrong", 5, -EACCES, "401");
	opts.token_file = NULL;
	assert_get(&opts, -EACCES, "--kubelet-token-file");
}

static void an_absent_kubelet_is_refused(void **state)
{
	struct kubelet_opts opts = { .url = "https://127.0.0.1:1", .timeout_ns = LONG_TIMEOUT_NS };
	(void)state;

	assert_get(&opts, -ECONNREFUSED, "--kubelet-url");
	opts.node_name = "node-1";
	assert_get(&opts, -ECONNREFUSED, "--kubelet-url");
}

static void an_ipv6_address_works_with_a_node_name(void **state)
{
	struct kubelet_standin ipv6;
	(void)state;

	if (kubelet_standin_start(&ipv6, "[::1]:0", "node-6", PODS_FILE) < 0) {
		print_message("SKIP: no IPv6 here, or no python3 and openssl\n");
		skip();
	}
	struct kubelet_opts opts = {
		.url = ipv6.url,
		.node_name = "node-6",
		.ca_file = ipv6.ca_file,
		.token_file = ipv6.token_file,
		.timeout_ns = LONG_TIMEOUT_NS,
	};
	assert_get(&opts, 0, "");
	opts.node_name = NULL;
	assert_get(&opts, -EKEYREJECTED, "node's name");
	opts.verify = HTTP_VERIFY_CA_ONLY;
	assert_get(&opts, 0, "");
	kubelet_standin_stop(&ipv6);
}

struct url_case {
	const char *url;
	int result;
};

static void urls_are_checked(void **state)
{
	static const struct url_case cases[] = {
		{ "https://10.0.0.1:10250", 0 },
		{ "https://10.0.0.1", 0 },
		{ "https://10.0.0.1/", 0 },
		{ "https://node-1.example:10250/", 0 },
		{ "https://[fd00::1]:10250", 0 },
		{ "https://[::1]", 0 },
		{ "http://127.0.0.1:10255", 0 },
		{ "", -EINVAL },
		{ "10.0.0.1:10250", -EINVAL },
		{ "ftp://10.0.0.1", -EINVAL },
		{ "HTTPS://10.0.0.1", -EINVAL },
		{ "https://", -EINVAL },
		{ "https://:10250", -EINVAL },
		{ "https://10.0.0.1:", -EINVAL },
		{ "https://10.0.0.1:0", -EINVAL },
		{ "https://10.0.0.1:65536", -EINVAL },
		{ "https://10.0.0.1:123456789", -EINVAL },
		{ "https://10.0.0.1:10250/pods", -EINVAL },
		{ "https://10.0.0.1:10250?x", -EINVAL },
		{ "https://user:secret@10.0.0.1", -EINVAL },
		{ "https://a b", -EINVAL },
		{ "https://a,b", -EINVAL },
		{ "https://[fd00::1", -EINVAL },
		{ "https://[10.0.0.1]", -EINVAL },
		{ "https://[fd00::1]10250", -EINVAL },
		{ "https://fd00::1", -EINVAL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
		struct kubelet_opts opts = { .url = cases[i].url };

		if (kubelet_new(&opts, &kubelet) != cases[i].result)
			fail_msg("%s", cases[i].url);
		if (kubelet)
			assert_string_equal(kubelet_url(kubelet), cases[i].url);
	}
}

static void node_names_that_are_no_host_names_are_refused(void **state)
{
	static const char *const names[] = { "", "a b", "a:1", "a,b", "a/b", "n\xc3\xb6" };
	(void)state;

	for (size_t i = 0; i < array_len(names); i++) {
		struct kubelet *kubelet = NULL;
		struct kubelet_opts opts = { .url = "https://10.0.0.1", .node_name = names[i] };

		assert_int_equal(kubelet_new(&opts, &kubelet), -EINVAL);
		assert_null(kubelet);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_body_arrives_as_it_was_sent),
		cmocka_unit_test(every_fault_has_its_error_and_remedy),
		cmocka_unit_test(null_items_and_garbage_are_the_parsers_matter),
		cmocka_unit_test(one_object_goes_on_after_each_fault),
		cmocka_unit_test(the_certificate_is_verified),
		cmocka_unit_test(less_is_verified_when_asked_for),
		cmocka_unit_test(a_rotated_token_is_read_again),
		cmocka_unit_test(a_token_that_cannot_be_one_is_not_sent),
		cmocka_unit_test(an_absent_kubelet_is_refused),
		cmocka_unit_test(an_ipv6_address_works_with_a_node_name),
		cmocka_unit_test(urls_are_checked),
		cmocka_unit_test(node_names_that_are_no_host_names_are_refused),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
