import JSON
import LuaBridge
import Support

/// An invalid or unavailable name for an org. Commands exit with the status for usage errors.
public struct OrgNameError: Error, Sendable, Equatable, CustomStringConvertible {
  public let message: String

  public init(_ message: String) { self.message = message }

  public var description: String { message }
}

extension OrgNameError: BridgeErrorConvertible {
  public var bridgeError: BridgeError {
    BridgeError(domain: "bridge", code: BridgeError.Code.invalidArguments.rawValue, message: message)
  }
}

/// The rules for names that people give to orgs. Names that are derived from a host or a folder need not follow them.
enum OrgName {
  static let longest = 64
  /// Names that have a special meaning in `--org`.
  static let reserved = ["sandbox": "the sandbox org", "sf": "the orgs of the sf CLI"]

  /// - Throws: ``OrgNameError`` naming the violated rule.
  static func check(_ name: String) throws(OrgNameError) {
    if let meaning = reserved[name.lowercased()] {
      throw OrgNameError("'\(name)' is not available as the name of an org: it means \(meaning)")
    }
    let bytes = Array(name.utf8)
    guard (1...longest).contains(bytes.count), bytes[0].isASCIILetter || bytes[0].isASCIIDigit,
      bytes.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "._-".utf8.contains($0) })
    else {
      throw OrgNameError(
        "'\(name.prefix(longest + 1))' is not a valid name of an org: use 1 to \(longest) letters, digits, '.', '_' and '-', "
          + "the first one a letter or a digit")
    }
  }

  /// - Throws: ``OrgNameError`` if another org has this name or one that differs only in case.
  static func checkIsFree(_ name: String, among entries: [OrgEntry]) throws(OrgNameError) {
    guard let twin = entries.first(where: { $0.name.lowercased() == name.lowercased() }) else { return }
    throw OrgNameError(
      twin.name.hasSameBytes(as: name)
        ? "an org named '\(name)' already exists; choose another name"
        : "'\(name)' differs from the org '\(twin.name)' only in case; choose another name")
  }
}
