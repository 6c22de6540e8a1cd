import JSON
import LuaBridge
import Support

/// Why an org cannot have a name. Commands end with the status of wrong usage.
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

/// The rules for names that people give to orgs. Names made from a host or taken from a folder are not bound by them.
enum OrgName {
  static let longest = 64
  /// What `--org` means by these words is not a name.
  static let reserved = ["sandbox": "the sandbox org", "sf": "the orgs of the sf CLI"]

  /// - Throws: ``OrgNameError`` with the rule that the name breaks.
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

  /// - Throws: ``OrgNameError`` when another org has the name, or one that differs in letter case alone.
  static func checkIsFree(_ name: String, among entries: [OrgEntry]) throws(OrgNameError) {
    guard let twin = entries.first(where: { $0.name.lowercased() == name.lowercased() }) else { return }
    throw OrgNameError(
      twin.name.hasSameBytes(as: name)
        ? "an org is known as '\(name)' already; choose another name"
        : "'\(name)' differs from the known org '\(twin.name)' in letter case alone; choose another name")
  }
}
