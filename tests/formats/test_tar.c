/* test_tar.c - archives, read back by rules of the format that are written down here once more. */
#include "formats/perfetto/tar.h"

#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
	const char *name;
	size_t size;
} members[] = {
	{"perfetto_manifest.json", 10},
	{"empty", 0},
	{"one block", 512},
	{"more", 513},
};
enum { MEMBERS = sizeof(members) / sizeof(*members) };

static int write_archive(struct vpt_sink *sink, struct vpt_err *err)
{
	char data[600];
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < MEMBERS && !rc; i++) {
		memset(data, 'a' + (int)i, sizeof(data));
		rc = vpt_tar_begin(sink, members[i].name, members[i].size, err);
		if (!rc)
			rc = vpt_sink_write(sink, data, members[i].size, err);
		if (!rc)
			rc = vpt_tar_end(sink, members[i].size, err);
	}
	return rc ? rc : vpt_tar_finish(sink, err);
}

static void read_back(void **state)
{
	struct vpt_buffer out = {0};
	struct vpt_sink *sink;
	struct vpt_err err;
	size_t at = 0, i, k;

	(void)state;
	assert_int_equal(vpt_sink_memory(&out, &sink, &err), 0);
	assert_int_equal(write_archive(sink, &err), 0);
	sink->finish(sink, 1, NULL);
	for (i = 0; i < MEMBERS; i++) {
		const char *h = out.data + at;
		unsigned sum = 0;

		assert_true(at + 512 <= out.size);
		assert_string_equal(h, members[i].name);
		assert_int_equal(strtoul(h + 100, NULL, 8), 0644);
		assert_int_equal(strtoul(h + 124, NULL, 8), members[i].size);
		assert_int_equal(strtoul(h + 136, NULL, 8), 0); /* of no time */
		assert_int_equal(h[156], '0');
		assert_memory_equal(h + 257,
			"ustar\0"
			"00",
			8);
		for (k = 0; k < 512; k++)
			sum += k >= 148 && k < 156 ? ' ' : (unsigned char)h[k];
		assert_int_equal(strtoul(h + 148, NULL, 8), sum);
		for (k = 0; k < members[i].size; k++)
			assert_int_equal(out.data[at + 512 + k], 'a' + (int)i);
		at += 512 + (members[i].size + 511) / 512 * 512;
		for (; k % 512; k++)
			assert_int_equal(out.data[at - (512 - k % 512)], 0);
	}
	/* Two blocks of zeros end it. */
	assert_int_equal(out.size, at + 1024);
	for (; at < out.size; at++)
		assert_int_equal(out.data[at], 0);
	vpt_free(out.data);
}

static void refused(void **state)
{
	char name[120];
	struct vpt_buffer out = {0};
	struct vpt_sink *sink;
	struct vpt_err err;

	(void)state;
	assert_int_equal(vpt_sink_memory(&out, &sink, &err), 0);
	memset(name, 'n', sizeof(name));
	name[VPT_TAR_NAME_MAX + 1] = '\0';
	assert_int_equal(vpt_tar_begin(sink, name, 1, &err), VPT_EINVAL);
	assert_int_equal(vpt_tar_begin(sink, "", 1, &err), VPT_EINVAL);
	assert_int_equal(vpt_tar_begin(sink, "big", (uint64_t)8 << 30, &err), VPT_EINVAL);
	assert_non_null(strstr(err.text, "8 GiB"));
	assert_int_equal(sink->written_bytes, 0);
	name[VPT_TAR_NAME_MAX] = '\0';
	assert_int_equal(vpt_tar_begin(sink, name, ((uint64_t)8 << 30) - 1, &err), 0);
	assert_int_equal(strtoull(out.data + 124, NULL, 8), ((uint64_t)8 << 30) - 1);
	sink->finish(sink, 1, NULL);
	vpt_free(out.data);
}

static int writes_left;

static int write_some(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	(void)sink;
	(void)data;
	(void)size;
	return writes_left-- > 0 ? VPT_OK : vpt_fail(err, VPT_EIO, "full");
}

static void a_full_disk(void **state)
{
	struct vpt_sink sink = {.write = write_some};
	struct vpt_err err;
	int n;

	(void)state;
	for (n = 0;; n++) {
		writes_left = n;
		if (!write_archive(&sink, &err))
			break;
		assert_int_equal(err.code, VPT_EIO);
	}
	assert_true(n > MEMBERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_back),
		cmocka_unit_test(refused),
		cmocka_unit_test(a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
