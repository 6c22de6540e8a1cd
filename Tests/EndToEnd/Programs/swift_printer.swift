// A Lua module in Swift that registers a plug-in with the C API: scripts of the state that loads it call com.acme.press.

/// Answers from a task of its own.
func press(_ handle: OpaquePointer?, _ call: Int64, _ action: String, _ arguments: String) {
  // The handle is the library's; it may be used from any thread.
  nonisolated(unsafe) let handle = handle
  Task.detached {
    let progress = #"{"sheet":1}"#
    tureen_answer(handle, call, Int32(TUREEN_ANSWER_PROGRESS), progress, progress.utf8.count)
    let result = #"{"action":"\#(action)","arguments":\#(arguments)}"#
    tureen_answer(handle, call, Int32(TUREEN_ANSWER_RESULT), result, result.utf8.count)
  }
}

@_cdecl("luaopen_swift_printer")
public func open(_ state: OpaquePointer) -> Int32 {
  guard let handle = tureen_of(state) else { return 0 }
  let status = tureen_register(
    handle, "com.acme.press", nil,
    { handle, call, action, arguments, _, _ in
      press(handle, call, String(cString: action!), String(cString: arguments!))
    }, nil, nil, nil)
  precondition(status == TUREEN_OK)
  return 0
}
