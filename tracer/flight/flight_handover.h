/* flight_handover.h - passes a ring's memory to `vptrace run`, which writes it to a file should this
 * process die.
 *
 * VPTRACE_RING_SOCKET names a datagram socket of the launcher. A message is one byte, 'R', and the
 * descriptor. The launcher takes messages of its own user alone. */
#ifndef VPTRACE_TRACER_FLIGHT_FLIGHT_HANDOVER_H
#define VPTRACE_TRACER_FLIGHT_FLIGHT_HANDOVER_H

enum { VTR_HANDOVER_BYTE = 'R' };

/* Sends the descriptor, if there is a launcher. -1: there is none, or it does not answer: the ring
 * dies with this process.
 *
 * Waits for nothing unless the launcher's queue is full: it holds as many messages as
 * net.unix.max_dgram_qlen says, 10 by default, and a thread of the launcher takes them. Then this
 * tries again every millisecond, about a tenth of a second in all, which is enough for a launcher that
 * was not scheduled for a while, and short beside the start of CUDA. It happens once, as a ring is
 * begun, on the thread that begins it. */
int vtr_flight_hand_over(int fd);

#endif
