/* thread_waits.h - ranges whose names say that a thread waits for another one in them. */
#ifndef VPA_ANALYSIS_ADVICE_FINDINGS_THREAD_WAITS_H
#define VPA_ANALYSIS_ADVICE_FINDINGS_THREAD_WAITS_H

/* Whether a range with this name is such a wait: "queue.put", "Thread.join", "lock.acquire". The trace does not say what for:
 * no CUDA call is in it, as in the host's own code. */
int vpa_is_thread_wait(const char *range);

#endif
