"""Tureen for Python programs: libtureen.so through ctypes. A single file that needs only the standard library.

    from tureen import Tureen

    with Tureen({"home": "/var/lib/kiosk"}) as t:
        t.run("com.salesforce.smartstore", "pgSoupExists", {"soupName": "people"})

There are three ways to make a call: `run` waits for the result, `call` is awaited in asyncio, and `exec` takes callbacks, which
run inside `poll`. All three can be mixed on one host. Services, actions, arguments and results: bridge-spec/actions. Events:
bridge-spec/events. Errors: bridge-spec/errors.json.

Threads: every method may be called from any thread, also concurrently. Callbacks run inside `poll`, `run` and `close` on the
calling thread, and inside the event loop once `call` or `attach` has attached the host to it; never two callbacks of a host at
once. A callback may call everything except `poll` and `run` of its own host. Only one thread can be in `poll`; `run` waits while
another one polls.

An exception in a callback is passed to `on_exception` or sys.unraisablehook, and the other callbacks still run. An exception that
ends the program, such as KeyboardInterrupt, is raised again by the method that ran the callback.

A host does not survive fork(); open one in the child.

The library is the file `library`, else the one in the environment variable TUREEN_LIBRARY, else the one that the system finds as
"tureen", else libtureen.so next to this file. Custom targets and resolvers are available in Lua scripts, but not in Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import ctypes.util
import functools
import itertools
import json
import math
import operator
import os
import sys
import threading
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

__all__ = ["OFFLINE", "ONLINE", "PAUSE", "RESUME", "Tureen", "TureenError"]

# The states for Tureen.report.
OFFLINE, ONLINE, PAUSE, RESUME = range(4)

_OK, _MISUSE, _CLOSED, _NO_MEMORY, _REFUSED, _SYSTEM = range(0, -6, -1)
_RESULT, _ERROR, _PROGRESS = range(1, 4)

# The longest sleep of a blocking call. A signal that arrives just before the sleep does not end it, so Ctrl-C may take that long.
_SLEEP_MS = 1000

_Callback = Callable[[Any], object]


class TureenError(Exception):
    """The error of a call, or of opening a host."""

    def __init__(self, details: Mapping[str, Any]) -> None:
        super().__init__(details)
        self.details = dict(details)
        """The complete error object. Some errors have more members, such as `sync`, the state of a FAILED sync."""
        self.domain: str = self.details.get("domain", "bridge")
        self.code: str = self.details.get("code", "internal")
        self.message: str = self.details.get("message", "")
        self.retryable: bool = self.details.get("retryable", False)
        """True if the same call, unchanged, may succeed later."""

    def __str__(self) -> str:
        return f"{self.domain}/{self.code}: {self.message}"


def _error(code: str, message: str, retryable: bool = False) -> TureenError:
    return TureenError({"domain": "bridge", "code": code, "message": message, "retryable": retryable})


# (t, call, kind, json, length, user) and (t, event, json, length, user); see tureen.h.
_OnAnswer = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_OnEvent = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_Handle, _TextOut = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)

_SIGNATURES: Dict[str, Any] = {
    "open": (ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_Handle), _TextOut),
    "close": (ctypes.c_int, _Handle),
    "free": (None, _Handle),
    "fd": (ctypes.c_int, _Handle),
    "poll": (ctypes.c_int, _Handle, ctypes.c_int),
    "exec": (ctypes.c_int64, _Handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, _OnAnswer, ctypes.c_void_p, _TextOut),
    "cancel": (ctypes.c_int, _Handle, ctypes.c_int64),
    "pending": (ctypes.c_int64, _Handle),
    "listen": (ctypes.c_int64, _Handle, ctypes.c_char_p, _OnEvent, ctypes.c_void_p),
    "unlisten": (ctypes.c_int, _Handle, ctypes.c_int64),
    "report": (ctypes.c_int, _Handle, ctypes.c_int),
    "give_session": (ctypes.c_int, _Handle, ctypes.c_char_p),
    "version": (ctypes.c_char_p,),
    "status_text": (ctypes.c_char_p, ctypes.c_int64),
    "text_free": (None, ctypes.c_void_p),
}


class _Library:
    """The functions of a libtureen.so, and the two callbacks that it calls for all answers and events.

    C gets its own number as `user`, not the id of the call, because an answer may arrive on another thread before exec has
    returned the id.
    """

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path, use_errno=True)
        self.functions: Dict[str, Any] = {}
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(library, "tureen_" + name, None)
            if function is None:
                raise OSError(f"{path} is not the library of Tureen, or an older one: it has no tureen_{name}")
            function.restype, function.argtypes = result, arguments
            self.functions[name] = function
        self.calls: Dict[int, _Call] = {}
        self.listeners: Dict[int, _Listening] = {}
        self.numbers = itertools.count(1)
        self.on_answer, self.on_event = _OnAnswer(self._hear_answer), _OnEvent(self._hear_event)

    def _hear_answer(self, _t: int, _id: int, kind: int, text: int, length: int, user: int) -> None:
        call = self.calls.get(user) if kind == _PROGRESS else self.calls.pop(user, None)
        if call is not None:
            call.host.guard(call.hear, kind, ctypes.string_at(text, length))

    def _hear_event(self, _t: int, _event: int, text: int, length: int, user: int) -> None:
        listening = self.listeners.get(user)  # None: unlisten was called while the event was being delivered
        if listening is not None:
            listening.host.guard(listening.hear, ctypes.string_at(text, length))

    def take_text(self, text: ctypes.c_void_p) -> Optional[bytes]:
        """Returns a text from the library, and frees the original."""
        if not text.value:
            return None
        taken = ctypes.string_at(text.value)
        self.functions["text_free"](text)
        return taken

    def check(self, status: int, refusal: Optional[bytes] = None, misuse: str = "") -> int:
        """Returns the status if it is not negative; otherwise raises the corresponding exception."""
        if status >= 0:
            return status
        if refusal is not None:
            raise TureenError(json.loads(refusal))
        words = self.functions["status_text"](status).decode()
        if status == _CLOSED:
            raise _error("closed", words)
        if status == _NO_MEMORY:
            raise MemoryError(words)
        if status == _SYSTEM:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        raise ValueError(misuse or words)


@functools.lru_cache(maxsize=None)
def _load(path: Optional[str]) -> _Library:
    if path is not None:
        return _Library(path)
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtureen.so")
    found = ctypes.util.find_library("tureen") or (beside if os.path.exists(beside) else None)
    if found is None:
        raise OSError("libtureen.so is not installed where the system looks for libraries; name the file in TUREEN_LIBRARY")
    return _Library(found)


class _Call:
    """The callbacks of a call."""

    def __init__(
        self, host: _Host, on_result: Optional[_Callback], on_error: Optional[Callable[[TureenError], object]],
        on_progress: Optional[_Callback],
    ) -> None:
        self.host, self.on_result, self.on_error, self.on_progress = host, on_result, on_error, on_progress

    def hear(self, kind: int, text: bytes) -> None:
        try:
            self._pass_on(kind, text)
        finally:
            if kind != _PROGRESS:
                self.host.notify()

    def _pass_on(self, kind: int, text: bytes) -> None:
        try:
            value = json.loads(text)
        except Exception as problem:  # such as one that is nested too deeply for Python
            value, kind = _error("internal", f"the answer cannot be read: {problem}").details, _ERROR
        if kind == _ERROR:
            error = TureenError(value)
            if self.on_error is not None:
                self.on_error(error)
            elif error.code not in ("closed", "cancelled"):  # the program has caused these itself
                raise error
        else:
            callback = self.on_progress if kind == _PROGRESS else self.on_result
            if callback is not None:
                callback(value)


class _Listening:
    def __init__(self, host: _Host, listener: _Callback) -> None:
        self.host, self.listener = host, listener

    def hear(self, text: bytes) -> None:
        self.listener(json.loads(text))


class _Host:
    """A handle, with the threads in its functions, the polling thread, and the event loops that watch its descriptor.

    Calls and event loops refer to this object and not to the Tureen, so that an unreferenced Tureen is closed.
    """

    def __init__(self, library: _Library, handle: int, on_exception: Optional[Callable[[Exception], object]]) -> None:
        self.library, self.functions, self.on_exception = library, library.functions, on_exception
        self.handle: Optional[int] = handle  # None once it is freed
        self.process = os.getpid()
        self.changed = threading.Condition()  # guards what follows; never held in a function of the library
        self.inside = 0  # threads and callbacks in functions of the library
        self.is_closed = False
        self.poller: Optional[int] = None  # the thread that polls
        self.pending_exit: Optional[BaseException] = None
        self.listening: Dict[int, int] = {}  # the library's number of a listener: ours
        self.loops: Dict[asyncio.AbstractEventLoop, int] = {}  # with the descriptor that is watched there

    @contextlib.contextmanager
    def use(self) -> Iterator[int]:
        """Provides the handle, which is not freed while it is in use."""
        if self.process != os.getpid():
            raise _error("closed", "the host belongs to the parent process; open one after fork()")
        with self.changed:
            if self.handle is None:
                raise _error("closed", "the host is closed")
            handle = self.handle
            self.inside += 1
        try:
            yield handle
        finally:
            with self.changed:
                self.inside -= 1
                is_last = self.inside == 0 and self.is_closed
                if is_last:
                    self.handle = None
            if is_last:
                self.functions["free"](handle)
                self.forget()

    # Callbacks

    def guard(self, callback: Callable[..., object], *arguments: Any) -> None:
        """Runs a callback and reports its exception."""
        try:
            callback(*arguments)
        except Exception as error:
            if self.on_exception is None:
                raise  # to ctypes, which passes it to sys.unraisablehook, or to an event loop
            self.on_exception(error)
        except BaseException as error:
            self.pending_exit = error

    def raise_exit(self) -> None:
        """Raises the exception with which a callback ends the program."""
        error, self.pending_exit = self.pending_exit, None
        if error is not None:
            raise error

    def notify(self) -> None:
        with self.changed:
            self.changed.notify_all()

    # Polling

    def poll(self, timeout_ms: int) -> int:
        """Polls on a thread that has claimed it."""
        try:
            with self.use() as handle:
                delivered = self.functions["poll"](handle, timeout_ms)
                if delivered < 0 and delivered != _CLOSED:
                    self.library.check(delivered)
        finally:
            with self.changed:
                self.poller = None
                self.changed.notify_all()
        self.raise_exit()
        return self.library.check(delivered)

    def claim(self) -> bool:
        """Makes this the polling thread. Returns False if there is one already."""
        with self.changed:
            if self.poller is not None:
                return False
            self.poller = threading.get_ident()
            return True

    def wait(self, outcome: List[Any]) -> None:
        """Polls, or waits for the polling thread, until a callback has filled `outcome`."""
        while not outcome:
            with self.changed:
                self.changed.wait_for(lambda: outcome or self.poller is None)
                if outcome:
                    return
                self.poller = threading.get_ident()
            try:
                self.poll(_SLEEP_MS)
            except TureenError:  # closed: the thread that closes answers the call
                with self.changed:
                    self.changed.wait_for(lambda: outcome)

    # Event loops

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop in self.loops:
            return
        for other in list(self.loops):
            if other.is_closed():
                self.detach(other)
        with self.use() as handle:
            descriptor = self.duplicate(handle)
            try:
                loop.add_reader(descriptor, self.deliver, loop)
            except BaseException:
                os.close(descriptor)
                raise
            self.loops[loop] = descriptor

    def duplicate(self, handle: int) -> int:
        """Returns a descriptor that a loop can keep, because another thread may close the host and its own descriptor."""
        own = self.library.check(self.functions["fd"](handle))
        descriptor = None
        try:
            descriptor = os.dup(own)
            return descriptor
        finally:
            # If the host has been closed in the meantime, the duplicated number may belong to another file.
            if self.functions["fd"](handle) != own:
                if descriptor is not None:
                    os.close(descriptor)
                raise _error("closed", "the host is closed") from None

    def detach(self, loop: asyncio.AbstractEventLoop) -> None:
        descriptor = self.loops.pop(loop, None)
        if descriptor is None:
            return
        if not loop.is_closed():
            loop.remove_reader(descriptor)
        os.close(descriptor)

    def deliver(self, loop: asyncio.AbstractEventLoop) -> None:
        """Delivers waiting messages on the thread of an event loop."""
        if not self.claim():
            return
        try:
            self.poll(0)
        except TureenError:
            self.detach(loop)

    # Closing

    def close(self) -> None:
        if self.handle is None:
            return
        if self.process != os.getpid():
            self.handle = None  # it belongs to the parent, whose threads do not exist in this process
            return
        with contextlib.suppress(TureenError), self.use() as handle:  # another thread has closed it
            self.functions["close"](handle)
            with self.changed:
                self.is_closed = True
        self.raise_exit()

    def forget(self) -> None:
        """Removes listeners and event loops after the handle was freed, when no thread can add more."""
        for own in self.listening.values():
            self.library.listeners.pop(own, None)
        self.listening.clear()
        for loop in list(self.loops):
            if loop.is_running() and loop is not _running_loop():
                with contextlib.suppress(RuntimeError):  # the loop has ended in the meantime
                    loop.call_soon_threadsafe(self.detach, loop)
                    continue
            self.detach(loop)


def _running_loop() -> Optional[asyncio.AbstractEventLoop]:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _text(value: str, what: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what} must not contain a zero character")
    return value.encode()


def _json(value: Optional[Mapping[str, Any]]) -> Optional[bytes]:
    return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _number(value: int) -> int:
    number = operator.index(value)
    return number if -(2**63) <= number < 2**63 else 0  # 0 is never the id of a call or listener


class Tureen:
    """A host: the stores, the syncs and the client of one org. Use it in `with` or `async with`, or call `close`."""

    _host: Optional[_Host] = None

    def __init__(
        self, options: Optional[Mapping[str, Any]] = None, library: Optional[str] = None, *,
        on_exception: Optional[Callable[[Exception], object]] = None,
    ) -> None:
        """Opens a host. It does not use the network or open a store until a call needs it.

        options       The settings of `tureen.configure`, and "signIn"; see tureen_open in tureen.h. None: the environment's.
        library       The path of libtureen.so.
        on_exception  Gets exceptions of callbacks, and the error of a call that has callbacks but no `on_error`.

        Raises TureenError if the options or the configuration files are invalid, OSError if the library is not found.
        """
        loaded = _load(os.fspath(library) if library is not None else os.environ.get("TUREEN_LIBRARY") or None)
        handle, error = _Handle(), ctypes.c_void_p()
        status = loaded.functions["open"](_json(options), ctypes.byref(handle), ctypes.byref(error))
        loaded.check(status, loaded.take_text(error))
        assert handle.value is not None
        self._host = _Host(loaded, handle.value, on_exception)

    @property
    def _open(self) -> _Host:
        if self._host is None:
            raise _error("closed", "the host was not opened")
        return self._host

    def __enter__(self) -> Tureen:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Tureen:
        self.attach()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        host = self._host
        if host is None or host.handle is None or is_finalizing() or host.process != os.getpid():
            return
        try:
            warnings.warn(f"unclosed host {self!r}", ResourceWarning, stacklevel=2, source=self)
        finally:
            host.close()

    # Calls

    def exec(
        self, service: str, action: str, arguments: Optional[Mapping[str, Any]] = None, *,
        on_result: Optional[_Callback] = None, on_error: Optional[Callable[[TureenError], object]] = None,
        on_progress: Optional[_Callback] = None,
    ) -> int:
        """Makes a call and returns its id. The callbacks run inside `poll`, never inside this method. Never blocks.

        on_result    Gets the result; for a sync its final state, DONE or STOPPED.
        on_error     Gets a TureenError. Every call ends with exactly one of these two.
        on_progress  Gets updates: the state of a running sync, or the changes that an observer saw.

        Without callbacks, a failure is reported to the listeners of `uncaughtError`. Raises TureenError if the host is closed or
        too many calls are pending. Unknown actions and invalid arguments are reported to `on_error`.
        """
        host, error = self._open, ctypes.c_void_p()
        callbacks = [callback for callback in (on_result, on_error, on_progress) if callback is not None]
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"a callback must be callable, not {type(callback).__name__}")
        texts = _text(service, "the service"), _text(action, "the action"), _json(arguments)
        library, number, answer = host.library, 0, _OnAnswer()
        if callbacks:
            number, answer = next(library.numbers), library.on_answer
            library.calls[number] = _Call(host, on_result, on_error, on_progress)
        try:
            with host.use() as handle:
                call = host.functions["exec"](handle, *texts, answer, number, ctypes.byref(error))
            return library.check(call, library.take_text(error))
        except BaseException:
            library.calls.pop(number, None)
            raise

    def run(
        self, service: str, action: str, arguments: Optional[Mapping[str, Any]] = None, *,
        on_progress: Optional[_Callback] = None,
    ) -> Any:
        """Makes a call and polls until it has ended. Returns its result.

        The callbacks of other calls run meanwhile. Ctrl-C cancels the call. Raises TureenError if the call fails, RuntimeError
        inside a callback of this host.
        """
        host = self._open
        if host.poller == threading.get_ident():
            raise RuntimeError("run cannot wait inside a callback of its own host; use exec or call")
        outcome: List[Tuple[Any, Optional[TureenError]]] = []
        call = self.exec(
            service, action, arguments, on_result=lambda value: outcome.append((value, None)),
            on_error=lambda error: outcome.append((None, error)), on_progress=on_progress)
        try:
            host.wait(outcome)
        except BaseException:
            self._give_up(call)
            raise
        result, error = outcome[0]
        if error is not None:
            raise error
        return result

    async def call(
        self, service: str, action: str, /, *, on_progress: Optional[_Callback] = None, **arguments: Any,
    ) -> Any:
        """Makes a call and awaits its result. Callbacks run on the loop's thread.

        The host stays attached to the loop until it is closed. Cancelling the task cancels the call. Raises TureenError if the
        call fails.
        """
        host, loop, thread = self._open, asyncio.get_running_loop(), threading.get_ident()
        host.attach(loop)
        future = loop.create_future()

        def on_the_loop(callback: _Callback, value: Any) -> None:
            if threading.get_ident() != thread:
                with contextlib.suppress(RuntimeError):  # the loop is closed, and nothing awaits the call
                    loop.call_soon_threadsafe(host.guard, callback, value)
            elif not loop.is_closed():
                callback(value)

        def end(settle: _Callback, value: Any) -> None:
            if not future.done():
                settle(value)

        call = self.exec(
            service, action, arguments,
            on_result=functools.partial(on_the_loop, functools.partial(end, future.set_result)),
            on_error=functools.partial(on_the_loop, functools.partial(end, future.set_exception)),
            on_progress=None if on_progress is None else functools.partial(on_the_loop, on_progress))
        try:
            return await future
        finally:
            if future.cancelled() or not future.done():
                self._give_up(call)

    def cancel(self, call: int) -> None:
        """Cancels a call if possible. The call still gets an answer. Does nothing if the call has ended."""
        with self._open.use() as handle:
            self._check("cancel", handle, _number(call))

    def _give_up(self, call: int) -> None:
        with contextlib.suppress(TureenError):  # closed: the call has ended
            self.cancel(call)

    # Messages

    def poll(self, timeout: Optional[float] = None) -> int:
        """Runs the waiting callbacks and returns the number of delivered messages.

        Waits for the first message for at most `timeout` seconds; None waits without limit. Raises TureenError if the host is
        closed before or during the call; RuntimeError inside a callback of this host and while another thread polls.
        """
        timeout_ms = -1 if timeout is None else math.ceil(min(max(timeout, 0) * 1000, 2**31 - 1))
        host = self._open
        if not host.claim():
            raise RuntimeError("poll was called inside a callback of its own host, or another thread polls")
        return host.poll(timeout_ms)

    def pending(self) -> int:
        """Returns the number of calls that are not finished, including open observers (pgObserve)."""
        with self._open.use() as handle:
            return self._check("pending", handle)

    def fileno(self) -> int:
        """Returns a descriptor, for select, that is readable while `poll` has something to deliver. `close` closes it."""
        with self._open.use() as handle:
            return self._check("fd", handle)

    def attach(self, loop: Optional[asyncio.AbstractEventLoop] = None) -> None:
        """Attaches the host to an event loop, by default the running one. Call it on the loop's thread.

        `call` and `async with` do this automatically. Call it yourself if you only use listeners and `exec`.
        """
        self._open.attach(loop or asyncio.get_running_loop())

    def on(self, event: str, listener: _Callback) -> int:
        """Calls `listener(detail)` for every event of that name. Returns a number for `off`.

        The events are sync, online, offline, pause, resume, salesforceSessionRefresh, sessionLost, sessionNeeded, userSwitched
        and uncaughtError. Raises ValueError for any other name.
        """
        host, name = self._open, _text(event, "the event")
        if not callable(listener):
            raise TypeError(f"a listener must be callable, not {type(listener).__name__}")
        own = next(host.library.numbers)
        host.library.listeners[own] = _Listening(host, listener)
        try:
            with host.use() as handle:
                number: int = host.functions["listen"](handle, name, host.library.on_event, own)
                host.library.check(number, misuse=f"there is no event '{event}'")
                host.listening[number] = own
        except BaseException:
            host.library.listeners.pop(own, None)
            raise
        return number

    def off(self, listener: int) -> None:
        """Removes a listener. Unknown numbers are ignored."""
        host, number = self._open, _number(listener)
        with host.use() as handle:
            self._check("unlisten", handle, number)
        host.library.listeners.pop(host.listening.pop(number, 0), None)

    # Reports of the program

    def report(self, state: int) -> None:
        """Reports a state to the host: OFFLINE, ONLINE, PAUSE or RESUME. Never blocks."""
        number = operator.index(state)
        if not OFFLINE <= number <= RESUME:
            raise ValueError(f"there is no state {number}")
        with self._open.use() as handle:
            self._check("report", handle, number)

    def give_session(self, session: Mapping[str, Any]) -> bool:
        """Answers a `sessionNeeded` event: {"accessToken", "instanceUrl"}, or {"error", "message"} if there is no session.

        Returns False if no request is waiting for a session. Raises ValueError for any other object; the host then keeps waiting.
        """
        with self._open.use() as handle:
            status = self._open.functions["give_session"](handle, _json(session))
        if status == _REFUSED:
            return False
        self._open.library.check(status, misuse="a session needs accessToken and instanceUrl, or error and message")
        return True

    def close(self) -> None:
        """Closes the host. Running syncs stop, and every pending call ends with the error bridge/closed before this returns.

        A second call does nothing. If it is called inside a callback, the surrounding `poll` raises TureenError. In an event loop
        it blocks the loop until the stores and connections are closed.
        """
        if self._host is not None:
            self._host.close()

    @property
    def closed(self) -> bool:
        """True if the host is closed."""
        return self._host is None or self._host.handle is None or self._host.is_closed

    @property
    def version(self) -> str:
        """The version of the library."""
        version: bytes = self._open.functions["version"]()
        return version.decode()

    def _check(self, function: str, *arguments: Any) -> int:
        library = self._open.library
        return library.check(library.functions[function](*arguments))
