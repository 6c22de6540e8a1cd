import Glibc
import JSON
import RestClient
import Salesforce
import Support

/// An org that the sf CLI is signed in to. The CLI remains the only owner of the session and renews it; this type asks it for
/// the token.
///
/// - Note: Source: salesforcecli/plugin-org and plugin-auth. Since 2026-05 `org display` redacts tokens and
///   `org auth show-access-token` prints them; older versions lack this command. If a refresh fails, the CLI only warns.
public struct SalesforceCLI: Sendable, Equatable {
  /// An alias or a user name in the CLI; empty for its default org.
  public let alias: String
  private let program: String
  private let timeoutMs: Int64

  static let prefix = "sf:"

  /// - Throws: ``HostError`` `.invalidConfiguration` for an alias that the CLI would interpret as an option.
  public init(alias: String) throws {
    try self.init(alias: alias, program: "sf", timeoutMs: Tuning.salesforceCLITimeoutMs)
  }

  /// Tests use a different program and a shorter timeout.
  init(alias: String, program: String, timeoutMs: Int64) throws {
    guard !alias.hasPrefix("-"), alias.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
      throw HostError(
        .invalidConfiguration,
        "'\(alias)' is not an alias of the sf CLI: it begins with '-' or contains a blank; see `sf org list`")
    }
    self.alias = alias
    self.program = program
    self.timeoutMs = timeoutMs
  }

  /// The org's name in messages.
  public var name: String { alias.isEmpty ? "the sf CLI's default org" : "the sf CLI's org '\(alias)'" }

  /// Credentials that ask the CLI for each session.
  public var credentials: Credentials {
    .external(ExternalToken(name: name) { refused in try await session(refused: refused) })
  }

  /// - Throws: ``HostError`` `.noSuchOrg` if the sf CLI is not installed.
  public func checkInstalled() throws {
    guard !Self.isFound(program) else { return }
    throw HostError(
      .noSuchOrg, "the sf CLI, which signs in to \(name), is not in PATH: install it, or choose another way to sign in")
  }

  private static func isFound(_ program: String) -> Bool {
    if program.contains("/") { return access(program, X_OK) == 0 }
    return (Environment["PATH"] ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Asks the CLI for its session.
  ///
  /// - Parameter refused: The token that the org has refused.
  /// - Throws: ``RestClient/RestError`` `.notAuthenticated` with the CLI's message, `.sessionExpired` if it still has the refused
  ///   token, `.noResponse` if it takes too long.
  public func session(refused: String? = nil) async throws(RestError) -> Session {
    let answer = try await ask(["org", "display"])
    guard let instance = answer.result["instanceUrl"]?.stringValue, LoginAddress.problem(instance) == nil else {
      throw refusal("`sf org display` does not report an instanceUrl")
    }
    var token = Self.token(in: answer), warnings = answer.warnings
    if token == nil {
      let shown = try await ask(["org", "auth", "show-access-token"])
      token = Self.token(in: shown)
      warnings += shown.warnings
    }
    guard let token else {
      throw refusal("it shows no access token; `sf org auth show-access-token` prints one")
    }
    guard token != refused else { throw same(token, warnings) }
    return session(token, instance, answer.result)
  }

  private func session(_ token: String, _ instance: String, _ result: JSONValue) -> Session {
    var session = Session(givenToken: token, instanceURL: instance)
    if session.orgId.isEmpty { session.orgId = result["id"]?.stringValue ?? "" }
    session.flow = SignInFlow.sf.rawValue
    session.username = result["username"]?.stringValue
    session.clientId = result["clientId"]?.stringValue
    return session
  }

  private static func token(in answer: Answer) -> String? {
    guard let token = answer.result["accessToken"]?.stringValue, !token.isEmpty, !token.hasPrefix("[REDACTED]") else {
      return nil
    }
    return token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) ? token : nil
  }

  private func same(_ token: String, _ warnings: [String]) -> RestError {
    let said = warnings.isEmpty ? "" : ", and warns: " + TokenRedaction([token]).cleaned(warnings.joined(separator: " "))
    return RestError(
      code: .sessionExpired,
      message: "\(name) still has the access token that the org has refused\(said.prefix(500)); sign in there again: "
        + "sf org login web", outcome: .notSent)
  }

  private func refusal(_ what: some StringProtocol) -> RestError {
    RestError(code: .notAuthenticated, message: "\(name): \(what)", outcome: .notSent)
  }

  // MARK: Asking

  private struct Answer: Sendable {
    let result: JSONValue
    let warnings: [String]
  }

  private func ask(_ command: [String]) async throws(RestError) -> Answer {
    let target = alias.isEmpty ? [] : ["--target-org", alias], words = [program] + command + target + ["--json"]
    let shown = "`sf \(command.joined(separator: " "))`"
    let ended: ProgramExchange.Output
    do {
      ended = try await Blocking.offPool { [timeoutMs] in
        try ProgramExchange.run(
          words, input: [], timeoutMs: timeoutMs, limit: Tuning.salesforceCLIBytes, endsAsGroup: true)
      }
    } catch {
      let isTimeout = (error as? ProgramExchange.Problem)?.isTimeout ?? false
      guard isTimeout else { throw refusal("\(shown) \(error)") }
      throw RestError(code: .noResponse, message: "\(name): \(shown) \(error)", outcome: .notSent)
    }
    return try answer(ended, shown)
  }

  /// Parses the CLI's JSON. A failure is reported by `status` in the JSON; the exit status matters only if there is no JSON.
  private func answer(_ ended: ProgramExchange.Output, _ shown: String) throws(RestError) -> Answer {
    guard let json = try? JSONValue(parsing: ended.text), json.objectValue != nil else {
      let said = String(decoding: ended.errors, as: UTF8.self).split(separator: "\n").first.map { ": \($0.prefix(200))" } ?? ""
      let ending = ended.status.map { "ended with status \($0)" } ?? "was ended by a signal"
      throw refusal("\(shown) printed no JSON and \(ending)\(said)")
    }
    guard json["status"]?.integerValue == 0, let result = json["result"], result.objectValue != nil else {
      throw refusal("\(shown) failed: \((json["message"]?.stringValue ?? "it does not say why").prefix(500))")
    }
    return Answer(result: result, warnings: (json["warnings"]?.arrayValue ?? []).compactMap(\.stringValue))
  }
}
