/// Where a secret of a connection is kept. The secret itself is read when a request needs it.
public enum SecretSource: Sendable, Equatable {
  /// An environment variable's name.
  case environment(String)
  /// An absolute path. One line break at its end is not part of the secret.
  case file(String)
  /// A program and its arguments, run without a shell; it prints the secret.
  case command([String])

  /// The source, for people. Never the secret, and never a command's arguments, which may hold one.
  public var name: String {
    switch self {
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    case .command(let words): "the command \(words.first ?? "")"
    }
  }
}

/// A secret, or the place to read it from.
public enum SecretValue: Sendable, Equatable {
  /// Given by a program; never accepted from `connections.json`.
  case plain(String)
  case source(SecretSource)
}

extension SecretValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String {
    switch self {
    case .plain: "a secret given as text"
    case .source(let source): source.name
    }
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["source": description]) }
}

/// Reads secrets. The host passes one that knows about file modes, time limits and processes.
public struct SecretReading: Sendable {
  /// Why a secret cannot be read; names the source, never the secret.
  public struct Failure: Error, Sendable {
    public let message: String
    /// True when there is no secret at all: an unset variable, a missing file. Only then `optional` applies.
    public let isMissing: Bool

    public init(_ message: String, isMissing: Bool) {
      self.message = message
      self.isMissing = isMissing
    }
  }

  /// Blocks: a command may take a minute.
  package let read: @Sendable (SecretSource) throws(Failure) -> String

  public init(_ read: @escaping @Sendable (SecretSource) throws(Failure) -> String) { self.read = read }
}
