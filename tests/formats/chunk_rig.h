/* chunk_rig.h - what tests of chunks share: a batch, its payload, and a chunk made by hand. */
#ifndef TESTS_FORMATS_CHUNK_RIG_H
#define TESTS_FORMATS_CHUNK_RIG_H

#include "formats/chunk/chunk.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "tests/support/traces/hand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_batch batch, decoded;
static struct vpt_payload payload, again;
static struct vpt_buffer hand;

static inline int setup(void **state)
{
	(void)state;
	vpt_batch_init(&batch);
	vpt_batch_init(&decoded);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	vpt_batch_free(&batch);
	vpt_batch_free(&decoded);
	vpt_payload_free(&payload);
	vpt_payload_free(&again);
	vpt_free(hand.data);
	hand = (struct vpt_buffer){0};
	return 0;
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
