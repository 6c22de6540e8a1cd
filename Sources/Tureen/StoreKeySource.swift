import Glibc
import JSON
import SmartStore

/// The source of the stores' key. The key itself is never part of a setting, an argument, a log message or an error.
public enum StoreKeySource: Sendable, Equatable {
  /// A file. A trailing line break is not part of the key.
  case file(String)
  /// The name of an environment variable.
  case variable(String)
  /// A program and its arguments, run without a shell. Its output without a trailing line break is the key.
  case command([String])

  /// True if this build can encrypt stores.
  public static var isSupported: Bool { StoreKey.isSupported }

  /// The names of the settings.
  static let keys = ["storeKeyFile", "storeKeyVariable", "storeKeyCommand"]

  /// Parses the value of a setting.
  /// - Returns: nil if the value has the wrong form; ``shape(of:)`` describes the right one.
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

  /// Parses a command line: a JSON array, or words separated by spaces. Returns nil if it is empty or invalid.
  public init?(commandLine line: String) { self.init("storeKeyCommand", .string(line)) }

  static func shape(of key: String) -> String {
    switch key {
    case "storeKeyFile": "must be the name of a file"
    case "storeKeyVariable": "must be the name of an environment variable"
    default: "must be a program and its arguments: an array of strings, or one string that is split at its spaces"
    }
  }

  /// Splits a command line into words. Does not support the quotes, variables and wildcards of a shell.
  static func words(_ line: String) -> [String]? {
    if line.hasPrefix("[") {
      guard let list = (try? JSONValue(parsing: Array(line.utf8)))?.arrayValue else { return nil }
      return command(list)
    }
    let words = line.split(separator: " ").map(String.init)
    return words.isEmpty ? nil : words
  }

  /// Returns the words of a command in a setting: a command line, or an array.
  static func words(_ value: JSONValue) -> [String]? {
    guard case .command(let words)? = StoreKeySource("storeKeyCommand", value) else { return nil }
    return words
  }

  private static func command(_ list: [JSONValue]) -> [String]? {
    guard case .command(let words)? = StoreKeySource("storeKeyCommand", .array(list)) else { return nil }
    return words
  }

  /// Reads `TUREEN_STORE_KEY` (which contains the key), `TUREEN_STORE_KEY_FILE` or `TUREEN_STORE_KEY_COMMAND`.
  /// - Throws: ``HostError`` `.invalidConfiguration` if more than one is set or the command is invalid.
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

  /// Reads the key. Blocks: a command may take up to 60 s.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, variable or program, but not quoting what was read;
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

  /// Reads the bytes of the key, which are wiped when the result is released.
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

  /// Returns the source that the command line uses: that of the environment.
  public static func current() throws -> StoreKeySource? { try environment() }

  /// The name of the source in messages.
  private var name: String {
    switch self {
    case .file(let path): "the key file \(path)"
    case .variable(let name): "the variable \(name) with the stores' key"
    case .command(let words): "the command \(words.first ?? "") for the stores' key"
    }
  }
}
