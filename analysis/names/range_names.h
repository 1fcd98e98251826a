/* range_names.h - split a range's name into the part shared by all ranges like it and the part of
 * this one alone.
 *
 * PyTorch's emit_nvtx() appends numbers to each operator's name, so that no two names are equal:
 *
 *	aten::to, op_id = 998949
 *	aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(3,0), (4,0)]
 *
 * Ranges are summed and shown by the part before these. */
#ifndef VPA_ANALYSIS_NAMES_RANGE_NAMES_H
#define VPA_ANALYSIS_NAMES_RANGE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* How many of the `len` bytes are the name that ranges are summed by; `len` itself for nearly all
 * names. */
size_t vpa_range_name_len(const char *name, size_t len);

/* Whether it covers all threads of its process, though one thread opens and closes it: an iteration
 * of PyTorch's profiler, "ProfilerStep#12", during which autograd launches from its own thread. */
int vpa_range_is_process_wide(const char *name, size_t len);

/* Whether an operator is called so: its name has a namespace, "aten::add". */
int vpa_range_names_operator(const char *name, size_t len);

/* How many bytes of a name come before the number that it ends with: 7 of "section 3" and "Segment [2]", 6 of "window 7 of 9". 0: it ends
 * with none, or is that of a part of a model or of a device, of which each does its own work: "layer 3", "blocks.7", "stage 1". */
size_t vpa_range_stem(const char *name, size_t len, uint64_t *number);

/* Whether a stage of this name is an autoencoder's, and mostly decodes latents to frames: "vae_decode", "AutoencoderKL.decode",
 * "vae_encode". */
int vpa_range_is_decoder(const char *name, size_t len);

/* Whether it encodes, and does not decode too: "encode_prompt", "vae_encode". */
int vpa_range_is_encoder(const char *name, size_t len);

/* Whether a range of this name loads a model or an adapter, which can be kept: "load_lora_weights". */
int vpa_range_loads(const char *name, size_t len);

/* Whether its name has a word that begins so, without case. Words are of letters and numbers; `word` may go on with others. */
int vpa_range_has_word(const char *name, size_t len, const char *word);

#endif
