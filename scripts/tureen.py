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
"tureen", else libtureen.so next to this file.

A program can add services of its own with `plugin`, and functions for syncs with `target`, `transform` and `resolver`. These may
be functions or coroutine functions. Coroutines run in the event loop that the host is attached to, else in one of the host's own,
on a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import ctypes.util
import functools
import inspect
import itertools
import json
import math
import operator
import os
import sys
import threading
import warnings
from typing import Any, Callable, Coroutine, Dict, Iterator, List, Mapping, Optional, Tuple

__all__ = ["LATER", "OFFLINE", "ONLINE", "PAUSE", "RESUME", "PluginCall", "Tureen", "TureenError"]

# The states for Tureen.report.
OFFLINE, ONLINE, PAUSE, RESUME = range(4)

LATER = object()
"""What an action of a plug-in returns to answer later, with `call.answer` or `call.fail`."""

_OK, _MISUSE, _CLOSED, _NO_MEMORY, _REFUSED, _SYSTEM, _NOT_OPEN = range(0, -7, -1)
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
# (t, call, action, arguments, length, user), (t, call, user) and (t, request, json, length, user)
_OnCall = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_OnCancel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
_OnRequest = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
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
    "register": (ctypes.c_int, _Handle, ctypes.c_char_p, ctypes.c_char_p, _OnCall, _OnCancel, ctypes.c_void_p, _TextOut),
    "unregister": (ctypes.c_int, _Handle, ctypes.c_char_p),
    "answer": (ctypes.c_int, _Handle, ctypes.c_int64, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t),
    "emit": (ctypes.c_int, _Handle, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t),
    "serve": (ctypes.c_int, _Handle, _OnRequest, ctypes.c_void_p),
    "answer_request": (ctypes.c_int, _Handle, ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t),
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
        self.plugins: Dict[int, _Plugin] = {}
        self.servants: Dict[int, _Servant] = {}
        self.on_answer, self.on_event = _OnAnswer(self._hear_answer), _OnEvent(self._hear_event)
        self.on_call, self.on_cancel, self.on_request = (
            _OnCall(self._hear_call), _OnCancel(self._hear_cancel), _OnRequest(self._hear_request))

    def _hear_answer(self, _t: int, _id: int, kind: int, text: int, length: int, user: int) -> None:
        call = self.calls.get(user) if kind == _PROGRESS else self.calls.pop(user, None)
        if call is not None:
            call.host.guard(call.hear, kind, ctypes.string_at(text, length))

    def _hear_event(self, _t: int, _event: int, text: int, length: int, user: int) -> None:
        listening = self.listeners.get(user)  # None: unlisten was called while the event was being delivered
        if listening is not None:
            listening.host.guard(listening.hear, ctypes.string_at(text, length))

    def _hear_call(self, _t: int, call: int, action: int, text: int, length: int, user: int) -> None:
        plugin = self.plugins.get(user)
        if plugin is not None:
            plugin.host.guard(plugin.hear, call, ctypes.string_at(action).decode(), ctypes.string_at(text, length))

    def _hear_cancel(self, _t: int, call: int, user: int) -> None:
        plugin = self.plugins.get(user)
        if plugin is not None:
            plugin.host.guard(plugin.cancel, call)

    def _hear_request(self, _t: int, request: int, text: int, length: int, user: int) -> None:
        servant = self.servants.get(user)
        if servant is not None:
            servant.host.guard(servant.hear, request, ctypes.string_at(text, length))

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


class PluginCall:
    """A call that an action of a plug-in answers. Threads: any."""

    def __init__(self, plugin: _Plugin, number: int, action: str) -> None:
        self._plugin, self._number = plugin, number
        self.action = action
        self.cancelled = False
        """True once the caller has cancelled the call, which must still be answered."""
        self.on_cancel: Optional[Callable[[], object]] = None
        """Called when the caller cancels the call. If a coroutine answers the call, it is cancelled instead."""
        self._task: Optional[Callable[[], object]] = None

    def progress(self, value: Any) -> bool:
        """Sends a progress to the caller. Returns False if the call is answered or was given up."""
        return self._send(_PROGRESS, value)

    def answer(self, value: Any = None) -> bool:
        """Ends the call with a result. Returns False if it is answered already or was given up."""
        return self._send(_RESULT, value)

    def fail(self, error: Any) -> bool:
        """Ends the call with an error: a TureenError, an exception, a text, or an object with code and message."""
        if isinstance(error, TureenError):
            error = error.details
        elif not isinstance(error, Mapping):
            error = {"domain": self._plugin.service, "code": "failed", "message": str(error) or type(error).__name__}
        return self._send(_ERROR, error)

    def _send(self, kind: int, value: Any) -> bool:
        host, text = self._plugin.host, json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        if kind != _PROGRESS:
            self._plugin.calls.pop(self._number, None)
        try:
            with host.use() as handle:
                status = host.functions["answer"](handle, self._number, kind, text, len(text))
        except TureenError:  # closed
            return False
        if status in (_NOT_OPEN, _CLOSED):
            return False
        host.library.check(status)
        return True

    def _cancel(self) -> None:
        self.cancelled = True
        if self._task is not None:
            self._task()
        elif self.on_cancel is not None:
            self.on_cancel()
        else:
            self.fail(_error("cancelled", "the call was cancelled"))


def _takes_two(function: Callable[..., object]) -> bool:
    """Whether a function takes a second positional argument."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a function in C
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return (sum(each.kind in positional for each in parameters) > 1
            or any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in parameters))


class _Plugin:
    """The actions of a service, and its open calls."""

    def __init__(self, host: _Host, service: str, actions: Mapping[str, Callable[..., Any]]) -> None:
        self.host, self.service = host, service
        self.actions = {name: (function, _takes_two(function)) for name, function in actions.items()}
        self.calls: Dict[int, PluginCall] = {}

    def hear(self, number: int, action: str, text: bytes) -> None:
        call = self.calls[number] = PluginCall(self, number, action)
        known = self.actions.get(action)
        if known is None:
            call.fail(_error("unknownAction", f"unknown action '{action}' of service '{self.service}'"))
            return
        function, takes_call = known
        try:
            arguments = json.loads(text)
            value = function(arguments, call) if takes_call else function(arguments)
        except Exception as error:
            call.fail(error)
            return
        if inspect.iscoroutine(value):
            call._task = self.host.spawn(value, lambda task: self.finish(call, task))
        elif value is not LATER:
            self.settle(call, value)

    def finish(self, call: PluginCall, task: asyncio.Future[Any]) -> None:
        if task.cancelled():
            call.fail(_error("cancelled", "the call was cancelled"))
            return
        error = task.exception()
        if error is not None:
            call.fail(error)
        elif task.result() is not LATER:
            self.settle(call, task.result())

    def settle(self, call: PluginCall, value: Any) -> None:
        try:
            call.answer(value)
        except (TypeError, ValueError) as problem:
            call.fail(_error("invalidArguments", f"the plug-in's answer has no JSON form: {problem}"))

    def cancel(self, number: int) -> None:
        call = self.calls.get(number)
        if call is not None:
            call._cancel()


# The functions of a custom target, and the names of the arguments that follow the target.
_TARGET_FUNCTIONS: Dict[str, Tuple[str, ...]] = {
    "startFetch": ("maxTimeStamp",), "continueFetch": ("more",), "remoteIds": ("localIds",),
    "createOnServer": ("record", "fields"), "updateOnServer": ("record", "fields"), "deleteOnServer": ("record",),
    "fetchLastModifiedDates": ("records",), "isNewerThanServer": ("record",), "fetchFromServer": ("records", "fields")}
_UPLOADS = list(_TARGET_FUNCTIONS)[3:]

_Answer = Dict[str, Any]


class _Servant:
    """The functions of a program that syncs call: custom targets, transformations and resolvers, by their names."""

    def __init__(self, host: _Host) -> None:
        self.host = host
        self.targets: Dict[str, Any] = {}
        self.transforms: Dict[str, Callable[..., Any]] = {}
        self.resolvers: Dict[str, Callable[..., Any]] = {}

    def hear(self, number: int, text: bytes) -> None:
        try:
            value, convert = self.begin(json.loads(text))
        except Exception as error:
            self.reply(number, {"error": _words(error)})
            return
        if inspect.isawaitable(value):
            self.host.spawn(_await(value), lambda task: self.finish(number, task, convert))
        else:
            self.end(number, convert, value)

    def finish(self, number: int, task: asyncio.Future[Any], convert: Callable[[Any], _Answer]) -> None:
        error = _error("cancelled", "it was cancelled") if task.cancelled() else task.exception()
        if error is None:
            self.end(number, convert, task.result())
        else:
            self.reply(number, {"error": _words(error)})

    def end(self, number: int, convert: Callable[[Any], _Answer], value: Any) -> None:
        try:
            self.reply(number, convert(value))
        except Exception as error:
            self.reply(number, {"error": f"its answer cannot be sent: {_words(error)}"})

    def reply(self, number: int, answer: _Answer) -> None:
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False).encode()
        with contextlib.suppress(TureenError), self.host.use() as handle:  # closed
            self.host.functions["answer_request"](handle, number, text, len(text))

    def begin(self, request: Mapping[str, Any]) -> Tuple[Any, Callable[[Any], _Answer]]:
        """Calls the function of a request. Returns its result or an awaitable, and what converts the result for the engine."""
        name, function, arguments = request["implementation"], request["function"], request["arguments"]
        functions = {"resolveConflict": self.resolvers, "transform": self.transforms}.get(function, self.targets)
        if name not in functions:
            return {"noScript": True}, _unchanged
        if function == "resolveConflict":
            return self.resolvers[name](arguments), _resolution
        if function == "transform":
            made = [_attempt(self.transforms[name], item) for item in arguments["records"]]
            return (_await_each(made) if any(map(inspect.isawaitable, made)) else made), _transformed
        if function == "functions":
            return {"functions": [each for each in _UPLOADS if _member(self.targets[name], each)]}, _unchanged
        found = _member(self.targets[name], function)
        if found is None:
            return {"error": f"it has no function '{function}'"}, _unchanged
        given = [arguments.get(each) for each in _TARGET_FUNCTIONS[function]]
        return found(request["target"], *given), functools.partial(_answer, function, arguments)


def _unchanged(answer: _Answer) -> _Answer:
    return answer


def _words(error: object) -> str:
    return error.message if isinstance(error, TureenError) else str(error) or type(error).__name__


def _member(target: Any, function: str) -> Optional[Callable[..., Any]]:
    found = target.get(function) if isinstance(target, Mapping) else getattr(target, function, None)
    return found if callable(found) else None


async def _await(value: Any) -> Any:
    return await value


def _attempt(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except Exception as error:
        return error


async def _await_each(values: List[Any]) -> List[Any]:
    results: List[Any] = []
    for value in values:
        try:
            results.append(await value if inspect.isawaitable(value) else value)
        except Exception as error:
            results.append(error)
    return results


def _transformed(made: List[Any]) -> _Answer:
    answers: List[_Answer] = []
    for item in made:
        if isinstance(item, Exception):
            answers.append({"error": _words(item)})
        elif item is None or isinstance(item, Mapping):
            answers.append({"record": item})
        else:
            answers.append({"error": f"it must return an object or None, got {type(item).__name__}"})
    return {"records": answers}


def _resolution(decided: Any) -> _Answer:
    if decided is None:
        return {"resolution": "skip"}
    if isinstance(decided, str) and decided in ("local", "server", "skip"):
        return {"resolution": decided}
    if isinstance(decided, Mapping):
        return {"record": decided}
    return {"error": f"it must return a record, 'local', 'server', 'skip' or None, got {type(decided).__name__}"}


def _answer(function: str, arguments: Mapping[str, Any], value: Any) -> _Answer:
    """Converts the result of a custom target's function for the engine: a value, or a tuple of a value and a second one."""
    first, second = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    if function in ("startFetch", "continueFetch"):
        info = second or {}
        return {"records": list(first or []), **{key: info[key] for key in ("totalSize", "more") if info.get(key) is not None}}
    if function == "remoteIds":
        return {"ids": list(first)}
    if function == "createOnServer":
        return {"id": first, "date": second} if isinstance(first, str) else {"reason": _reason(second)}
    if function in ("updateOnServer", "deleteOnServer"):
        status = 200 if first is True else 400 if first is None or first is False else operator.index(first)
        return {"status": status, **({"date": second} if 200 <= status < 300 else {"reason": _reason(second)})}
    if function == "isNewerThanServer":
        if not isinstance(first, bool):
            return {"error": f"isNewerThanServer must return a bool, got {type(first).__name__}"}
        return {"newer": first}
    count, found = len(arguments["records"]), list(first)
    key = "dates" if function == "fetchLastModifiedDates" else "records"
    return {key: (found + [None] * count)[:count]}


def _reason(problem: Any) -> Optional[str]:
    return None if problem is None else str(problem)


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
        self.plugins: List[int] = []  # our numbers of plug-ins, also of removed ones, whose calls may be open
        self.servant: Optional[_Servant] = None
        self.servant_number = 0
        self.loop: Optional[asyncio.AbstractEventLoop] = None  # our own

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

    # Coroutines

    def spawn(self, coroutine: Coroutine[Any, Any, Any], done: Callable[[asyncio.Future[Any]], object]) -> Callable[[], object]:
        """Runs a coroutine in an event loop and then calls `done` on the loop's thread. Returns a function that cancels it."""
        running = _running_loop()
        loop = running or next((each for each in list(self.loops) if each.is_running()), None) or self.own_loop()
        tasks: List[asyncio.Future[Any]] = []

        def start() -> None:
            tasks.append(loop.create_task(coroutine))
            tasks[0].add_done_callback(lambda task: self.guard(done, task))

        def cancel() -> None:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())

        if loop is running:
            start()
        else:
            loop.call_soon_threadsafe(start)
        return cancel

    def own_loop(self) -> asyncio.AbstractEventLoop:
        """The event loop for coroutines of a program without one. It ends with the host."""
        with self.changed:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=_run_loop, args=(self.loop,), name="tureen", daemon=True).start()
            return self.loop

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
        for own in self.plugins:
            self.library.plugins.pop(own, None)
        self.plugins.clear()
        self.library.servants.pop(self.servant_number, None)
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.loop.stop)
        for loop in list(self.loops):
            if loop.is_running() and loop is not _running_loop():
                with contextlib.suppress(RuntimeError):  # the loop has ended in the meantime
                    loop.call_soon_threadsafe(self.detach, loop)
                    continue
            self.detach(loop)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Runs an event loop on a thread until it is stopped, and cancels what is left of its tasks."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()


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

    # Services and functions of the program

    def plugin(
        self, service: str, actions: Mapping[str, Callable[..., Any]], spec: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Adds a service for calls of this host. Its name has reverse-DNS form, such as com.acme.printer.

        actions  Functions or coroutine functions by name: `action(arguments)`, or `action(arguments, call)` with a PluginCall.
                 The call ends with what it returns or raises; with LATER it ends later, with `call.answer` or `call.fail`.
        spec     The actions in the form of bridge-spec/actions. Wrong arguments then fail before they reach an action.

        Raises TureenError if the name is invalid or taken, or the spec is invalid.
        """
        host, name, error = self._open, _text(service, "the service"), ctypes.c_void_p()
        for action, function in actions.items():
            if not callable(function):
                raise TypeError(f"action '{action}' must be callable, not {type(function).__name__}")
        library, number = host.library, next(host.library.numbers)
        library.plugins[number] = _Plugin(host, service, actions)
        try:
            with host.use() as handle:
                status = host.functions["register"](
                    handle, name, _json(spec), library.on_call, library.on_cancel, number, ctypes.byref(error))
            library.check(status, library.take_text(error))
        except BaseException:
            library.plugins.pop(number, None)
            raise
        host.plugins.append(number)

    def unplug(self, service: str) -> None:
        """Removes a service. Calls that it has received stay open. Unknown names are ignored."""
        host, name = self._open, _text(service, "the service")
        with host.use() as handle:
            self._check("unregister", handle, name)

    def emit(self, event: str, detail: Any = None) -> None:
        """Sends an event to the listeners of this host. Its name has the form of service names."""
        host, name = self._open, _text(event, "the event")
        text = json.dumps(detail, ensure_ascii=False, allow_nan=False).encode()
        with host.use() as handle:
            status = host.functions["emit"](handle, name, text, len(text))
        if status == _REFUSED:
            raise _error("mailboxFull", "too many messages are waiting", retryable=True)
        host.library.check(status, misuse=f"'{event}' is not a name such as com.acme.printer.jammed")

    def target(self, name: str, implementation: Any) -> None:
        """Registers a custom target, which `{"type": "custom", "luaImpl": name}` names; None removes it.

        implementation  An object or a mapping with the functions of a custom target, such as
                        `startFetch(target, maxTimeStamp) -> records` or `(records, {"totalSize": ..., "more": ...})`;
                        bridge-spec/guide/targets.md describes them. Where Lua functions return two values, return a tuple.
        """
        self._serve("targets", name, implementation)

    def transform(self, name: str, function: Optional[Callable[[Any], Any]]) -> None:
        """Registers a transformation, which the key `transform` of a target names as "module.name"; None removes it.

        `function(item)` returns the item, or None to drop it. An exception flags the item.
        """
        self._serve("transforms", name, function)

    def resolver(self, name: str, function: Optional[Callable[[Any], Any]]) -> None:
        """Registers a conflict resolver, which the option `resolver` of a sync names; None removes it.

        `function(conflict)` returns a record, "local", "server", "skip", or None, which means "skip".
        """
        self._serve("resolvers", name, function)

    def _serve(self, kind: str, name: str, value: Any) -> None:
        host = self._open
        _text(name, "the name")
        if value is not None and kind != "targets" and not callable(value):
            raise TypeError(f"it must be callable, not {type(value).__name__}")
        if host.servant is None:
            servant, number = _Servant(host), next(host.library.numbers)
            host.library.servants[number] = servant
            with host.use() as handle:
                self._check("serve", handle, host.library.on_request, number)
            host.servant, host.servant_number = servant, number
        functions = getattr(host.servant, kind)
        if value is None:
            functions.pop(name, None)
        else:
            functions[name] = value

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
