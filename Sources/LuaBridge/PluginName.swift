import Support

/// Checks the names of services and events that programs and scripts add: reverse-DNS, such as `com.acme.printer`.
public enum PluginName {
  static let rule =
    "must be letters, digits and '_', in at least two parts with '.' between them, and not start with 'com.salesforce.' or "
    + "'tureen.': for example com.acme.printer"
  private static let reserved = ["com.salesforce.", "tureen."]

  /// Returns whether a plug-in or one of its events may have this name. Tureen's own events have no dot, so the names cannot
  /// collide.
  public static func isValid(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count > 1, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isNameByte) }) else { return false }
    return !reserved.contains { name.hasPrefix($0) }
  }

  /// Checks a name. - Parameter what: The word for the name in the message: `service` or `event`.
  /// - Throws: `invalidArguments`.
  static func check(_ name: String, _ what: String) throws(BridgeError) {
    guard !isValid(name) else { return }
    throw .bridge(.invalidArguments, "\(what) '\(name)' \(rule)")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_")
  }
}
