"""Ranges of functions that suspend: generators, coroutines, asynchronous generators.

Such a function is open only while it runs. Each stretch from one yield or await to the next has a range of its own: other work of
the thread lies between two, and the next stretch may run on another thread.

`around` has enter(args, kwargs), before a stretch, and leave(entered, args, kwargs), after it unless entered is false. It must not fail.
"""

import inspect
import types

from . import _compiling


def _driven(suspended, around, args, kwargs):
    """Runs a generator, or what a coroutine awaits, each stretch in its ranges."""
    resume, value = suspended.send, None
    while True:
        entered = around.enter(args, kwargs)
        try:
            given = resume(value)
        except StopIteration as stop:
            return stop.value
        finally:
            if entered:
                around.leave(entered, args, kwargs)
        try:
            resume, value = suspended.send, (yield given)
        except GeneratorExit:
            suspended.close()
            raise
        except BaseException as error:  # pylint: disable=broad-except
            resume, value = suspended.throw, error


def _generator(function, around):
    def marked(*args, **kwargs):
        if _compiling.tracing():
            return (yield from function(*args, **kwargs))
        return (yield from _driven(function(*args, **kwargs), around, args, kwargs))

    return marked


@types.coroutine
def _awaited(coroutine, around, args, kwargs):
    return (yield from _driven(coroutine, around, args, kwargs))


def _coroutine(function, around):
    async def marked(*args, **kwargs):
        return await _awaited(function(*args, **kwargs), around, args, kwargs)

    return marked


def _asynchronous_generator(function, around):
    async def marked(*args, **kwargs):
        generator = function(*args, **kwargs)
        resume, value = generator.asend, None
        while True:
            try:
                given = await _awaited(_coroutine_of(resume(value)), around, args, kwargs)
            except StopAsyncIteration:
                return
            try:
                resume, value = generator.asend, (yield given)
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:  # pylint: disable=broad-except
                resume, value = generator.athrow, error

    return marked


def beneath(decorate, function):
    """Decorates what a staticmethod or classmethod holds, which cannot be called, or not as a method; None: it is neither."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(function.__func__))
    return None


async def _coroutine_of(awaitable):
    return await awaitable


def maker_of(function):
    """What makes a wrapper of (function, around) if the function suspends, which what it wraps says too; else None."""
    plain = inspect.unwrap(function)
    for suspends, make in ((inspect.isasyncgenfunction, _asynchronous_generator), (inspect.iscoroutinefunction, _coroutine),
                           (inspect.isgeneratorfunction, _generator)):
        if suspends(plain):
            return make
    return None
