"""Which modules of a program may be its denoiser, where no mark knows the program: classes whose forward() takes a timestep.

Nothing is called or marked. Read at the end of a process, also by sitecustomize, which loads no other module of ours for it.
"""

import sys

# Parameters that give the time.
TIMES = ("timestep", "timesteps", "t", "sigma", "sigmas", "noise_level")
# Parts of a denoiser get the time too.
_PARTS = ("block", "layer", "embedder", "embedding", "embeddings", "embed", "attention", "norm", "head", "mlp", "wrapper")
_LIKELY = ("transformer", "dit", "unet", "denois", "diffusion", "model", "generator")
_LIBRARIES = ("torch", "torchvision", "torchaudio", "transformers", "accelerate", "peft", "xformers", "timm", "lightning", "diffusers")
_MOST = 3


def _all_modules():
    module = sys.modules.get("torch.nn.modules.module")
    todo, seen = [getattr(module, "Module", None)], set()
    while todo:
        found = todo.pop()
        if isinstance(found, type) and found not in seen:
            seen.add(found)
            todo += type.__subclasses__(found)
    return seen


def _takes_time(found):
    code = getattr(vars(found).get("forward"), "__code__", None)
    if code is None:
        return False
    names = code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]
    return len(names) > 1 and any(name in TIMES for name in names)


def lines():
    """Lines of a mark file, the likeliest first; none where there are too many."""
    found = []
    for cls in _all_modules():
        name = cls.__name__.lower()
        if (cls.__module__.partition(".")[0] not in _LIBRARIES and "<locals>" not in cls.__qualname__ and not name.endswith(_PARTS)
                and _takes_time(cls)):
            found.append((not any(word in name for word in _LIKELY), cls.__module__, cls.__qualname__))
    found = [one for one in found if one[0] == min(found)[0]]
    return ['"%s:%s.forward = pass"' % one[1:] for one in sorted(found)] if len(found) <= _MOST else []
