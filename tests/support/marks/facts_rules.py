#!/usr/bin/env python3
"""facts_rules.py - what requests were asked for and made, one function a rule; prints the rules that do not hold.

Results are of the shapes that pipelines return; nothing may read what is in them.
"""
import types

import marks_rules
from marks_rules import Program, same
from vptrace_marks import request_facts as facts


class Array:
    """A tensor or an array, of which only the shape may be asked."""

    def __init__(self, *shape):
        self.shape = shape

    def _refuse(self, *_):
        raise AssertionError("what is in a tensor was read")

    __len__ = __iter__ = __getitem__ = __bool__ = __float__ = __index__ = _refuse


class Picture:
    size = 832, 480  # width first, as PIL has it


class Output(dict):
    """As diffusers has them: a dictionary with attributes."""

    def __init__(self, **named):
        super().__init__(named)
        self.__dict__.update(named)


def frames_are_counted_in_results():
    shots = [Picture()] * 9
    film = Array(9, 480, 832, 3)
    tensors = {
        "video of tensors": (Output(frames=Array(1, 9, 3, 480, 832)), {}, "1 9 480 832"),
        "two prompts, two videos each": (Output(frames=Array(4, 9, 3, 480, 832)), {"frames": 11}, "4 36 480 832"),
        "arrays, channels last": (Output(frames=Array(2, 9, 480, 832, 3)), {}, "2 18 480 832"),
        "channels before frames": (Output(videos=Array(1, 3, 9, 480, 832)), {}, "1 9 480 832"),
        "three frames in three colours": (Output(frames=Array(1, 3, 3, 480, 832)), {}, "1 3 480 832"),
        "four frames in three colours": (Output(frames=Array(1, 4, 3, 480, 832)), {}, "1 4 480 832"),
        "grey ones": (Output(frames=Array(1, 9, 1, 480, 832)), {}, "1 9 480 832"),
        "one video without a batch": (Output(frames=film), {}, "1 9 480 832"),
        "lists of pictures": (Output(frames=[shots, shots]), {}, "2 18 480 832"),
        "a list of pictures": (Output(frames=shots), {}, "1 9 480 832"),
        "a list of arrays": (Output(frames=[film, film]), {}, "2 18 480 832"),
        "videos of different lengths": (Output(frames=[shots, shots[:4]]), {}, "2 13 480 832"),
        "an object": (types.SimpleNamespace(video=Array(1, 9, 3, 480, 832)), {}, "1 9 480 832"),
        "a dictionary": ({"video": film}, {}, "1 9 480 832"),
        "a state of modular pipelines": (types.SimpleNamespace(values={"videos": [shots]}), {}, "1 9 480 832"),
        "without return_dict": ((Array(1, 9, 3, 480, 832),), {}, "1 9 480 832"),
        "with sound": (([shots], Array(1, 2, 16000)), {}, "1 9 480 832"),
        "a tensor alone, in colour": (Array(1, 3, 5, 16, 16), {}, "1 5 16 16"),
        "a tensor alone, as asked": (Array(3, 81, 480, 832), {"frames": 81}, "1 81 480 832"),
        "pictures are no frames": (Output(images=[Picture()] * 2), {}, "2 0 480 832"),
        "tensors of pictures": (Output(images=Array(2, 3, 480, 832)), {}, "2 0 480 832"),
    }
    for rule, (result, asked, expected) in tensors.items():
        made = facts.made(result, asked)
        found = made and "%d %d %d %d" % (made.batch, made.frames, made.height, made.width)
        assert found == expected, "%s: found %s, expected %s" % (rule, found, expected)


def nothing_is_counted_that_is_no_frame():
    class Hostile:
        @property
        def frames(self):
            raise KeyError("frames")

    for rule, result, asked in (
            ("latents", Output(frames=Array(1, 16, 3, 60, 104)), {"output": "latent"}),
            ("latents by another name", Output(frames=Array(1, 16, 3, 60, 104)), {"output": "latents"}),
            ("latents alone, of three frames", Array(1, 16, 3, 60, 104), {"frames": 9}),
            ("a batch of pictures alone", Array(4, 3, 480, 832), {}),
            ("no channels", Output(frames=Array(1, 9, 7, 480, 832)), {}),
            ("pictures alone", [Picture(), Picture()], {}),
            ("nothing", None, {"frames": 9}), ("a path", "out.mp4", {"frames": 9}), ("empty", [], {"frames": 9}),
            ("a number", 9, {"frames": 9}), ("no frames", Output(frames=[]), {}), ("empty tuple", (), {}),
            ("what fails", Hostile(), {}), ("a list of texts", Output(frames=["a", "b"]), {})):
        assert facts.made(result, asked) is None, "%s: found %r" % (rule, vars(facts.made(result, asked)))


PIPE = """
from facts_rules import Array, Output, Picture
class Generator:
    def __init__(self, seed): self.seed = seed
    def initial_seed(self): return self.seed
class Pipe:
    def __call__(self, prompt, height=None, width=None, num_frames=None, num_inference_steps=50, guidance_scale=5.0,
                 num_videos_per_prompt=1, generator=None, output_type="np", fails=None):
        if fails: raise fails
        frames = (num_frames or 14) // 4 * 4 + 1
        prompts = 1 if isinstance(prompt, str) else len(prompt)
        if output_type == "latent": return Output(frames=Array(prompts, 16, frames // 4 + 1, 60, 104))
        return Output(frames=Array(prompts * num_videos_per_prompt, frames, 480, 832, 3))
    def silent(self, num_frames=81): pass
"""
MARKS = """
M:Pipe.__call__ = request frames=num_frames*num_videos_per_prompt facts=num_inference_steps
M:Pipe.silent = request frames=num_frames
"""


def facts_of(program, *args, **named):
    program.library.metadata_seen[:] = []
    error = None
    try:
        program.module.Pipe()(*args, **named)
    except Exception as raised:  # pylint: disable=broad-except
        error = raised
    return program.lines, [fact[len("request."):] for fact in program.library.metadata_seen], error


def requests_tell_what_they_were_asked_for_and_made():
    with Program(PIPE, MARKS) as p:
        seed = p.module.Generator
        same(facts_of(p, "a cat", num_frames=9, generator=seed(7)),
             (["request Pipe frames=9"], ["steps=50", "guidance=5.0", "seed=7", "batch=1", "height=480", "width=832",
                                          "frames_asked=9"], None))
        same(facts_of(p, ["a cat", "a dog"], 480, 832, 11, 4, 1.0, 2, [seed(1), seed(2)]),
             (["request Pipe frames=36"], ["steps=4", "height=480", "width=832", "guidance=1.0", "seed=1,2", "batch=4",
                                           "frames_asked=44"], None))
        same(facts_of(p, "a cat")[0], ["request Pipe frames=13"])  # nobody asked for a number
        same(facts_of(p, "a cat", output_type="latent", num_frames=9)[0], ["request Pipe"])
        assert "output=latent" in facts_of(p, "a cat", output_type="latent", num_frames=9)[1]
        failed = MemoryError("none left")
        same(facts_of(p, "a cat", num_frames=9, fails=failed),
             (["request Pipe"], ["steps=50", "guidance=5.0", "error=MemoryError"], failed))
        p.module.Pipe().silent()
        same(p.lines, ["request Pipe frames=81"])  # it says nothing else


if __name__ == "__main__":
    marks_rules.RULES[:] = [frames_are_counted_in_results, nothing_is_counted_that_is_no_frame,
                            requests_tell_what_they_were_asked_for_and_made]
    marks_rules.main()
