/* flight_handover.h - passes a ring's memory to `vptrace run`, which writes it to a file should this
 * process die.
 *
 * VPTRACE_RING_SOCKET names a datagram socket of the launcher. A message is one byte, 'R', and the
 * descriptor. The launcher takes messages of its own user alone. */
#ifndef VPTRACE_TRACER_FLIGHT_HANDOVER_H
#define VPTRACE_TRACER_FLIGHT_HANDOVER_H

/* Sends the descriptor, if there is a launcher. -1: there is none, or it does not answer: the ring
 * dies with this process. Waits at most a tenth of a second. */
int vtr_flight_hand_over(int fd);

#endif
