/// The location of a connection's secret. The secret itself is read when a request needs it.
public enum SecretSource: Sendable, Equatable {
  /// An environment variable's name.
  case environment(String)
  /// An absolute path. A single trailing line break is not part of the secret.
  case file(String)
  /// A program and its arguments, run without a shell; its output is the secret.
  case command([String])

  /// Describes the source in messages. Never contains the secret or a command's arguments, which
  /// may hold one.
  public var name: String {
    switch self {
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    case .command(let words): "the command \(words.first ?? "")"
    }
  }
}

/// A secret, or where to read it from.
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

/// Reads secrets. The host supplies an implementation that checks file modes, limits time and
/// starts processes.
public struct SecretReading: Sendable {
  /// Why a secret cannot be read. Names the source, never the secret.
  public struct Failure: Error, Sendable {
    public let message: String
    /// True if there is no secret at all: the variable is unset or the file missing. Only then does
    /// `optional` apply.
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
