/// The limits of servers for this machine.
extension Tuning {
  /// Milliseconds that a client has to read a response.
  static let loopbackAnswerMs = 30_000
  /// Milliseconds after the response in which the client may still send something and closes the connection.
  static let loopbackLingerMs = 1_000
  /// Milliseconds without accepting a connection once the process has too many files open.
  static let loopbackAcceptPauseMs = 100
}
