import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests several processes that share a session with rotating refresh tokens.
@Suite(.timeLimit(.minutes(60))) struct SharedSessionTests {
  /// A home with the org `rotating`.
  private final class Place: Sendable {
    let place: Workplace
    let org: RotatingOrg

    init() throws {
      place = try Workplace()
      org = try RotatingOrg()
      let folder = place.home + "/orgs/rotating"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      chmod(place.home, 0o700)
      let file = try place.write(
        #"{"loginUrl":"\#(org.url)","clientId":"\#(RotatingOrg.clientId)","refreshToken":"refresh-0"}"#,
        to: "home/orgs/rotating/credentials.json")
      chmod(file, 0o600)
    }

    var sessionFile: String { "\(place.home)/orgs/rotating/\(RotatingOrg.clientId)/session.json" }
    var session: JSONValue? { FileManager.default.contents(atPath: sessionFile).flatMap { try? JSONValue(parsing: Array($0)) } }

    /// Starts a process that sends one request.
    func start() throws -> Child {
      try Child(Built.tureen, ["exec"] + request, in: place.path)
    }

    var request: [String] {
      ["--home", place.home, "--org", "rotating", "network", "pgSendRequest", #"{"path":"/services/data/v66.0/limits"}"#]
    }
  }

  @Test func eightProcesses_refusedAtOnce_askOnceAndAllGoOn() async throws {
    let place = try Place(), org = place.org
    #expect(try await place.start().ended().status == 0)
    #expect(org.renewals == 1)
    org.expire()
    // The previous token was still valid then.
    org.awaitRefused(1 + 8)
    let children = try (0..<8).map { _ in try place.start() }
    for child in children {
      let ended = await child.ended()
      #expect(ended.status == 0 && ended.output == "{}\n", "\(ended)")
    }
    #expect(org.renewals == 2 && org.asked == 2 && org.reuses == 0 && !org.isRevoked)
    #expect(place.session?["refreshToken"] == "refresh-2" && place.session?["version"] == 2)
  }

  @Test func twoProcesses_hundredExpiries_renewEachOnceAndLoseNothing() async throws {
    let place = try Place(), org = place.org
    // The org distinguishes the processes by their requests.
    let script = try place.place.write(
      """
      local tureen = require "tureen"
      local path = "/services/data/v66.0/limits/" .. arg[1]
      tureen.async(function()
        for i = 1, 500 do
          assert(tureen.await(tureen.network.sendRequest, { path = path }))
        end
      end)
      assert(tureen.run())
      """, to: "requests.lua")
    org.expire(after: 3)
    let arguments = ["run", "--quiet", "--home", place.place.home, "--org", "rotating", script]
    let children = try (0..<2).map { try Child(Built.tureen, arguments + ["\($0)"], in: place.place.path) }
    for child in children {
      let ended = await child.ended()
      #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    }
    let expiries = org.expiries
    #expect(expiries >= 100, "\(expiries)")
    // The first sign-in, and one renewal for each expiry that was followed by a request.
    #expect((expiries...expiries + 1).contains(org.renewals) && org.asked == org.renewals, "\(org.renewals) \(org.asked)")
    #expect(org.reuses == 0 && !org.isRevoked)
  }

  @Test func process_killedHoldingTheLock_nextGoesOn() async throws {
    let place = try Place(), org = place.org
    #expect(try await place.start().ended().status == 0)
    org.expire()
    org.hold(.beforeRotation)
    let victim = try place.start()
    await org.server.received(2) { $0.path == "/services/oauth2/token" }
    victim.send(SIGKILL)
    _ = await victim.ended()
    org.hold(.none)
    let next = try await place.start().ended()
    #expect(next.status == 0 && next.output == "{}\n", "\(next)")
    #expect(org.renewals == 2 && org.reuses == 0)
    let folder = (place.sessionFile as NSString).deletingLastPathComponent
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder).contains { $0.hasPrefix("session.json.") })
  }

  @Test func process_killedAfterTheTokenRotated_nextIsSessionEndedAndNothingIsDeleted() async throws {
    let place = try Place(), org = place.org
    #expect(try await place.start().ended().status == 0)
    let before = place.session
    org.expire()
    org.hold(.afterRotation)
    let victim = try place.start()
    await org.server.received(2) { $0.path == "/services/oauth2/token" }
    victim.send(SIGKILL)
    _ = await victim.ended()
    org.hold(.none)
    for round in 1...3 {
      let next = try await place.start().ended()
      #expect(next.status != 0 && next.errors.contains("expired access/refresh token"), "\(next)")
      // The refusal is stored, so later processes do not ask.
      #expect(org.asked == 3, "round \(round)")
    }
    let after = try #require(place.session)
    #expect(after["refused"]?["reason"] == "sessionEnded" && after["refused"]?["until"] == nil)
    for key in ["accessToken", "refreshToken", "instanceURL", "userId", "orgId"] {
      #expect(after[key] == before?[key] && after[key] != nil, "\(key)")
    }
  }

  /// Simulates a full disk with a file size limit, which makes the same write fail.
  @Test func diskFull_atARenewal_isNotAskedAndWorksWithSpace() async throws {
    let place = try Place(), org = place.org
    #expect(try await place.start().ended().status == 0)
    org.expire()
    let full = try await Child(
      "/bin/sh", ["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh", Built.tureen, "exec"] + place.request,
      in: place.place.path
    ).ended()
    #expect(full.status != 0 && full.errors.contains("cannot write \(place.sessionFile)"), "\(full)")
    #expect(org.asked == 1)
    let next = try await place.start().ended()
    #expect(next.status == 0 && org.renewals == 2 && org.reuses == 0, "\(next)")
  }

  @Test func renewal_answerLost_isRepeatedOnceAndSaysSo() async throws {
    let place = try Place(), org = place.org
    #expect(try await place.start().ended().status == 0)
    org.expire()
    org.loseAnswers(1)
    let next = try await place.start().ended()
    #expect(next.errors.contains("the answer to an earlier try was lost"), "\(next)")
    #expect(org.asked == 3 && place.session?["refused"]?["reason"] == "sessionEnded")
  }

  @Test func umaskZero_newHome_filesAreTheirOwnersAlone() async throws {
    let place = try Place()
    let ended = try await Child(
      "/bin/sh", ["-c", "umask 000; exec \"$@\"", "sh", Built.tureen, "exec"] + place.request, in: place.place.path
    ).ended()
    #expect(ended.status == 0, "\(ended)")
    func mode(_ path: String) -> mode_t {
      var info = stat()
      return stat(path, &info) == 0 ? info.st_mode & 0o777 : 0
    }
    let folder = (place.sessionFile as NSString).deletingLastPathComponent
    #expect(mode(place.sessionFile) == 0o600 && mode(folder + "/session.lock") == 0o600 && mode(folder) == 0o700)
  }

  @Test func sessionFile_openToOthers_isNarrowedWithAWarning() async throws {
    let place = try Place()
    #expect(try await place.start().ended().status == 0)
    chmod(place.sessionFile, 0o644)
    let ended = try await Child(
      Built.tureen, ["exec"] + place.request, environment: ["TUREEN_LOG": "warning"], in: place.place.path
    ).ended()
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.errors.contains("could be read or written by others (mode 644); it is 600 now"), "\(ended)")
    let again = try await Child(
      Built.tureen, ["exec"] + place.request, environment: ["TUREEN_LOG": "warning"], in: place.place.path
    ).ended()
    #expect(again.errors == "" && place.org.asked == 1, "\(again)")
  }

  @Test(arguments: ["refresh-0", "canary-refresh"])
  func secrets_inAProcessThatLogsEverything_areInNoOutput(token: String) async throws {
    let place = try Place()
    let file = try place.place.write(
      #"{"loginUrl":"\#(place.org.url)","clientId":"app","clientSecret":"canary-secret","refreshToken":"\#(token)"}"#,
      to: "home/orgs/rotating/credentials.json")
    chmod(file, 0o600)
    let logs = ["TUREEN_LOG": "trace", "TUREEN_LOG_REQUESTS": "debug"]
    for n in 0..<2 {
      let ended = try await Child(Built.tureen, ["exec"] + place.request, environment: logs, in: place.place.path).ended()
      let isGood = token == "refresh-0"
      #expect((ended.status == 0) == isGood, "\(ended)")
      // The refusal is stored, so the second run sends no request.
      #expect(ended.errors.contains("/services/oauth2/token") == (isGood || n == 0), "\(ended)")
      for secret in [token, "canary-secret", "refresh-1", "access-1"] {
        #expect(!ended.output.contains(secret) && !ended.errors.contains(secret), "\(secret)")
      }
      place.org.expire()
    }
  }

  /// Tests the desktop sample with a fake keyring.
  @Test func secretToolSample_keepsTheSessionInTheKeyringAlone() async throws {
    let place = try Place(), kept = place.place.path + "/keyring"
    try FileManager.default.createDirectory(atPath: place.place.path + "/bin", withIntermediateDirectories: false)
    let tool = try place.place.write(
      """
      #!/bin/sh
      case $1 in
        lookup) [ "$*" = "lookup service tureen org rotating user rotating-app" ] && [ -f \(kept) ] && cat \(kept);;
        store) [ "$3 $4 $5" = "service tureen org" ] && cat > \(kept);;
        clear) rm \(kept);;
      esac
      """, to: "bin/secret-tool")
    chmod(tool, 0o700)
    let sample = Built.package.path + "/scripts/keyring/secret-tool"
    let command = ["TUREEN_SESSION_COMMAND": "/usr/bin/env PATH=\(place.place.path)/bin:/usr/bin:/bin \(sample)"]
    for _ in 0..<2 {
      let ended = try await Child(Built.tureen, ["exec"] + place.request, environment: command, in: place.place.path).ended()
      #expect(ended.status == 0 && ended.output == "{}\n", "\(ended)")
    }
    #expect(place.org.renewals == 1 && !FileManager.default.fileExists(atPath: place.sessionFile))
    let text = try #require(FileManager.default.contents(atPath: kept))
    #expect(try JSONValue(parsing: Array(text))["refreshToken"] == "refresh-1")
  }
}
