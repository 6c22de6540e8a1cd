import CLuaBridge
import Glibc

/// Functions for a prompt, which runs code piece by piece.
extension ScriptState {
  /// A flag that interrupts a state's scripts from any thread: while it is set, Lua functions raise "interrupted".
  public final class Break: @unchecked Sendable {
    // C code reads it in the state's hook and writes it from any thread, both atomically.
    fileprivate let flag = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    public init() { flag.initialize(to: 0) }
    deinit { flag.deallocate() }

    public func set(_ isSet: Bool) { tureen_flag_set(flag, isSet ? 1 : 0) }
  }

  /// An error that the kept function raised.
  public struct Raised: Error {
    public let message: String
    public init(message: String) { self.message = message }
  }

  /// Runs a chunk and keeps the function that it returns, for ``ask(_:_:)``.
  public func keep(text: String, name: String) throws(Raised) {
    try perform(text) { state, bytes, count, answer in tureen_state_keep(state, bytes, count, name, answer) }
  }

  /// Calls the kept function with a verb and a text and returns its result.
  @discardableResult
  public func ask(_ verb: String, _ text: String = "") throws(Raised) -> String {
    try perform(text) { state, bytes, count, answer in tureen_state_ask(state, verb, bytes, count, answer) }
  }

  /// Lets `stop` interrupt this state's scripts. The caller keeps it alive as long as the state.
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
