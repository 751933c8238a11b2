/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_logs.h"

#include "base/fileio.h"
#include "remove_tree.h"
#include "torture.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define UID "585f9714-eb2f-48e0-1997-c21e901f3bee"
#define UID_2 "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define STATIC_UID "fd38b59a72cca1ae5023bfe6af2d1fae"
#define ID "5c94e29f6bdc7f1d72bf99a0292c9026e17303b53b83b01285ff6a87aadce0d2"
#define ID_2 "0688797519e7ec2b28544cfc3549d037c69e21a23d850bbb1b38a869f1617b00"
#define ID_3 "6628f449edcaf42c33c23c2630a03f14063acbde7563c2a3c390806eb1374179"
#define LIST_MAX_BYTES ((size_t)1 << 20)
#define PATH_BYTES 1024

/* /var/log, empty before each test. */
static char log_dir[64];

static const char *in_log(const char *name)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", log_dir, name);
	return path;
}

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(in_log(name), 0755), 0);
}

static void make_link(const char *name, const char *target)
{
	assert_int_equal(symlink(target, in_log(name)), 0);
}

static void make_file(const char *name)
{
	assert_int_equal(file_write_atomic(in_log(name), "x", 1), 0);
}

static int make_tree(void **state)
{
	(void)state;
	snprintf(log_dir, sizeof(log_dir), "/tmp/flamelet-pod-logs-XXXXXX");
	if (!mkdtemp(log_dir) || mkdir(in_log("pods"), 0755) < 0)
		return -1;
	return mkdir(in_log("containers"), 0755);
}

static int remove_all(void **state)
{
	(void)state;
	remove_tree(log_dir);
	return 0;
}

static struct pod_list *list_pods(void)
{
	struct pod_list *list = NULL;

	assert_int_equal(pod_logs_list(log_dir, LIST_MAX_BYTES, &list), 0);
	return list;
}

static const struct pod *find_pod(const struct pod_list *list, const char *uid)
{
	for (size_t i = 0; i < list->nr_pods; i++)
		if (strcmp(list->pods[i].uid, uid) == 0)
			return &list->pods[i];
	fail_msg("no pod %s", uid);
	return NULL;
}

static const struct pod_container *find_container(const struct pod *pod, const char *id)
{
	for (size_t i = 0; i < pod->nr_containers; i++)
		if (strcmp(pod->containers[i].id, id) == 0)
			return &pod->containers[i];
	fail_msg("no container %s", id);
	return NULL;
}

static void links_name_the_containers_of_pods(void **state)
{
	(void)state;
	make_dir("pods/shop_web-1_" UID);
	make_dir("pods/kube-system_etcd-node-1_" STATIC_UID);
	make_link("containers/web-1_shop_nginx-" ID ".log",
		  "/var/log/pods/shop_web-1_" UID "/nginx/2.log");
	make_link("containers/web-1_shop_side-car-" ID_2 ".log",
		  "/var/log/pods/shop_web-1_" UID "/side-car/0.log");
	make_link("containers/etcd-node-1_kube-system_etcd-" ID_3 ".log",
		  "/var/log/pods/kube-system_etcd-node-1_" STATIC_UID "/etcd/0.log");

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 2);
	assert_int_equal(list->nr_skipped, 0);

	const struct pod *web = find_pod(list, UID);
	assert_int_equal(web->source, POD_FROM_LOGS);
	assert_string_equal(web->name, "web-1");
	assert_string_equal(web->namespace, "shop");
	assert_string_equal(web->service_name, "web-1");
	assert_string_equal(web->service_namespace, "shop");
	assert_string_equal(web->workload_kind, "");
	assert_string_equal(web->workload_name, "");
	assert_string_equal(web->node, "");
	assert_string_equal(web->start_time, "");
	assert_false(web->has_all_ids);
	assert_int_equal(web->nr_containers, 2);
	assert_string_equal(find_container(web, ID)->name, "nginx");
	assert_string_equal(find_container(web, ID)->image_name, "");
	assert_string_equal(find_container(web, ID)->image_tag, "");
	assert_int_equal(find_container(web, ID)->restart_count, 2);
	assert_string_equal(find_container(web, ID_2)->name, "side-car");

	const struct pod *etcd = find_pod(list, STATIC_UID);
	assert_string_equal(etcd->name, "etcd-node-1");
	assert_string_equal(find_container(etcd, ID_3)->name, "etcd");
}

static void a_pod_without_a_directory_is_known_by_its_link(void **state)
{
	(void)state;
	make_link("containers/web-1_shop_nginx-" ID ".log",
		  "/var/log/pods/shop_web-1_" UID "/nginx/0.log");

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 1);
	assert_string_equal(find_container(find_pod(list, UID), ID)->name, "nginx");
}

static void a_link_that_leads_nowhere_known_goes_by_its_name(void **state)
{
	(void)state;
	make_dir("pods/shop_web-1_" UID);
	make_link("containers/web-1_shop_nginx-" ID ".log", "/var/lib/docker/x-json.log");
	make_file("containers/web-1_shop_plain-" ID_2 ".log");
	make_link("containers/other_shop_nginx-" ID_3 ".log", "/nowhere");

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 1);
	assert_int_equal(list->nr_skipped, 1);
	assert_string_equal(find_container(find_pod(list, UID), ID)->name, "nginx");
	assert_string_equal(find_container(find_pod(list, UID), ID_2)->name, "plain");
}

static void two_pods_of_one_name_are_told_apart_or_not_guessed(void **state)
{
	(void)state;
	make_dir("pods/shop_db-0_" UID);
	make_dir("pods/shop_db-0_" UID_2);
	make_link("containers/db-0_shop_pg-" ID ".log", "/var/log/pods/shop_db-0_" UID "/pg/0.log");
	make_link("containers/db-0_shop_pg-" ID_2 ".log",
		  "/var/log/pods/shop_db-0_" UID_2 "/pg/0.log");
	make_link("containers/db-0_shop_pg-" ID_3 ".log", "/nowhere");

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 2);
	assert_int_equal(list->nr_skipped, 1);
	assert_int_equal(find_pod(list, UID)->nr_containers, 1);
	assert_string_equal(find_pod(list, UID)->containers[0].id, ID);
	assert_string_equal(find_pod(list, UID_2)->containers[0].id, ID_2);
}

static void what_has_another_name_is_counted(void **state)
{
	(void)state;
	make_dir("pods/shop_web-1_" UID);
	make_dir("pods/lost+found");
	make_dir("pods/shop_web_x_" UID_2);
	make_file("pods/shop_web-2_" UID_2);
	make_link("pods/shop_web-3_" UID_2, "/");
	make_file("containers/README");
	make_link("containers/web-1_shop_nginx-cut.log", "/");
	assert_int_equal(mkfifo(in_log("containers/fifo"), 0600), 0);

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 1);
	assert_int_equal(list->nr_skipped, 7);
	assert_int_equal(list->pods[0].nr_containers, 0);
}

static void empty_directories_are_an_empty_list(void **state)
{
	(void)state;
	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 0);

	assert_int_equal(rmdir(in_log("pods")), 0);
	pod_list_free(list);
	list = list_pods();
	assert_int_equal(list->nr_pods, 0);
}

static void directories_may_be_elsewhere(void **state)
{
	(void)state;
	make_dir("moved");
	make_dir("moved/shop_web-1_" UID);
	assert_int_equal(rmdir(in_log("pods")), 0);
	make_link("pods", "moved");

	_cleanup_(pod_list_freep) struct pod_list *list = list_pods();
	assert_int_equal(list->nr_pods, 1);
}

static void without_directories_there_is_nothing_to_list(void **state)
{
	struct pod_list *list = NULL;

	(void)state;
	assert_int_equal(pod_logs_list("/nonexistent", LIST_MAX_BYTES, &list), -ENOENT);
	assert_int_equal(rmdir(in_log("pods")), 0);
	assert_int_equal(rmdir(in_log("containers")), 0);
	assert_int_equal(pod_logs_list(log_dir, LIST_MAX_BYTES, &list), -ENOENT);
	assert_int_equal(mkfifo(in_log("pods"), 0600), 0);
	assert_int_equal(pod_logs_list(log_dir, LIST_MAX_BYTES, &list), -ENOTDIR);
	assert_null(list);
}

static void a_list_over_its_limit_is_none(void **state)
{
	struct pod_list *list = NULL;

	(void)state;
	make_dir("pods/shop_web-1_" UID);
	assert_int_equal(pod_logs_list(log_dir, 8, &list), -ENOSPC);
	assert_null(list);
}

static void each_failed_allocation_is_survived(void **state)
{
	int r;

	(void)state;
	make_dir("pods/shop_web-1_" UID);
	make_link("containers/web-1_shop_nginx-" ID ".log",
		  "/var/log/pods/shop_web-1_" UID "/nginx/0.log");
	unsigned int n = 0;
	do {
		_cleanup_(pod_list_freep) struct pod_list *list = NULL;

		torture_begin(++n);
		r = pod_logs_list(log_dir, LIST_MAX_BYTES, &list);
		assert_true(r == 0 ? list && list->nr_pods == 1 : r == -ENOMEM && !list);
	} while (torture_end());
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(links_name_the_containers_of_pods, make_tree,
						remove_all),
		cmocka_unit_test_setup_teardown(a_pod_without_a_directory_is_known_by_its_link,
						make_tree, remove_all),
		cmocka_unit_test_setup_teardown(a_link_that_leads_nowhere_known_goes_by_its_name,
						make_tree, remove_all),
		cmocka_unit_test_setup_teardown(two_pods_of_one_name_are_told_apart_or_not_guessed,
						make_tree, remove_all),
		cmocka_unit_test_setup_teardown(what_has_another_name_is_counted, make_tree,
						remove_all),
		cmocka_unit_test_setup_teardown(empty_directories_are_an_empty_list, make_tree,
						remove_all),
		cmocka_unit_test_setup_teardown(directories_may_be_elsewhere, make_tree,
						remove_all),
		cmocka_unit_test_setup_teardown(without_directories_there_is_nothing_to_list,
						make_tree, remove_all),
		cmocka_unit_test_setup_teardown(a_list_over_its_limit_is_none, make_tree,
						remove_all),
		cmocka_unit_test_setup_teardown(each_failed_allocation_is_survived, make_tree,
						remove_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
