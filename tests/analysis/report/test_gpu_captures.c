/* test_gpu_captures.c - captures of real GPUs in tests/data/gpu give the reports that lie beside them.
 *
 * Each NAME.zst there has its report in NAME.txt, is at most 1 MiB, is of a real GPU and stands in the
 * README. VPT_RECORD=1 rewrites reports, after a change of the report that is meant. As long as there is
 * no capture the program ends with 77: skipped, in words. The rules themselves are tried on folders made
 * here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPTURE_BYTES_MAX = 1 << 20, PATH_BYTES = 2048 };

static char captures[PATH_BYTES]; /* the folder */
static unsigned found;

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail_msg("expected %s in the environment, as CTest sets it", name);
	return value;
}

static void path_in(const char *folder, const char *name, const char *end, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s%s", folder, name, end);
}

/* The text of a file, to be freed, or NULL. */
static char *text_of(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t size = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Analyses NAME.zst from inside of its folder, since a report repeats the path. */
static void exec_analyzer(const char *folder, const char *name, const char *output)
{
	char capture[PATH_BYTES];
	int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600), rc;

	snprintf(capture, sizeof(capture), "%s.zst", name);
	rc = fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || chdir(folder);
	unsetenv("COLUMNS");
	setenv("LC_ALL", "C", 1);
	if (!rc)
		execl(environment("VPT_ANALYZE"), "vptrace-analyze", capture, "--no-progress",
			(char *)NULL);
	_exit(126);
}

/* The report as text, to be freed; NULL if there is none. Exit code 3, records missing, is one. */
static char *report_of(const char *folder, const char *name)
{
	char output[] = "/tmp/vptrace-report-XXXXXX";
	char *text = NULL;
	int fd = mkstemp(output), status = 0;
	pid_t child;

	assert_true(fd >= 0);
	close(fd);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		exec_analyzer(folder, name, output);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3))
		text = text_of(output);
	unlink(output);
	return text;
}

static int readme_names(const char *folder, const char *name)
{
	char path[PATH_BYTES], wanted[PATH_BYTES];
	char *text;
	int is_there;

	path_in(folder, "README.md", "", path);
	text = text_of(path);
	snprintf(wanted, sizeof(wanted), "`%s.zst`", name);
	is_there = text && strstr(text, wanted);
	free(text);
	return is_there;
}

/* What is wrong with a capture and its report, or NULL. */
static const char *report_fault(const char *folder, const char *name)
{
	char path[PATH_BYTES];
	char *report = report_of(folder, name), *expected;
	const char *fault = NULL;

	path_in(folder, name, ".txt", path);
	if (report && getenv("VPT_RECORD") && folder == captures)
		write_text(path, report);
	expected = text_of(path);
	if (!report)
		fault = "it cannot be analysed";
	else if (strstr(report, "SIMULATED"))
		fault = "it is of the simulated GPU";
	else if (!expected)
		fault = "its report is missing; VPT_RECORD=1 writes it";
	else if (strcmp(report, expected))
		fault = "its report is another; VPT_RECORD=1 rewrites it";
	free(report);
	free(expected);
	return fault;
}

static const char *fault_of(const char *folder, const char *name)
{
	char path[PATH_BYTES];
	struct stat st;

	path_in(folder, name, ".zst", path);
	if (stat(path, &st))
		return "it is not there";
	if (st.st_size > CAPTURE_BYTES_MAX)
		return "it is larger than 1 MiB";
	if (!readme_names(folder, name))
		return "the README has no line about it";
	return report_fault(folder, name);
}

static void captures_give_their_reports(void **state)
{
	DIR *d = opendir(captures);
	const struct dirent *entry;
	unsigned faults = 0;

	(void)state;
	assert_non_null(d);
	while ((entry = readdir(d)) != NULL) {
		size_t len = strlen(entry->d_name);
		char name[256];
		const char *fault;

		if (len < 5 || strcmp(entry->d_name + len - 4, ".zst"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len - 4, entry->d_name);
		found++;
		fault = fault_of(captures, name);
		if (fault)
			print_message("%s: %s\n", entry->d_name, fault);
		faults += fault != NULL;
	}
	closedir(d);
	assert_int_equal(faults, 0);
}

/* ---- the rules themselves ---- */

static char made[] = "/tmp/vptrace-captures-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(made) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"a.zst", "a.txt", "README.md"};
	char path[PATH_BYTES];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		path_in(made, names[i], "", path);
		unlink(path);
	}
	return rmdir(made);
}

/* A file of tests/corpus as the only capture of the folder. */
static void put_capture(const char *corpus_name, size_t padding)
{
	static char content[1 << 16], zeros[CAPTURE_BYTES_MAX];
	char path[PATH_BYTES];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/corpus/%s", environment("VPT_SOURCE_DIR"),
		corpus_name);
	f = fopen(path, "rb");
	assert_non_null(f);
	size = fread(content, 1, sizeof(content), f);
	fclose(f);
	path_in(made, "a.zst", "", path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, size, f), size);
	assert_int_equal(fwrite(zeros, 1, padding, f), padding);
	fclose(f);
}

static void put_text(const char *name, const char *text)
{
	char path[PATH_BYTES];

	path_in(made, name, "", path);
	write_text(path, text);
}

static void each_rule_is_enforced(void **state)
{
	char *report;

	(void)state;
	assert_string_equal(fault_of(made, "a"), "it is not there");
	put_capture("good-four-chunks.zst", 0);
	assert_string_equal(fault_of(made, "a"), "the README has no line about it");
	put_text("README.md", "| `a.zst` | 2000-01-01 |\n");
	assert_string_equal(fault_of(made, "a"), "its report is missing; VPT_RECORD=1 writes it");
	put_text("a.txt", "another report\n");
	assert_string_equal(fault_of(made, "a"), "its report is another; VPT_RECORD=1 rewrites it");

	report = report_of(made, "a");
	assert_non_null(report);
	assert_non_null(strstr(report, "a.zst"));
	put_text("a.txt", report);
	free(report);
	assert_null(fault_of(made, "a"));

	put_capture("good-small.zst", 0);
	assert_string_equal(fault_of(made, "a"), "it is of the simulated GPU");
	put_capture("README.md", 0);
	assert_string_equal(fault_of(made, "a"), "it cannot be analysed");
	put_capture("good-four-chunks.zst", CAPTURE_BYTES_MAX);
	assert_string_equal(fault_of(made, "a"), "it is larger than 1 MiB");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_give_their_reports),
		cmocka_unit_test_setup_teardown(each_rule_is_enforced, make_folder, remove_folder),
	};
	const char *source = getenv("VPT_SOURCE_DIR");
	int failed;

	snprintf(captures, sizeof(captures), "%s/tests/data/gpu", source ? source : ".");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (failed || found)
		return failed;
	print_message("SKIPPED: tests/data/gpu has no capture of a real GPU yet\n");
	return 77;
}
