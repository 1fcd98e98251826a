/* crew.h - threads that help the one that reads a trace.
 *
 * Work comes from sources, each with an order of its own: chunks to decode, folds to feed. A source guards its
 * state with the crew's lock, and is asked for one piece of work at a time. Any thread may take a piece, the
 * one that waits for it included, so results never depend on how many there are, and nothing waits for a
 * thread that the system does not run.
 *
 *	owner                        a thread of the crew
 *	lock, add work, unlock, call
 *	                             take(): chooses a piece, unlocks, works, locks, tells
 *	lock, await until it is done, unlock */
#ifndef VPA_ANALYSIS_BASE_CREW_H
#define VPA_ANALYSIS_BASE_CREW_H

enum { VPA_CREW_MAX = 15, VPA_CREW_SOURCES = 2 };

struct vpa_crew;

/* Takes a piece of work. Called with the lock, returns with it; works without it, between vpa_crew_unlock() and
 * vpa_crew_lock(), and then calls vpa_crew_tell(). `who`: 0 for the owner's thread, else 1 to VPA_CREW_MAX. Returns
 * 0 if there is no work now. */
typedef int vpa_crew_take(void *source, unsigned who);

/* Starts up to `count` threads; those that cannot be started are not used. NULL: no memory, or no thread. */
struct vpa_crew *vpa_crew_start(unsigned count);
/* Ends the threads, after the work that they are at. Accepts NULL. */
void vpa_crew_stop(struct vpa_crew *crew);

/* Adds a source; later ones go first. Takes one away that has no work left, and that nobody works for. */
void vpa_crew_serve(struct vpa_crew *crew, vpa_crew_take *take, void *source);
void vpa_crew_leave(struct vpa_crew *crew, void *source);

void vpa_crew_lock(struct vpa_crew *crew);
void vpa_crew_unlock(struct vpa_crew *crew);

/* There is work, which was added with the lock. Best without it: a thread that wakes up needs it. */
void vpa_crew_call(struct vpa_crew *crew);
/* With the lock: a piece of work is done; waits until one is. */
void vpa_crew_tell(struct vpa_crew *crew);
void vpa_crew_await(struct vpa_crew *crew);

#endif
