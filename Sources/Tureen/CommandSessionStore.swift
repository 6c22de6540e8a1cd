import JSON
import RestClient
import Salesforce
import Support

/// Stores sessions through an external program, such as one that uses a keyring. The program is run with the additional
/// argument `get`, `store` or `erase`, and reads JSON with the org, the user and the session from its standard input. `get`
/// prints the session, or nothing if there is none.
///
/// The lock is a file in the user's folder, because keyrings have no locks.
public struct CommandSessionStore: SessionStore {
  private let words: [String]
  private let org: String
  private let user: String
  private let lock: FileSessionStore
  private let timeoutMs: Int64

  /// - Parameters:
  ///   - command: The program and its arguments. It is run without a shell.
  ///   - org: The name of the org's folder in the home. Together with `user` it identifies the session.
  ///   - user: The name of the user's folder.
  ///   - lockFolder: The folder for the lock file.
  public init(command: [String], org: String, user: String, lockFolder: String) {
    self.init(command: command, org: org, user: user, lock: FileSessionStore(folder: lockFolder))
  }

  init(command: [String], org: String, user: String, lock: FileSessionStore, timeoutMs: Int64 = Tuning.keyCommandTimeoutMs) {
    words = command
    self.org = org
    self.user = user
    self.lock = lock
    self.timeoutMs = timeoutMs
  }

  public func load() async throws -> StoredSession? {
    let text = try await run("get")
    guard text.contains(where: { $0 > 32 }) else { return nil }
    guard let json = try? JSONValue(parsing: text) else {
      throw HostError(.invalidConfiguration, "\(name("get")) printed something that is not JSON")
    }
    return StoredSession(json: json)
  }

  public func save(_ kept: StoredSession) async throws { _ = try await run("store", kept) }

  public func erase() async throws { _ = try await run("erase") }

  public func withLock<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
    try await lock.withLock(body)
  }

  private func name(_ verb: String) -> String { "the sessionCommand '\(words.first ?? "") … \(verb)'" }

  /// - Throws: ``HostError`` `.invalidConfiguration` with the program's standard error, from which tokens are removed.
  private func run(_ verb: String, _ kept: StoredSession? = nil) async throws -> [UInt8] {
    var request: JSONObject = ["org": .string(org), "user": .string(user)]
    request["session"] = kept?.json
    let input = JSONValue.object(request).serialized() + [UInt8(ascii: "\n")]
    let output: ProgramExchange.Output
    do {
      output = try await Blocking.offPool { [words, timeoutMs] in
        try ProgramExchange.run(words + [verb], input: input, timeoutMs: timeoutMs, limit: Tuning.sessionBytes)
      }
    } catch let problem as ProgramExchange.Problem {
      throw HostError(.invalidConfiguration, "\(name(verb)) \(problem)")
    }
    guard output.status != 0 else { return output.text }
    let ending = output.status.map { "ended with status \($0)" } ?? "was ended by a signal"
    let tokens = TokenRedaction([kept?.session?.accessToken, kept?.session?.refreshToken].compactMap { $0 })
    let said = tokens.cleaned(String(decoding: output.errors, as: UTF8.self)).split(separator: "\n").joined(separator: " ")
    throw HostError(
      .invalidConfiguration,
      "\(name(verb)) \(ending)\(said.isEmpty ? "" : ": \(TerminalText.escaped(String(said.prefix(Tuning.shownErrors))))")")
  }
}
