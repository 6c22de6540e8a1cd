/// Error codes and phrases with which one kind of server says more than the HTTP status. Each
/// service defines its own.
package struct RefusalWords: Sendable, Equatable {
  /// Codes of a 403 that mean a request limit was reached.
  let limits: Set<String>
  /// Phrases in the message of such a response that mean the limit lasts only seconds.
  let momentary: [String]
  /// Codes of transient errors, with any status.
  let passing: Set<String>

  package init(limits: Set<String> = [], momentary: [String] = [], passing: Set<String> = []) {
    self.limits = limits
    self.momentary = momentary
    self.passing = passing
  }

  package static let none = RefusalWords()

  func isLimit(status: Int, code: String?) -> Bool { status == 403 && code.map(limits.contains) ?? false }

  /// - Returns: nil if the response says nothing beyond its status.
  func passing(isLimit: Bool, code: String?, message: String) -> RestError.Passing? {
    if isLimit { return momentary.contains(where: message.containsASCII) ? .soon : .later }
    return code.map(passing.contains) ?? false ? .later : nil
  }
}
