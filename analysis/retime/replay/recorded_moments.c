/* recorded_moments.c - what calls and ops around each moment say of it. */
#include "analysis/retime/replay/replay.h"

#include "analysis/retime/replay/replay_clocks.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"

#include <string.h>

enum { AT_CALL, AT_END, AT_START };

enum { STEPS = 8 };

int vpa_moments_new(
	struct vpa_moments *m, const uint64_t *ns, size_t count, size_t worlds, uint64_t start_ns)
{
	size_t i, cells = (count + 1) * worlds;

	*m = (struct vpa_moments){.ns = ns, .count = count, .worlds = worlds, .start_ns = start_ns};
	m->times_ns = vpt_calloc(cells, sizeof(*m->times_ns));
	m->host_ns = vpt_calloc(cells, sizeof(*m->host_ns));
	m->calls_ns = vpt_calloc(cells, sizeof(*m->calls_ns));
	m->ends_ns = vpt_alloc(cells, sizeof(*m->ends_ns));
	m->starts_ns = vpt_alloc(cells, sizeof(*m->starts_ns));
	m->kinds = vpt_calloc(count + 1, 1);
	if (!m->times_ns || !m->host_ns || !m->calls_ns || !m->ends_ns || !m->starts_ns ||
		!m->kinds)
		return VPT_ENOMEM;
	for (i = 0; i < cells; i++) {
		m->ends_ns[i] = INT64_MIN;
		m->starts_ns[i] = INT64_MAX;
	}
	return VPT_OK;
}

void vpa_moments_free(struct vpa_moments *m)
{
	vpt_free(m->times_ns);
	vpt_free(m->host_ns);
	vpt_free(m->calls_ns);
	vpt_free(m->ends_ns);
	vpt_free(m->starts_ns);
	vpt_free(m->kinds);
	*m = (struct vpa_moments){0};
}

void vpa_moments_pass(struct vpa_moments *m, uint64_t until_ns, const int64_t *host_ns)
{
	for (; m->next_call < m->count && m->ns[m->next_call] < until_ns; m->next_call++)
		memcpy(&m->host_ns[m->next_call * m->worlds], host_ns,
			m->worlds * sizeof(*host_ns));
}

void vpa_moments_start(struct vpa_moments *m, uint64_t start_ns, const int64_t *call_ns)
{
	for (; m->next_start < m->count && m->ns[m->next_start] <= start_ns; m->next_start++)
		memcpy(&m->calls_ns[m->next_start * m->worlds], call_ns,
			m->worlds * sizeof(*call_ns));
}

/* The first moment at or after a time, which is not before the moment `low`. */
static size_t moment_from(const struct vpa_moments *m, size_t low, uint64_t ns)
{
	size_t high = m->count, steps;

	for (steps = 0; steps < STEPS; steps++, low++)
		if (low == high || m->ns[low] >= ns)
			return low;
	VPT_SEARCH(low, high, middle, m->ns[middle] < ns);
	return low;
}

/* The first moment by which the op had ended, and the last one from which on it starts. */
struct vpa_moment_rows vpa_moments_of(struct vpa_moments *m, const struct vpa_tape_op *o)
{
	size_t end, start;

	m->next_op = moment_from(m, m->next_op, o->start_ns + 1);
	start = m->next_op ? m->next_op - 1 : m->count;
	end = start < m->count && m->ns[start] == o->end_ns ? start
							    : moment_from(m, m->next_op, o->end_ns);
	if (end < m->count && m->ns[end] == o->end_ns)
		m->kinds[end] = AT_END;
	if (start < m->count && m->ns[start] == o->start_ns && m->kinds[start] == AT_CALL)
		m->kinds[start] = AT_START;
	return (struct vpa_moment_rows){
		&m->ends_ns[end * m->worlds], &m->starts_ns[start * m->worlds]};
}

/* What had ended by a moment includes what had by an earlier one; what starts from it on, what does from a later one. */
static void add_others(struct vpa_moments *m)
{
	size_t i, n = m->count * m->worlds;

	for (i = m->worlds; i < n; i++)
		if (m->ends_ns[i] < m->ends_ns[i - m->worlds])
			m->ends_ns[i] = m->ends_ns[i - m->worlds];
	for (i = n > m->worlds ? n - m->worlds : 0; i--;)
		if (m->starts_ns[i] > m->starts_ns[i + m->worlds])
			m->starts_ns[i] = m->starts_ns[i + m->worlds];
}

/* After the last call nothing says what the host does: it may wait for the GPU. */
static int64_t last_time_of(const struct vpa_moments *m, size_t i, size_t w)
{
	size_t row = i * m->worlds, at = row + w;
	int64_t recorded_ns = vpa_clock_later(m->ends_ns[row], m->host_ns[row]);

	return vpt_sat_add_i64(vpa_clock_later(m->ends_ns[at], m->host_ns[at]),
		vpt_sat_diff_i64(vpt_sat_diff(m->ns[i], m->start_ns), recorded_ns));
}

/* Host code between two calls may take less in a world, or more: then so does each part of it. The calls may be of two
 * threads, and come in another order. */
static int64_t host_time_of(const struct vpa_moments *m, size_t i, size_t w)
{
	size_t row = i * m->worlds, at = row + w;
	int64_t was_ns = m->host_ns[row],
		since_ns = vpt_sat_diff_i64(vpt_sat_diff(m->ns[i], m->start_ns), was_ns),
		all_ns = vpt_sat_diff_i64(m->calls_ns[row], was_ns),
		now_ns = vpt_sat_diff_i64(m->calls_ns[at], m->host_ns[at]);

	if (now_ns >= 0 && now_ns != all_ns && all_ns > 0)
		since_ns = (int64_t)vpt_sat_scale(
			(uint64_t)since_ns, (uint64_t)now_ns, (uint64_t)all_ns);
	return vpa_clock_later(m->ends_ns[at], vpt_sat_add_i64(m->host_ns[at], since_ns));
}

/* A GPU without its host may begin what comes later before what comes first has ended: then the moment is when that
 * has. Where all ops are gone, the host says when it is. */
static int64_t time_of(const struct vpa_moments *m, size_t i, size_t w)
{
	size_t at = i * m->worlds + w;
	int64_t end_ns = m->ends_ns[at], start_ns = m->starts_ns[at];

	if (m->kinds[i] == AT_CALL)
		return i < m->next_start ? host_time_of(m, i, w) : last_time_of(m, i, w);
	if (m->kinds[i] == AT_START && start_ns != INT64_MAX)
		return vpa_clock_later(start_ns, end_ns);
	return end_ns == INT64_MIN ? m->host_ns[at] : end_ns;
}

void vpa_moments_end(struct vpa_moments *m)
{
	size_t i, w;

	add_others(m);
	for (i = 0; i < m->count; i++)
		for (w = 0; w < m->worlds; w++)
			m->times_ns[i * m->worlds + w] = time_of(m, i, w);
}
