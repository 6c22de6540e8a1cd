import Foundation
import Glibc
import JSON
import Testing

/// Tests that a home has at most one `tureen sandbox`, and that commands use it.
@Suite struct ServedSandboxTests {
  private static let asks = """
    local tureen = require "tureen"
    tureen.async(function()
      local sandbox = require "tureen.sandbox"
      local made, err = tureen.await(sandbox.create, "Contact", { LastName = "Made-by-a-script" })
      print(made and "made", err)
      print(tureen.await(tureen.force.query, "SELECT Id FROM Contact").totalSize)
      local _, refused = tureen.await(sandbox.addFault, { kind = "nonsense" })
      print(refused.domain, refused.code)
    end)
    """

  @Test func runAndExec_useTheSandboxOfTheirHome() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "7", "--accounts", "1", "--log", place.path + "/log"])
    let script = try place.write(Self.asks, to: "script.lua")
    let run = try await place.runScript(script)
    #expect(run.status == 0 && run.output == "made\tnil\n8\nbridge\tinvalidArguments\n", "\(run)")
    let exec = try await place.run(
      Built.tureen, ["exec", "--home", place.home, "sandbox", "query", #"{"soql": "SELECT LastName FROM Contact"}"#])
    #expect(try JSONValue(parsing: exec.output).arrayValue?.count == 8, "\(exec)")
    let log = try String(contentsOfFile: place.path + "/log", encoding: .utf8)
    #expect(log.contains("/services/data"), "the script's requests went to the one that serves")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
    // The sandbox is no longer served, so a command embeds it with the same data.
    let after = try await place.runScript(script)
    #expect(after.status == 0 && after.output.contains("made\tnil\n9\n"), "\(after)")
  }

  /// For clients that accept only addresses of Salesforce.
  @Test func instanceURL_isToldInPlaceOfTheAddress() async throws {
    let place = try Workplace(), url = "https://acme.my.salesforce.com"
    for wrong in ["acme", "https://acme.my.salesforce.com/x", ""] {
      let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--instance-url", wrong])
      #expect(ended.status == 64 && ended.errors.contains("--instance-url"), "\(wrong): \(ended)")
    }
    let sandbox = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1", "--instance-url", url])
    let form = [
      "grant_type=password", "client_id=\(sandbox.clientId)", "client_secret=\(sandbox.clientSecret)",
      "username=\(sandbox.username)", "password=\(sandbox.password)",
    ]
    let words = ["--silent", "--noproxy", "*", sandbox.url + "/services/oauth2/token"]
    let token = try await place.run("/usr/bin/curl", words + form.flatMap { ["--data-urlencode", $0] })
    #expect(try JSONValue(parsing: token.output)["instance_url"] == .string(url), "\(token)")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func secondSandbox_onOneHome_isRefusedAndTheFirstStays() async throws {
    let place = try Workplace()
    let first = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    let second = try await place.run(Built.tureen, ["sandbox", "--home", place.home])
    #expect(second.status == 69 && second.output == "")
    #expect(
      second.errors.contains("serves one under \(place.home) already") && second.errors.contains("--home"), "\(second.errors)")
    #expect(second.errors.filter { $0 == "\n" }.count == 1)
    #expect(FileManager.default.fileExists(atPath: place.home + "/sandbox/credentials.json"))
    first.child.send(SIGINT)
    #expect(await first.child.ended().status == 0)
    #expect(!FileManager.default.fileExists(atPath: place.home + "/sandbox/credentials.json"))
  }

  @Test func sandbox_afterOneThatWasKilled_starts() async throws {
    let place = try Workplace()
    let first = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    first.child.send(SIGKILL)
    _ = await first.child.ended()
    let run = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(run.output.contains("made\tnil\n2\n"), "what the dead one has left is not used: \(run)")
    let second = try await Sandbox(place)
    second.child.send(SIGINT)
    #expect(await second.child.ended().status == 0)
  }

  @Test func sandbox_portInUse_saysSoInOneLine() async throws {
    let place = try Workplace(), other = try Workplace()
    let first = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    let port = try #require(first.url.split(separator: ":").last)
    let second = try await other.run(Built.tureen, ["sandbox", "--home", other.home, "--port", String(port)])
    #expect(second.status == 69)
    #expect(
      second.errors == "tureen: the sandbox org cannot be started: cannot listen on 127.0.0.1 port \(port): the port is in use; "
        + "choose another, or 0 for a free one\n")
    first.child.send(SIGINT)
    #expect(await first.child.ended().status == 0)
  }

  @Test func run_sandboxWithTLS_saysHowToReachIt() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--tls", "--contacts", "1", "--accounts", "1"])
    let ended = try await place.runScript(try place.write(Self.asks, to: "script.lua"))
    #expect(ended.output.contains("TUREEN_ORG=\(sandbox.url)") && ended.output.contains("TUREEN_CA_FILE="), "\(ended)")
    sandbox.child.send(SIGINT)
    #expect(await sandbox.child.ended().status == 0)
  }
}
