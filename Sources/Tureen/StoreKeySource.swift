import Glibc
import JSON
import SmartStore

/// Where the key of the stores is found. The key itself is no setting: it is in no argument, no log and no error.
public enum StoreKeySource: Sendable, Equatable {
  /// A file; its last line break is not part of the key.
  case file(String)
  /// An environment variable's name.
  case variable(String)
  /// A program and its arguments, run without a shell; what it prints, without its last line break, is the key.
  case command([String])

  /// Whether this build can encrypt stores.
  public static var isSupported: Bool { StoreKey.isSupported }

  /// The settings, by name.
  static let keys = ["storeKeyFile", "storeKeyVariable", "storeKeyCommand"]

  /// Reads a setting's value.
  /// - Returns: Nil when the value is of another shape; ``shape(of:)`` tells people which it should have.
  init?(_ key: String, _ value: JSONValue) {
    switch (key, value) {
    case ("storeKeyFile", .string(let path)) where !path.isEmpty: self = .file(path)
    case ("storeKeyVariable", .string(let name)) where !name.isEmpty && !name.utf8.contains(UInt8(ascii: "=")):
      self = .variable(name)
    case ("storeKeyCommand", .string(let line)):
      guard let words = StoreKeySource.words(line) else { return nil }
      self = .command(words)
    case ("storeKeyCommand", .array(let list)):
      let words = list.compactMap(\.stringValue)
      guard !words.isEmpty, words.count == list.count, words.first != "" else { return nil }
      self = .command(words)
    default: return nil
    }
  }

  /// A command as it stands on one line: a JSON array, or words between spaces. Nil for none.
  public init?(commandLine line: String) { self.init("storeKeyCommand", .string(line)) }

  static func shape(of key: String) -> String {
    switch key {
    case "storeKeyFile": "must be the name of a file"
    case "storeKeyVariable": "must be the name of an environment variable"
    default: "must be a program and its arguments: an array of strings, or one string that is split at its spaces"
    }
  }

  /// The words of a command on one line. No quotes, no variables, no wildcards: that is a shell's.
  static func words(_ line: String) -> [String]? {
    if line.hasPrefix("[") {
      guard let list = (try? JSONValue(parsing: Array(line.utf8)))?.arrayValue else { return nil }
      return command(list)
    }
    let words = line.split(separator: " ").map(String.init)
    return words.isEmpty ? nil : words
  }

  /// The words of a command in a setting: text of one line, or an array.
  static func words(_ value: JSONValue) -> [String]? {
    guard case .command(let words)? = StoreKeySource("storeKeyCommand", value) else { return nil }
    return words
  }

  private static func command(_ list: [JSONValue]) -> [String]? {
    guard case .command(let words)? = StoreKeySource("storeKeyCommand", .array(list)) else { return nil }
    return words
  }

  /// The environment's word: `TUREEN_STORE_KEY`, which holds the key, `TUREEN_STORE_KEY_FILE`, `TUREEN_STORE_KEY_COMMAND`.
  /// - Throws: ``HostError`` `.invalidConfiguration` for more than one of them, and for a command that is none.
  static func environment() throws -> StoreKeySource? {
    var found: [(name: String, source: StoreKeySource)] = []
    if Environment["TUREEN_STORE_KEY"] != nil { found.append(("TUREEN_STORE_KEY", .variable("TUREEN_STORE_KEY"))) }
    if let path = Environment["TUREEN_STORE_KEY_FILE"] { found.append(("TUREEN_STORE_KEY_FILE", .file(path))) }
    if let line = Environment["TUREEN_STORE_KEY_COMMAND"] {
      guard let words = words(line) else {
        throw HostError(.invalidConfiguration, "TUREEN_STORE_KEY_COMMAND \(shape(of: "storeKeyCommand"))")
      }
      found.append(("TUREEN_STORE_KEY_COMMAND", .command(words)))
    }
    guard found.count < 2 else {
      throw HostError(.invalidConfiguration, "\(found.map(\.name).joined(separator: " and ")) are set: one key is enough")
    }
    return found.first?.source
  }

  /// Finds the key. Blocks: a command may take its time, up to 60 s.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, variable or program, never what was read;
  ///   ``SmartStore/StoreError`` `.encryptionUnavailable`.
  public func read() throws -> StoreKey {
    guard StoreKey.isSupported else { throw StoreKey.unavailable }
    let secret = try secret()
    do {
      return try secret.withBytes { try StoreKey($0) }
    } catch let error as StoreError where error.code == .invalidKey {
      throw HostError(.invalidConfiguration, "\(name): \(error.message)")
    }
  }

  /// The bytes of the key, wiped when they are let go of.
  func secret() throws -> Secret {
    do {
      switch self {
      case .file(let path):
        try PrivateFile.check(path, what: "the key file")
        return try SecretReader.file(path)
      case .variable(let name): return try SecretReader.variable(getenv(name))
      case .command(let words): return try SecretReader.command(words, timeoutMs: Tuning.keyCommandTimeoutMs)
      }
    } catch let error as SecretReader.Problem {
      throw HostError(.invalidConfiguration, "\(name): \(error.what)")
    }
  }

  /// The source that is in force for the command line's own purposes: the environment's.
  public static func current() throws -> StoreKeySource? { try environment() }

  /// The source, for people.
  private var name: String {
    switch self {
    case .file(let path): "the key file \(path)"
    case .variable(let name): "the variable \(name) with the stores' key"
    case .command(let words): "the command \(words.first ?? "") for the stores' key"
    }
  }
}
