/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_log_name.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define UID "585f9714-eb2f-48e0-1997-c21e901f3bee"
#define STATIC_UID "fd38b59a72cca1ae5023bfe6af2d1fae"
#define ID "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d2"
#define ID_63 "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d"
#define ID_UPPER "5C94E29F6BDC7F1D72BF99A0292C9026E17303B53B83B01285FF6A87AADCE0D2"
#define X64 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* A name, and its parts with "|" between them; NULL: it is none. */
struct name_case {
	const char *name;
	const char *parts;
};

static const struct name_case dirs[] = {
	{ "shop_web-7d4b9c-x2x9z_" UID, "shop|web-7d4b9c-x2x9z|" UID },
	{ "kube-system_etcd-node-1_" STATIC_UID, "kube-system|etcd-node-1|" STATIC_UID },
	{ "a_web.example.com_u", "a|web.example.com|u" },

	{ "", NULL },
	{ "_", NULL },
	{ "__", NULL },
	{ "shop", NULL },
	{ "shop_web", NULL },
	{ "shop_web_", NULL },
	{ "_web_" UID, NULL },
	{ "shop__" UID, NULL },
	{ "shop_web_x_" UID, NULL },
	{ "shop_web_" UID "_", NULL },
	{ "shop_we b_" UID, NULL },
	{ "shop_we\nb_" UID, NULL },
	{ "Shop_web_" UID, NULL },
	{ "shop_web_\xff", NULL },
	{ "shop_../x_" UID, NULL },
	{ "shop_" X64 X64 X64 X64 "_" UID, NULL },
};

static const struct name_case links[] = {
	{ "web-7d4b9c-x2x9z_shop_nginx-" ID ".log", "web-7d4b9c-x2x9z|shop|nginx|" ID },
	{ "etcd-node-1_kube-system_etcd-main-2-" ID ".log",
	  "etcd-node-1|kube-system|etcd-main-2|" ID },
	{ "a.b_c_d-" ID ".log", "a.b|c|d|" ID },
	{ "a_b_" ID_63 "-" ID ".log", "a|b|" ID_63 "|" ID },

	{ "", NULL },
	{ ".log", NULL },
	{ "-" ID ".log", NULL },
	{ ID ".log", NULL },
	{ "web_shop_nginx-" ID, NULL },
	{ "web_shop_nginx-" ID ".log.1", NULL },
	{ "web_shop_nginx-" ID_63 ".log", NULL },
	{ "web_shop_nginx-" ID_UPPER ".log", NULL },
	{ "web_shop_nginx-" ID_63 "g.log", NULL },
	{ "web_shop_nginx" ID ".log", NULL },
	{ "web_shop_nginx_" ID ".log", NULL },
	{ "web_shop_-" ID ".log", NULL },
	{ "web_shop-" ID ".log", NULL },
	{ "web-" ID ".log", NULL },
	{ "_shop_nginx-" ID ".log", NULL },
	{ "web__nginx-" ID ".log", NULL },
	{ "web_shop_a_b-" ID ".log", NULL },
	{ "we\033b_shop_nginx-" ID ".log", NULL },
};

static const struct name_case files[] = {
	{ "/var/log/pods/shop_web_" UID "/nginx/0.log", "shop|web|" UID "|nginx|0" },
	{ "../pods/shop_web_" UID "/nginx/17.log", "shop|web|" UID "|nginx|17" },
	{ "shop_web_" UID "/nginx/4294967295.log", "shop|web|" UID "|nginx|4294967295" },

	{ "", NULL },
	{ "/", NULL },
	{ "0.log", NULL },
	{ "/nginx/0.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/x.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/0x.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/-1.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/0.log.gz", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/4294967296.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/nginx/99999999999999999999.log", NULL },
	{ "/var/log/pods/shop_web_" UID "//0.log", NULL },
	{ "/var/log/pods/shop_web_" UID "/ng_inx/0.log", NULL },
	{ "/var/log/pods/shop_web/nginx/0.log", NULL },
	{ "/var/lib/docker/containers/" ID "/" ID "-json.log", NULL },
};

#define PRINTF_VIEW(view) (int)(view).len, (view).text

static bool print_dir(struct strview name, char *ret_parts, size_t len)
{
	struct pod_log_dir dir;

	if (!pod_log_dir_parse(name, &dir))
		return false;
	snprintf(ret_parts, len, "%.*s|%.*s|%.*s", PRINTF_VIEW(dir.namespace), PRINTF_VIEW(dir.pod),
		 PRINTF_VIEW(dir.uid));
	return true;
}

static bool print_link(struct strview name, char *ret_parts, size_t len)
{
	struct pod_log_link link;

	if (!pod_log_link_parse(name, &link))
		return false;
	snprintf(ret_parts, len, "%.*s|%.*s|%.*s|%.*s", PRINTF_VIEW(link.pod),
		 PRINTF_VIEW(link.namespace), PRINTF_VIEW(link.container), PRINTF_VIEW(link.id));
	return true;
}

static bool print_file(struct strview path, char *ret_parts, size_t len)
{
	struct pod_log_file file;

	if (!pod_log_file_parse(path, &file))
		return false;
	snprintf(ret_parts, len, "%.*s|%.*s|%.*s|%.*s|%u", PRINTF_VIEW(file.dir.namespace),
		 PRINTF_VIEW(file.dir.pod), PRINTF_VIEW(file.dir.uid), PRINTF_VIEW(file.container),
		 file.restart_count);
	return true;
}

static void check_cases(const struct name_case *cases, size_t nr_cases,
			bool (*print)(struct strview name, char *ret_parts, size_t len))
{
	for (size_t i = 0; i < nr_cases; i++) {
		char parts[1024] = "nothing";
		bool is_name = print(strview_of(cases[i].name, 1000), parts, sizeof(parts));

		if (strcmp(parts, cases[i].parts ? cases[i].parts : "nothing") != 0 ||
		    is_name != (cases[i].parts != NULL))
			fail_msg("\"%s\": got %s", cases[i].name, parts);
	}
}

static void a_pods_directory_has_three_names(void **state)
{
	(void)state;
	check_cases(dirs, array_len(dirs), print_dir);
}

static void a_link_ends_in_an_id(void **state)
{
	(void)state;
	check_cases(links, array_len(links), print_link);
}

static void a_links_target_has_uid_and_restarts(void **state)
{
	(void)state;
	check_cases(files, array_len(files), print_file);
}

/* The kubelet cuts a link's name at 255 bytes; what is left of the ID is no ID. */
static void a_link_whose_name_was_cut_is_none(void **state)
{
	struct pod_log_link link;
	char name[512];

	(void)state;
	for (size_t pod_len = 60; pod_len < 253; pod_len++) {
		snprintf(name, sizeof(name), "%.*s_%.63s_%.63s-%s", (int)pod_len, X64 X64 X64 X64,
			 X64, X64, ID);
		bool is_cut = strlen(name) > 251;
		name[is_cut ? 251 : strlen(name)] = '\0';
		memcpy(name + strlen(name), ".log", 5);
		assert_int_equal(pod_log_link_parse(strview_of(name, 255), &link), !is_cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pods_directory_has_three_names),
		cmocka_unit_test(a_link_ends_in_an_id),
		cmocka_unit_test(a_links_target_has_uid_and_restarts),
		cmocka_unit_test(a_link_whose_name_was_cut_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
