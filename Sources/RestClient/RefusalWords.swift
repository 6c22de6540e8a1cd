/// Codes and phrases by which one kind of server says what the HTTP status leaves open. Each kind brings its own.
package struct RefusalWords: Sendable, Equatable {
  /// Codes of a 403 that mean: too many requests for now.
  let limits: Set<String>
  /// Words in the message of such an answer that mean: only for seconds, try again.
  let momentary: [String]
  /// Codes after which the same call may succeed later, whatever the status.
  let passing: Set<String>

  package init(limits: Set<String> = [], momentary: [String] = [], passing: Set<String> = []) {
    self.limits = limits
    self.momentary = momentary
    self.passing = passing
  }

  package static let none = RefusalWords()

  func isLimit(status: Int, code: String?) -> Bool { status == 403 && code.map(limits.contains) ?? false }

  /// - Returns: nil where only the status says it.
  func passing(isLimit: Bool, code: String?, message: String) -> RestError.Passing? {
    if isLimit { return momentary.contains(where: message.containsASCII) ? .soon : .later }
    return code.map(passing.contains) ?? false ? .later : nil
  }
}
