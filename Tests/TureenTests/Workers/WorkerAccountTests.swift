import JSON
import PostgresStore
import RestClient
import Salesforce
import Support
import TestSupport
import Testing

@testable import Tureen

/// Whose jobs a worker runs.
@Suite struct WorkerAccountTests {
  /// Reads on a plain thread, because it blocks, as on a worker's.
  private func read(
    _ home: AccountHome, _ change: (inout HostSettings) -> Void = { _ in }
  ) async throws -> WorkerAccounts {
    var settings = HostSettings()
    settings.home = home.runner.home
    change(&settings)
    return try await withCheckedThrowingContinuation { [settings] continuation in
      Thread.start {
        continuation.resume(
          with: Result {
            let (settled, path) = try Host(settings: settings).settledSettings()
            return try WorkerAccounts.read(settings, settled: settled, home: path)
          })
      }
    }
  }

  @Test func accounts_ofAHome_areThoseWhoAreSignedIn() async throws {
    let home = try await AccountHome()
    let accounts = try await read(home)
    #expect(accounts.names == ["one/ann", "one/bob", "two/cleo"])
    let bob = try #require(accounts.key(org: "one", user: "bob"))
    #expect(accounts.settings[bob]?.org == "one" && accounts.settings[bob]?.user == "bob")
    #expect(accounts.key(org: "two", user: "bob") == nil && accounts.key(org: "sandbox", user: "sandbox-user") == nil)
    // No default org, so no user for global stores.
    #expect(accounts.key(org: "", user: "") == nil)
  }

  @Test func accounts_sandbox_isOneOfThem() async throws {
    let home = try await AccountHome()
    let accounts = try await read(home) { $0.embeddedSandbox = { _ in throw HostError(.unsupported, "not asked for") } }
    #expect(accounts.names == ["one/ann", "one/bob", "sandbox/sandbox-user", "two/cleo"])
    // Nothing else is the default.
    #expect(accounts.key(org: "", user: "") == accounts.key(org: "sandbox", user: "sandbox-user"))
  }

  @Test func accounts_withAnOrg_areItsUserAlone() async throws {
    let home = try await AccountHome()
    let accounts = try await read(home) {
      ($0.org, $0.user) = ("two", "cleo")
      $0.embeddedSandbox = { _ in throw HostError(.unsupported, "not asked for") }
    }
    #expect(accounts.names == ["two/cleo"] && accounts.key(org: "", user: "") == accounts.key(org: "two", user: "cleo"))
    let error = await #expect(throws: HostError.self) { _ = try await read(home) { $0.org = "three" } }
    #expect(error?.code == .noSuchOrg)
  }

  @Test func accounts_endedSession_isLeftToOthers() async throws {
    let home = try await AccountHome()
    try FileSystem.removeTree(home.runner.home + "/orgs/two/cleo/session.json")
    #expect(try await read(home).names == ["one/ann", "one/bob"])
    let error = await #expect(throws: HostError.self) {
      _ = try await read(home) { ($0.org, $0.user) = ("two", "cleo") }
    }
    #expect(error?.message == "no user is signed in to 'two'; sign in with `tureen login --org two`")
  }
}
