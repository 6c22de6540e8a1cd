import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests that `tureen login`, `orgs`, `whoami` and `logout` do not leak secrets, against servers that quote all requests.
///
/// With healthy servers each way to sign in runs every command, with both places for sessions. In each other mood one way does,
/// with one of the places, chosen by the seed of the random tests: each mood meets every command, and CI takes another seed for
/// each commit. `TUREEN_CASES=all` runs all. ``CanaryTests`` has the flows of the same sign-ins in every mood.
@Suite(.timeLimit(.minutes(60))) struct CommandCanaryTests {
  /// Only the session contains secrets; the credentials files that `login` writes name their locations.
  private static let keepers = ["session.json"]

  /// A program that stores sessions in its own file instead of a keyring.
  private static let keeper = """
    #!/bin/sh
    umask 077
    request=$(cat)
    case $1 in
      get) if [ -f kept/session.json ]; then cat kept/session.json; fi ;;
      store) mkdir -p kept && printf '%s' "$request" | jq -c .session >kept/session.json ;;
      erase) rm -f kept/session.json ;;
    esac
    """

  private struct Flow {
    var options: [String]
    var environment: [String: String] = [:]
    var files: [String: String] = [:]
    var input: String?
  }

  private static func flow(_ name: String, _ bed: Bed) throws -> Flow {
    let c = bed.canary, app = ["--url", bed.server.url, "--client-id", "app"]
    switch name {
    case "jwt":
      return Flow(options: app + ["--user", "ann@acme.com", "--key-file", "key.pem"], files: ["key.pem": try bed.key()])
    case "jwtCommand":
      return Flow(
        options: app + ["--user", "ann@acme.com", "--key-command", "cat key.pem"], files: ["key.pem": try bed.key()])
    case "clientCredentials":
      return Flow(options: app + ["--secret-file", "secret"], files: ["secret": c("secret") + "\n"])
    case "password":
      return Flow(
        options: app + ["--user", "ann@acme.com", "--secret-variable", "S", "--password-variable", "P"],
        environment: ["S": c("secret"), "P": c("password")])
    case "token":
      return Flow(options: ["--instance", bed.server.url, "--token-variable", "T"], environment: ["T": c("token")])
    case "tokenInput":
      return Flow(options: ["--flow", "token", "--instance", bed.server.url], files: ["token": c("token")], input: "token")
    default:
      // The scheme is always https, so the connection fails at the plain server.
      let url = "force://app:\(c("secret")):\(c("refresh"))@\(bed.server.url.dropFirst("http://".count))"
      return Flow(options: ["--sfdx-url-file", "url"], files: ["url": url])
    }
  }

  /// The ways to sign in at a server of these tests.
  private static let names = ["jwt", "jwtCommand", "clientCredentials", "password", "token", "tokenInput"]

  /// Returns the moods in which a way runs.
  private static func moods(_ name: String, _ keepsElsewhere: Bool) -> [CanaryTests.Mood] {
    guard let number = names.firstIndex(of: name) else { return [.good] }
    let seed = RandomSeed.value, count = UInt64(names.count)
    return CanaryTests.Mood.allCases.enumerated().filter { n, mood in
      let isMine = (seed &+ UInt64(n)) % count == UInt64(number),
        isHere = (seed / count + UInt64(n)) % 2 == (keepsElsewhere ? 1 : 0)
      return mood == .good || TestCases.all || isMine && isHere
    }.map(\.element)
  }

  @Test(arguments: names + ["sfdxUrl"], [false, true])
  func canaries_ofEachCommand_comeOutNowhere(name: String, keepsElsewhere: Bool) async throws {
    let again = RandomSeed.again(Self.self, [:])
    for mood in Self.moods(name, keepsElsewhere) {
      let bed = try Bed(mood), flow = try Self.flow(name, bed)
      for (file, text) in flow.files { try bed.place.write(text, to: file, mode: 0o600) }
      var environment = flow.environment
      environment["TUREEN_LOG"] = "trace"
      environment["TUREEN_LOG_REQUESTS"] = "debug"
      environment["TUREEN_LOG_REQUESTS_FILE"] = bed.place.path + "/requests.log"
      if keepsElsewhere {
        try bed.place.write(Self.keeper, to: "keeper", mode: 0o700)
        environment["TUREEN_SESSION_COMMAND"] = bed.place.path + "/keeper"
      }
      for words in [
        ["login", "--org", "prod"] + flow.options, ["orgs"], ["orgs", "--check", "--json"], ["whoami", "--org", "prod"],
        ["whoami", "--json"], ["logout", "--json"], ["login", "--json", "--org", "prod"] + flow.options, ["logout", "--all"],
      ] {
        let ended = try await Child(
          Built.tureen, words + ["--home", bed.place.home], environment: environment, in: bed.place.path,
          input: words[0] == "login" ? flow.input.map { bed.place.path + "/" + $0 } : nil
        ).ended()
        bed.check(ended.output, "\(name) \(mood) \(words[0]): stdout, \(again)")
        bed.check(ended.errors, "\(name) \(mood) \(words[0]): stderr, \(again)")
        if mood == .good, name != "sfdxUrl" { #expect(ended.status == 0, "\(name) \(words): \(ended)") }
        if name == "password", words[0] == "login", mood == .good {
          #expect(ended.errors.components(separatedBy: "2027-02-20").count == 2, "the end of the flow is named once: \(ended)")
        }
      }
      bed.checkFiles("\(name) \(mood), \(again)", given: Array(flow.files.keys), keepers: Self.keepers)
      #expect(!keepsElsewhere || !hasSession(in: bed.place.home), "\(name) \(mood): the session is with the program alone")
    }
  }

  private func hasSession(in home: String) -> Bool {
    FileManager.default.enumerator(atPath: home)?.contains { ($0 as? String)?.hasSuffix("session.json") ?? false } ?? false
  }
}
