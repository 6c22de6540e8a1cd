/// The decoded parameters of a query or a form.
package struct FormFields: Sendable, Equatable {
  private struct Field: Equatable {
    let name: String, value: String
  }

  private let fields: [Field]

  /// Fails for a bad escape and for bytes that are not UTF-8.
  ///
  /// - Parameter text: Such as `a=1&b=2`; `+` means a blank.
  package init?(_ text: some StringProtocol) {
    var fields: [Field] = []
    for part in text.split(separator: "&") {
      let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(halves[0]), let value = Self.decoded(halves.count > 1 ? halves[1] : "") else { return nil }
      fields.append(Field(name: name, value: value))
    }
    self.fields = fields
  }

  private static func decoded(_ text: some StringProtocol) -> String? {
    PercentEncoding.decode(String(text.map { $0 == "+" ? " " : $0 }))
  }

  package func contains(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// Returns the value of a parameter that occurs exactly once, because OAuth forbids repeated
  /// parameters; otherwise nil.
  package func only(_ name: String) -> String? {
    let found = fields.filter { $0.name == name }
    return found.count == 1 ? found[0].value : nil
  }
}
