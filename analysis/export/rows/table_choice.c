/* table_choice.c - reads lists of tables: "kernel,call". */
#include "analysis/export/rows/table_choice.h"

/* Whether the list has the name. NULL: it has none. */
static int has(const char *list, const char *name)
{
	size_t len;

	for (; list && *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (vpt_text_is((struct vpt_text){list, len}, name))
			return 1;
	}
	return 0;
}

int vpa_table_is_chosen(const struct vpa_export_options *o, const char *name, int usual)
{
	return o->only ? has(o->only, name) : usual && !has(o->without, name);
}

static int is_same(void *ctx, const char *name, int is_report)
{
	(void)is_report;
	return vpt_text_is(*(const struct vpt_text *)ctx, name);
}

int vpa_tables_named(const struct vpa_exporter *e, const char *list, struct vpt_err *err)
{
	struct vpt_text name;
	int rc;

	if (!e->tables)
		return vpt_fail(err, VPT_EINVAL, "--format %s has no tables", e->name);
	do {
		name = (struct vpt_text){list, strcspn(list, ",")};
		list += name.len + (list[name.len] == ',');
		rc = e->tables(is_same, &name);
		if (rc == VPT_ENOMEM)
			return vpt_fail(err, rc, "no memory for the names of tables");
		if (rc != 1)
			return vpt_fail(err, VPT_EINVAL,
				"expected names of tables, such as kernel,call, found \"%.*s\"; "
				"vptrace-analyze export --help lists them",
				(int)(name.len < 60 ? name.len : 60), name.text);
	} while (*list);
	return VPT_OK;
}

int vpa_tables_check(
	const struct vpa_exporter *e, const struct vpa_export_options *o, struct vpt_err *err)
{
	const char *list = o->only ? o->only : o->without;
	int rc;

	if (o->only && o->without)
		return vpt_fail(err, VPT_EINVAL,
			"--only and --without cannot be combined: use one of them");
	rc = list ? vpa_tables_named(e, list, err) : VPT_OK;
	if (rc)
		vpt_err_at(err, o->only ? "--only" : "--without");
	return rc;
}
