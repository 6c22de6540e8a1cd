/// Why a request cannot be sent to a Parse server. Detected before any request: the server would
/// reject it or misinterpret it.
public struct ParseProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// Names the problem and what to do. Contains no values of records.
  public let description: String
}
