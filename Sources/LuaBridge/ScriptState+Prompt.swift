import CLuaBridge
import Glibc

/// Talking to a state piece by piece, as a prompt does.
extension ScriptState {
  /// Ends what a state's scripts run, from any thread: a Lua function raises "interrupted" while it is set.
  public final class Break: @unchecked Sendable {
    // Read by the hook of the state and written by any thread, both atomically, in C.
    fileprivate let flag = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    public init() { flag.initialize(to: 0) }
    deinit { flag.deallocate() }

    public func set(_ isSet: Bool) { tureen_flag_set(flag, isSet ? 1 : 0) }
  }

  /// An error that a kept function raised, with its text.
  public struct Raised: Error {
    public let message: String
    public init(message: String) { self.message = message }
  }

  /// Runs a chunk and keeps the function it returns, for ``ask(_:_:)``.
  public func keep(text: String, name: String) throws(Raised) {
    try perform(text) { state, bytes, count, answer in tureen_state_keep(state, bytes, count, name, answer) }
  }

  /// Calls the kept function with a verb and a text; what it returned.
  @discardableResult
  public func ask(_ verb: String, _ text: String = "") throws(Raised) -> String {
    try perform(text) { state, bytes, count, answer in tureen_state_ask(state, verb, bytes, count, answer) }
  }

  /// Lets `stop` end what runs. It has to be there as long as this state.
  public func watch(_ stop: Break) {
    guard let state = openState else { return }
    tureen_state_watch(state, stop.flag)
  }

  @discardableResult
  private func perform(
    _ text: String, _ body: (OpaquePointer, UnsafePointer<CChar>, Int, UnsafeMutablePointer<tureen_bytes>) -> Int32
  ) throws(Raised) -> String {
    guard let state = openState else { throw Raised(message: "the state is closed") }
    var answer = tureen_bytes(data: nil, length: 0)
    let bytes = text.utf8CString
    let status = bytes.withUnsafeBufferPointer { body(state, $0.baseAddress!, $0.count - 1, &answer) }
    let result = Self.take(&answer) ?? ""
    guard status == 0 else { throw Raised(message: result) }
    return result
  }
}
