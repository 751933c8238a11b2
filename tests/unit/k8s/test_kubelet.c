/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "k8s/kubelet_worker.h"
#include "k8s/pod_list.h"
#include "tests/standin/kubelet_standin.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hostile_names.h"
#include "pod_bodies.h"

#define PODS_FILE pod_bodies_busy_node()
#define NR_PODS 102
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

static const struct pod_list_opts list_opts = { .max_bytes = 1 << 20 };

/* The sentence is one line of a log and of a terminal. */
static void assert_sentence(const char *sentence, const char *words)
{
	assert_printable(sentence, strlen(sentence), false);
	if (!strstr(sentence, words))
		fail_msg("\"%s\" does not speak of \"%s\"", sentence, words);
}

static int get_with(struct kubelet *kubelet, const char *words, size_t nr_pods)
{
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	int r = kubelet_get_pods(kubelet, &list_opts, &list);
	if (r == 0) {
		assert_string_equal(kubelet_error(kubelet), "");
		assert_int_equal(list->nr_pods, nr_pods);
	} else {
		assert_null(list);
		assert_sentence(kubelet_error(kubelet), words);
	}
	return r;
}

/* One request, of which all pods or a failure is expected. */
static void assert_get(const struct kubelet_opts *opts, int result, const char *words)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;

	assert_int_equal(kubelet_new(opts, &kubelet), 0);
	assert_int_equal(get_with(kubelet, words, NR_PODS), result);
}

static void all_pods_arrive(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	struct stat file;
	(void)state;

	skip_without_server();
	set_fault("none");
	assert_int_equal(stat(PODS_FILE, &file), 0);
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	assert_int_equal(kubelet_get_stats(kubelet).status, 0);
	assert_int_equal(get_with(kubelet, "", NR_PODS), 0);
	struct kubelet_stats stats = kubelet_get_stats(kubelet);
	assert_int_equal(stats.status, 200);
	assert_int_equal(stats.http_version, 1);
	assert_int_equal(stats.nr_bytes, file.st_size);
}

static void every_fault_has_its_error_and_remedy(void **state)
{
	static const struct {
		const char *fault;
		int result;
		unsigned int status;
		const char *words;
	} cases[] = {
		{ "401", -EACCES, 401, "must hold a token of a service account" },
		{ "403", -EPERM, 403,
		  "add to a ClusterRole bound to system:serviceaccount:prof:agent: - apiGroups: "
		  "[\"\"] resources: [\"nodes/pods\"] verbs: [\"get\"]" },
		{ "403-old", -EPERM, 403,
		  "prof:agent: - apiGroups: [\"\"] resources: [\"nodes/proxy\"]" },
		{ "403-odd", -EPERM, 403, "bound to the agent's service account: - apiGroups" },
		{ "500", -EBADMSG, 500, "status 500: Internal Error" },
		{ "500-odd", -EBADMSG, 500,
		  "status 500: \\x1b[31m\\x9b\\xc2\\x9b\\xe2\\x80\\xae\\xff\\x09caf\xc3\xa9" },
		{ "redirect", -EBADMSG, 302, "status 302" },
		{ "hang", -ETIMEDOUT, 0, "within 1.0 s" },
		{ "hang-middle", -ETIMEDOUT, 0, "within 1.0 s" },
		{ "drip", -ETIMEDOUT, 0, "within 1.0 s" },
		{ "truncate", -EPROTO, 0, "cannot be read" },
		{ "too-short", -EPROTO, 0, "cannot be read" },
		{ "too-long", -EBADMSG, 200, "did not return a pod list" },
		{ "headers", -EPROTO, 0, "cannot be read" },
		{ "garbage", -EBADMSG, 0, "did not return a pod list" },
		{ "html", -EBADMSG, 0, "did not return a pod list" },
		{ "gzip", -EBADMSG, 0, "did not return a pod list" },
		{ "huge", -ENOSPC, 0, "longer than 64 MB" },
		{ "endless", -ENOSPC, 0, "longer than 64 MB" },
		{ "null-items", 0, 200, "" },
	};
	(void)state;

	skip_without_server();
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
		struct kubelet_opts opts = good_opts();
		uint64_t start_ns = clock_mono_ns();

		if (cases[i].result == -ETIMEDOUT)
			opts.timeout_ns = TIMEOUT_NS;
		set_fault(cases[i].fault);
		assert_int_equal(kubelet_new(&opts, &kubelet), 0);
		int r = get_with(kubelet, cases[i].words, 0);
		struct kubelet_stats stats = kubelet_get_stats(kubelet);
		if (r != cases[i].result || stats.status != cases[i].status)
			fail_msg("%s: %d, status %u: %s", cases[i].fault, r, stats.status,
				 kubelet_error(kubelet));
		assert_true(stats.nr_bytes <= KUBELET_BODY_MAX_BYTES);
		assert_true(clock_mono_ns() - start_ns < LONG_TIMEOUT_NS);
	}
	set_fault("none");
}

static void a_slow_kubelet_is_waited_for(void **state)
{
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("slow-chunks");
	assert_get(&opts, 0, "");
	set_fault("none");
}

static void pods_over_the_limit_are_refused(void **state)
{
	static const struct pod_list_opts small = { .max_bytes = 1000 };
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	struct pod_list *list = NULL;
	(void)state;

	skip_without_server();
	set_fault("none");
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	assert_int_equal(kubelet_get_pods(kubelet, &small, &list), -ENOSPC);
	assert_sentence(kubelet_error(kubelet), "too large");
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
		set_fault(faults[i]);
		int r = get_with(kubelet, "", NR_PODS);
		assert_int_equal(r == 0, strcmp(faults[i], "none") == 0);
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
		char token[32];

		snprintf(token, sizeof(token), "%stoken-%d\n", i % 2 ? " \n" : "", i);
		assert_int_equal(kubelet_standin_write(&server, "token", token), 0);
		assert_int_equal(get_with(kubelet, "", NR_PODS), 0);
	}
}

static void a_revoked_token_is_refused_until_the_new_one_is_there(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	assert_int_equal(get_with(kubelet, "", NR_PODS), 0);
	assert_int_equal(kubelet_standin_write(&server, "accept", "newer"), 0);
	assert_int_equal(get_with(kubelet, "401", 0), -EACCES);
	assert_int_equal(get_with(kubelet, "401", 0), -EACCES);
	assert_int_equal(kubelet_standin_write(&server, "token", "newer"), 0);
	assert_int_equal(get_with(kubelet, "", NR_PODS), 0);
	assert_int_equal(kubelet_standin_write(&server, "accept", ""), 0);
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
	assert_token("", 0, -EBADMSG, "has no token");
	assert_token(" \n\t", 3, -EBADMSG, "has no token");
	assert_token("a\r\nX-Evil: 1", 11, -EBADMSG, "has no token");
	assert_token("a\0b", 3, -EBADMSG, "has no token");
	assert_token("tok\xc3\xa9n", 6, -EBADMSG, "has no token");
	assert_token(overlong, sizeof(overlong), -ENOSPC, "cannot read");
	opts.token_file = "/no/such/token";
	assert_get(&opts, -ENOENT, "/no/such/token");
	assert_int_equal(kubelet_standin_nr_requests(&server), nr_requests);

	assert_token("wrong", 5, -EACCES, "401");
	opts.token_file = NULL;
	assert_get(&opts, -EACCES, "--kubelet-token-file");
}

static void set_certificate(const char *word)
{
	assert_int_equal(kubelet_standin_write(&server, "certificate", word), 0);
}

/* Writes the file "pin" of certificates the stand-in made, one after the other. */
static void write_pin(const char *first, const char *second)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(65536);
	const char *const names[] = { first, second };
	char path[128];

	for (size_t i = 0; i < array_len(names) && names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s.crt", server.dir, names[i]);
		assert_int_equal(file_read_at(AT_FDCWD, path, &text), 0);
	}
	assert_int_equal(kubelet_standin_write(&server, "pin", strbuf_str(&text)), 0);
}

/* One object goes through all of it, as an agent does while its kubelet's certificate changes. A
 * server that is refused must not have seen the token, nor anything else of the request. */
static void only_the_pinned_certificate_is_shown_the_token(void **state)
{
	static const struct {
		const char *shown;
		const char *pinned, *pinned_behind;
		int result;
	} cases[] = {
		{ "serving", "serving", NULL, 0 },
		{ "serving", "ca", NULL, -EKEYREJECTED },
		{ "serving", "ca", "serving", -EKEYREJECTED },
		{ "serving", "serving", "ca", 0 },
		{ "renewed", "serving", "ca", -EKEYREJECTED },
		{ "renewed", "renewed", NULL, 0 },
		{ "expired", "renewed", NULL, -EKEYREJECTED },
		{ "expired", "expired", NULL, 0 },
		{ "impostor", "serving", NULL, -EKEYREJECTED },
		{ "impostor", "impostor", NULL, 0 },
		{ "self-signed", "impostor", NULL, -EKEYREJECTED },
		{ "self-signed", "self-signed", NULL, 0 },
		{ "serving", "serving", NULL, 0 },
	};
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_opts opts = good_opts();
	char pin[128];
	(void)state;

	skip_without_server();
	set_fault("none");
	snprintf(pin, sizeof(pin), "%s/pin", server.dir);
	opts.ca_file = pin;
	opts.verify = HTTP_VERIFY_PINNED;
	opts.node_name = "another-node";
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	assert_int_equal(get_with(kubelet, "No such file", 0), -EKEYREJECTED);
	for (size_t i = 0; i < array_len(cases); i++) {
		size_t nr_received = kubelet_standin_nr_received(&server);

		set_certificate(cases[i].shown);
		write_pin(cases[i].pinned, cases[i].pinned_behind);
		if (get_with(kubelet, "kubelet.crt", NR_PODS) != cases[i].result)
			fail_msg("%zu: %s", i, kubelet_error(kubelet));
		assert_int_equal(kubelet_standin_nr_received(&server),
				 nr_received + (cases[i].result == 0));
	}
}

static void a_server_that_fails_verification_is_not_shown_the_token(void **state)
{
	static const char *const words[] = { "expired", "self-signed", "impostor" };
	struct kubelet_opts opts = good_opts();
	(void)state;

	skip_without_server();
	set_fault("none");
	size_t nr_received = kubelet_standin_nr_received(&server);
	for (size_t i = 0; i < array_len(words); i++) {
		set_certificate(words[i]);
		opts.verify = HTTP_VERIFY_FULL;
		assert_get(&opts, -EKEYREJECTED, "--kubelet-ca-file");
		opts.verify = HTTP_VERIFY_CA_ONLY;
		assert_get(&opts, -EKEYREJECTED, "--kubelet-ca-file");
	}
	assert_int_equal(kubelet_standin_nr_received(&server), nr_received);
	set_certificate("renewed");
	opts.verify = HTTP_VERIFY_FULL;
	assert_get(&opts, 0, "");
	set_certificate("serving");
}

static void what_verifies_nothing_is_insecure(void **state)
{
	static const struct {
		const char *url;
		enum http_verify verify;
		bool is_insecure;
	} cases[] = {
		{ "https://10.0.0.1", HTTP_VERIFY_FULL, false },
		{ "https://10.0.0.1", HTTP_VERIFY_CA_ONLY, false },
		{ "https://10.0.0.1", HTTP_VERIFY_PINNED, false },
		{ "https://10.0.0.1", HTTP_VERIFY_NONE, true },
		{ "http://10.0.0.1", HTTP_VERIFY_FULL, true },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
		struct kubelet_opts opts = { .url = cases[i].url, .verify = cases[i].verify };

		assert_int_equal(kubelet_new(&opts, &kubelet), 0);
		assert_int_equal(kubelet_is_insecure(kubelet), cases[i].is_insecure);
	}
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
		cmocka_unit_test(all_pods_arrive),
		cmocka_unit_test(every_fault_has_its_error_and_remedy),
		cmocka_unit_test(a_slow_kubelet_is_waited_for),
		cmocka_unit_test(pods_over_the_limit_are_refused),
		cmocka_unit_test(one_object_goes_on_after_each_fault),
		cmocka_unit_test(the_certificate_is_verified),
		cmocka_unit_test(less_is_verified_when_asked_for),
		cmocka_unit_test(a_rotated_token_is_read_again),
		cmocka_unit_test(a_revoked_token_is_refused_until_the_new_one_is_there),
		cmocka_unit_test(a_token_that_cannot_be_one_is_not_sent),
		cmocka_unit_test(only_the_pinned_certificate_is_shown_the_token),
		cmocka_unit_test(a_server_that_fails_verification_is_not_shown_the_token),
		cmocka_unit_test(what_verifies_nothing_is_insecure),
		cmocka_unit_test(an_absent_kubelet_is_refused),
		cmocka_unit_test(an_ipv6_address_works_with_a_node_name),
		cmocka_unit_test(urls_are_checked),
		cmocka_unit_test(node_names_that_are_no_host_names_are_refused),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
