import Glibc
import JSON
import RestClient
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests orgs of the sf CLI with a fake CLI.
@Suite(.timeLimit(.minutes(60))) struct SalesforceCLITests {
  private let folder: TemporaryFolder
  private let server: ScriptedServer

  init() throws {
    folder = try TemporaryFolder()
    server = try ScriptedServer(handler: { request in
      request.header("Authorization") == "Bearer token-2"
        ? .json("{}") : .restError(401, "INVALID_SESSION_ID", "Session expired or invalid")
    })
    let source = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    try folder.write("#!/bin/sh\nPRETEND_SF=\(folder.path) exec /\(source)/EndToEnd/Programs/sf \"$@\"\n", to: "sf", mode: 0o755)
    try folder.write(server.url, to: "instance", mode: 0o600)
    try folder.write("token-1\ntoken-2\n", to: "tokens", mode: 0o600)
  }

  private func cli(_ alias: String = "prod", timeoutMs: Int64 = 600_000) throws -> SalesforceCLI {
    try SalesforceCLI(alias: alias, program: folder.path + "/sf", timeoutMs: timeoutMs)
  }

  private func failure(_ cli: SalesforceCLI, refused: String? = nil) async throws -> RestError {
    do {
      let session = try await cli.session(refused: refused)
      throw Unexpected(what: "a session of \(session.instanceURL)")
    } catch let error as RestError {
      return error
    }
  }

  private struct Unexpected: Error { let what: String }

  private var calls: [String] {
    guard let file = fopen(folder.path + "/calls", "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private static let display = "org display --target-org prod --json"
  private static let show = "org auth show-access-token --target-org prod --json"

  @Test(arguments: [("new", [display, show]), ("old", [display])])
  func sf_eachForm_givesTheSession(form: String, asked: [String]) async throws {
    try folder.write(form, to: "form", mode: 0o600)
    let session = try await cli().session()
    #expect(session.accessToken == "token-1" && session.instanceURL == server.url && session.loginURL == server.url)
    #expect(session.orgId == "00D000000000001EAA" && session.refreshToken == nil)
    #expect(session.flow == "sf" && session.username == "ann@acme.com" && session.clientId == "PlatformCLI")
    #expect(calls == asked)
  }

  /// A program that is just being updated is started when its file is complete.
  @Test func sf_whoseFileIsOpenForWriting_isStartedLater() async throws {
    let file = open(folder.path + "/sf", O_WRONLY | O_CLOEXEC), cli = try cli()
    async let session = cli.session()
    close(file)
    #expect(try await session.accessToken == "token-1")
  }

  @Test func sf_defaultOrg_isAskedWithoutAnAlias() async throws {
    _ = try await cli("").session()
    #expect(calls == ["org display --json", "org auth show-access-token --json"])
    #expect(try cli("").name == "the sf CLI's default org")
  }

  @Test func sf_expiredToken_isAskedOnceMoreAndTheRequestReplayed() async throws {
    let client = SalesforceClient(credentials: try cli().credentials)
    let status = try await client.send(RestRequest(.GET, "/services/data/v66.0/limits")).status
    await client.shutdown()
    #expect(status == 200)
    #expect(server.requests.map { $0.header("Authorization") } == ["Bearer token-1", "Bearer token-2"])
    #expect(calls == [Self.display, Self.show, Self.display, Self.show])
  }

  @Test(arguments: ["new", "old"])
  func sf_thatCannotRefresh_isAskedOnceMoreThenSessionExpiredWithItsWarning(form: String) async throws {
    try folder.write(form, to: "form", mode: 0o600)
    try folder.write("token-1\n", to: "tokens", mode: 0o600)
    try folder.write("Unable to refresh session: expired access/refresh token", to: "warning", mode: 0o600)
    let client = SalesforceClient(credentials: try cli().credentials)
    await #expect {
      _ = try await client.send(RestRequest(.GET, "/services/data/v66.0/limits"))
    } throws: { error in
      guard let error = error as? RestError else { return false }
      return error.code == .sessionExpired && error.message.contains("Unable to refresh session")
        && error.message.contains("sf org login web") && !"\(error)".contains("token-1")
    }
    await client.shutdown()
    // One request; the CLI was asked twice and returned the same token again.
    #expect(server.requests.count == 1)
    #expect(calls.filter { $0 == Self.display }.count == 2)
  }

  @Test func sf_failing_itsMessageIsTold() async throws {
    try folder.write("No authorization information found for prod.", to: "failure", mode: 0o600)
    let error = try await failure(cli())
    #expect(error.code == .notAuthenticated && error.outcome == .notSent && !error.isRetryable)
    #expect(
      error.message
        == "the sf CLI's org 'prod': `sf org display` failed: No authorization information found for prod.")
  }

  @Test func sf_withoutJSON_itsErrorStreamIsTold() async throws {
    try folder.write("#!/bin/sh\necho '/usr/bin/env: node: No such file' >&2\nexit 127\n", to: "sf", mode: 0o755)
    let error = try await failure(cli())
    #expect(error.message.hasSuffix("printed no JSON and ended with status 127: /usr/bin/env: node: No such file"))
  }

  @Test func sf_hanging_isEndedWithWhatItStartedAndRetryable() async throws {
    try folder.write("", to: "hangs", mode: 0o600)
    let error = try await failure(cli(timeoutMs: 200))
    #expect(error.code == .noResponse && error.isRetryable && error.message.hasSuffix("took too long"), "\(error)")
    #expect(Tuning.salesforceCLITimeoutMs == 60_000)
  }

  @Test func sf_none_isNoSuchOrg() throws {
    let cli = try SalesforceCLI(alias: "prod", program: folder.path + "/nowhere", timeoutMs: 1)
    let error = #expect(throws: HostError.self) { try cli.checkInstalled() }
    #expect(error?.code == .noSuchOrg && error?.message.contains("is not in PATH") == true)
    try self.cli().checkInstalled()
  }

  @Test(arguments: ["--json", "a b", "a\nb"])
  func sf_aliasThatIsNone_isRefused(alias: String) throws {
    let error = #expect(throws: HostError.self) { try SalesforceCLI(alias: alias) }
    #expect(error?.code == .invalidConfiguration)
  }
}
