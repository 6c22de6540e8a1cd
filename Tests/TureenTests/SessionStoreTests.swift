import Glibc
import JSON
import RestClient
import Support
import Synchronization
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests the stores of sessions: the file that all processes of a home share, and a program.
@Suite(.timeLimit(.minutes(60))) struct SessionStoreTests {
  private let place: SessionPlace

  init() throws { place = try SessionPlace() }

  private func mode(_ path: String) -> mode_t {
    var info = stat()
    return stat(path, &info) == 0 ? info.st_mode & 0o777 : 0
  }

  private var session: Session {
    Session(accessToken: "a", refreshToken: "r", instanceURL: "https://i", userId: "005U", orgId: "00DO", loginURL: "https://l")
  }

  // MARK: The file

  @Test func file_savedAndLoaded_isTheSameAndPrivate() async throws {
    var kept = StoredSession(session: session)
    kept.session?.flow = "browser"
    kept.session?.communityURL = "https://site"
    kept.refusal = .init(reason: "ipRestricted", message: "m", until: 99.5, count: 2, key: "s:k")
    try await place.store.save(kept)
    #expect(try await place.store.load() == kept)
    #expect(mode(place.path) == 0o600 && mode(place.folder.path + "/session.lock") == 0o600)
    #expect(try FileSystem.entries(of: place.folder.path).sorted() == ["session.json", "session.lock"])
    try await place.store.erase()
    #expect(try await place.store.load() == nil)
    try await place.store.erase()
  }

  @Test func file_ofTheLastRelease_isReadAndVersion2Afterwards() async throws {
    let org = try RotatingOrg()
    let old: JSONValue = [
      "accessToken": "expired", "instanceURL": .string(org.instance.url), "userId": "005000000000001AAA",
      "orgId": "00D000000000001AAA", "loginURL": .string(org.url), "identityURL": "", "refreshToken": "refresh-0",
      "ofALaterRelease": ["kept": true],
    ]
    try FileSystem.write(old.serialized(), to: place.path)
    #expect(try await place.run(org.credentials) == nil)
    let text = try #require(FileSystem.read(place.path)), json = try JSONValue(parsing: text)
    #expect(json["version"] == 2 && json["accessToken"] == "access-1" && json["refreshToken"] == "refresh-1")
    #expect(json["ofALaterRelease"] == ["kept": true] && json["clientId"] == "rotating-app" && json["flow"] == "refreshToken")
  }

  @Test func file_openToOthers_isNarrowedWithAWarning() async throws {
    try await place.store.save(StoredSession(session: session))
    chmod(place.path, 0o664)
    #expect(try await place.store.load()?.session == session)
    #expect(mode(place.path) == 0o600)
    #expect(place.log.text.contains("warning \(place.path) could be read or written by others (mode 664); it is 600 now"))
  }

  /// Needs root, because only root can change the owner of a file.
  @Test(.enabled(if: geteuid() == 0)) func file_ofAnotherUser_isRefusedAndNothingIsAsked() async throws {
    let org = try RotatingOrg()
    try await place.store.save(StoredSession(session: session))
    #expect(chown(place.path, 65_534, 65_534) == 0)
    let error = try await place.run(org.credentials)
    #expect(error?.code == .notAuthenticated && error?.message.contains("belongs to another user (id 65534)") == true)
    #expect(org.asked == 0)
  }

  @Test func file_damaged_isAsGoodAsNone() async throws {
    let org = try RotatingOrg()
    for text in ["", "{", "[]", "{}", #"{"version":2}"#, "\u{0}\u{1}"] {
      try FileSystem.write(Array(text.utf8), to: place.path)
      #expect(try await place.store.load() == nil)
    }
    #expect(try await place.run(org.credentials) == nil && org.renewals == 1)
  }

  @Test func lock_heldByAnother_isSignInBusyAndThenFree() async throws {
    let org = try RotatingOrg(), held = place.store
    let error = try await held.withLock { [place] in
      // A detached task does not inherit the lock.
      try await Task.detached { try await place.run(org.credentials, store: place.store(patienceMs: 0)) }.value
    }
    #expect(error?.code == .signInBusy && error?.isRetryable == true && org.asked == 0)
    #expect(try await place.run(org.credentials) == nil)
  }

  /// A process that was killed while writing leaves a temporary file with a token.
  @Test func unfinishedFile_ofADeadProcess_isReplaced() async throws {
    try FileSystem.write(Array("rest of a token".utf8), to: place.path + ".new")
    chmod(place.path + ".new", 0o666)
    try await place.store.save(StoredSession(session: session))
    #expect(!FileSystem.exists(place.path + ".new") && mode(place.path) == 0o600)
  }

  @Test func reserve_inTheLock_makesTheWholeFileBeforeAsking() async throws {
    try await place.store.withLock { [place] in
      try await place.store.reserve()
      var info = stat()
      #expect(stat(place.path + ".new", &info) == 0 && info.st_size >= 32 * 1024)
      try await place.store.save(StoredSession(session: session))
    }
    var info = stat()
    #expect(stat(place.path, &info) == 0 && info.st_size < 1024)
  }

  // MARK: Clients that share it

  @Test func eightClients_refusedAtOnce_askOnceAndAreToldOnceEach() async throws {
    let org = try RotatingOrg()
    #expect(try await place.run(org.credentials) == nil)
    org.expire()
    // The previous token was still valid then.
    org.awaitRefused(1 + 8)
    let told = (0..<8).map { _ in ToldSessions() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for one in told {
        group.addTask { [place] in
          try await place.withClient(org.credentials, told: one) { client in
            for _ in 0..<3 { _ = try await client.send(RestRequest(.GET, "/x")) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(org.renewals == 2 && org.asked == 2 && org.reuses == 0)
    #expect(told.allSatisfy { $0.all == ["renewed access-2"] })
  }

  /// Both the session in memory and the one of another process have ended.
  @Test func storedSession_endedAsWell_isRenewedForReal() async throws {
    let org = try RotatingOrg()
    try await place.withClient(org.credentials) { client in
      _ = try await client.send(RestRequest(.GET, "/x"))
      org.expire()
      #expect(try await place.run(org.credentials) == nil)
      org.expire()
      _ = try await client.send(RestRequest(.GET, "/x"))
    }
    #expect(org.renewals == 3 && org.reuses == 0)
  }

  @Test func refreshTokenRevoked_eachHostHearsOnceThatTheSessionIsLost() async throws {
    let org = try RotatingOrg(), told = ToldSessions()
    try await place.withClient(org.credentials, told: told) { client in
      _ = try await client.send(RestRequest(.GET, "/x"))
      org.revoke()
      for _ in 0..<4 {
        let error = try await #require(throws: RestError.self) { try await client.send(RestRequest(.GET, "/x")) }
        #expect(error.code == .notAuthenticated && error.reason == "sessionEnded")
      }
      #expect(told.all == ["signedIn access-1", "lost sessionEnded"])
      #expect(org.asked == 2)
    }
    let kept = try await place.store.load()
    #expect(kept?.session?.refreshToken == "refresh-1" && kept?.refusal?.reason == "sessionEnded")
  }

  @Test func signOut_ofAClient_revokesTheNewestTokenAndErasesTheFile() async throws {
    let org = try RotatingOrg()
    try await place.withClient(org.credentials) { client in
      _ = try await client.send(RestRequest(.GET, "/x"))
      org.expire()
      #expect(try await place.run(org.credentials) == nil)
      #expect(await client.signOut())
      let error = try await #require(throws: RestError.self) { try await client.send(RestRequest(.GET, "/x")) }
      #expect(error.message.contains("signed out"))
    }
    #expect(org.server.requests.last?.path == "/services/oauth2/revoke" && org.server.requests.last?.text == "token=refresh-2")
    #expect(!FileSystem.exists(place.path))
  }

  // MARK: A program

  /// Returns a program that stores one session in its own file and records its arguments.
  private func command(_ more: String = "") throws -> [String] {
    let script = place.folder.path + "/keeper"
    let text = """
      #!/bin/sh
      cd \(place.folder.path)
      input=$(cat)
      printf '%s %s\\n' "$1 $2" "$input" >> calls
      \(more)
      case $2 in
        get) if [ -f kept ]; then cat kept; fi;;
        store) printf %s "$input" | sed 's/.*"session"://; s/}$//' > kept;;
        erase) rm -f kept;;
      esac
      """
    try FileSystem.write(Array(text.utf8), to: script)
    chmod(script, 0o700)
    return [script, "word"]
  }

  private func commandStore(_ command: [String], timeoutMs: Int64 = 60_000) -> CommandSessionStore {
    CommandSessionStore(command: command, org: "prod", user: "ann@acme.com", lock: place.store, timeoutMs: timeoutMs)
  }

  private var calls: [String] {
    (FileSystem.read(place.folder.path + "/calls").map { String(decoding: $0, as: UTF8.self) } ?? "").split(separator: "\n")
      .map(String.init)
  }

  @Test func command_works_sessionIsOnlyThereAndRenewedOnce() async throws {
    let org = try RotatingOrg(), store = commandStore(try command())
    #expect(try await place.run(org.credentials, store: store) == nil)
    #expect(!FileSystem.exists(place.path) && FileSystem.exists(place.folder.path + "/session.lock"))
    #expect(calls.first == #"word get {"org":"prod","user":"ann@acme.com"}"#)
    #expect(calls.last?.hasPrefix(#"word store {"org":"prod","user":"ann@acme.com","session":{"#) == true)
    org.expire()
    org.awaitRefused(1 + 4)
    try await withThrowingTaskGroup(of: RestError?.self) { group in
      for _ in 0..<4 { group.addTask { [place] in try await place.run(org.credentials, store: store) } }
      for try await error in group { #expect(error == nil) }
    }
    #expect(org.renewals == 2 && org.reuses == 0)
    #expect(try await store.load()?.session?.refreshToken == "refresh-2")
    try await place.withClient(org.credentials, store: store) { client in _ = await client.signOut() }
    #expect(calls.last == #"word erase {"org":"prod","user":"ann@acme.com"}"# && !FileSystem.exists(place.folder.path + "/kept"))
  }

  @Test func command_fails_isNamedWithItsWordsAndNothingIsAsked() async throws {
    let org = try RotatingOrg()
    let store = commandStore(try command("echo 'no keyring here' >&2; exit 3"))
    let error = try await place.run(org.credentials, store: store)
    #expect(error?.code == .notAuthenticated && org.asked == 0)
    #expect(error?.message.contains("keeper … get' ended with status 3: no keyring here") == true, "\(error?.message ?? "")")
    let missing = commandStore(["/nowhere/keeper"])
    #expect(try await place.run(org.credentials, store: missing)?.message.contains("cannot be run: No such file") == true)
    let garbled = commandStore(try command("echo garbage; exit 0"))
    #expect(try await place.run(org.credentials, store: garbled)?.message.contains("is not JSON") == true)
    #expect(org.asked == 0)
  }

  @Test func command_hangs_isKilledAndNamed() async throws {
    let org = try RotatingOrg()
    let store = commandStore(try command("exec sleep 600"), timeoutMs: 100)
    #expect(try await place.run(org.credentials, store: store)?.message.contains("took too long") == true)
    #expect(org.asked == 0)
  }

  /// With rotating refresh tokens the new token is the only valid one.
  @Test func command_failsToStore_sessionIsUsedAndKeptLater() async throws {
    let org = try RotatingOrg()
    let store = commandStore(try command("if [ $2 = store ] && [ -f refuse ]; then echo \"full: $input\" >&2; exit 1; fi"))
    try FileSystem.write([], to: place.folder.path + "/refuse")
    try await place.withClient(org.credentials, store: store) { client in
      _ = try await client.send(RestRequest(.GET, "/x"))
      #expect(place.log.text.contains("could not be stored: ") && place.log.text.contains("status 1: full"))
      #expect(!place.log.text.contains("refresh-1") && !place.log.text.contains("access-1"))
      unlink(place.folder.path + "/refuse")
      org.expire()
      _ = try await client.send(RestRequest(.GET, "/x"))
    }
    #expect(org.renewals == 2 && org.reuses == 0)
    #expect(try await store.load()?.session?.refreshToken == "refresh-2")
  }

  /// Writing to a program that ends without reading must not end this process.
  @Test func command_readsNoInput_isNoHarm() async throws {
    let store = commandStore(["/bin/true"])
    var kept = StoredSession(session: session)
    kept.session?.scope = String(repeating: "x", count: 200_000)
    for _ in 0..<20 { try await store.save(kept) }
    #expect(try await store.load() == nil)
  }
}
