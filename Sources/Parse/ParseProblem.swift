/// Why something cannot be sent to a Parse server. Found before any request; the server would refuse it, or do something else.
public struct ParseProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// Names the thing and says what to do; carries no values of records.
  public let description: String
}
