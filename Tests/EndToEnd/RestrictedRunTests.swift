import Foundation
import Glibc
import TestSupport
import Testing

@testable import Salesforce

/// Tests `tureen run --restricted` with an untrusted folder, homes and secrets that others can access, and hostile text.
@Suite struct RestrictedRunTests {
  @Test func run_restrictedWithABootConfigThatChoosesTheOrg_is78AndAsksNobody() async throws {
    let place = try Workplace(), server = try ScriptedServer(handler: { _ in .json("{}") })
    try place.write(#"{"org": "\#(server.url)", "credentials": "stolen.json"}"#, to: "bootconfig.json")
    let script = try place.write("require('tureen').network.sendRequest('', '/services/data')", to: "script.lua")
    let secrets = ["TUREEN_CLIENT_ID": "app", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u", "TUREEN_PASSWORD": "hunter2"]
    let ended = try await place.runScript(script, options: ["--restricted"], environment: secrets)
    #expect(ended.status == 78)
    #expect(ended.errors.contains("bootconfig.json") && ended.errors.contains("not available to a restricted script"))
    #expect(server.requests.isEmpty)
  }

  // MARK: What the options allow

  @Test func run_restrictedWithAllowedHost_reachesItAlone() async throws {
    let place = try Workplace(), server = try ScriptedServer(handler: { _ in .json(#"{"here":true}"#) })
    let other = try ScriptedServer(handler: { _ in .json("{}") })
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        for _, url in ipairs(arg) do
          local answer, err = tureen.await(tureen.network.sendRequest, { path = url, doesNotRequireAuthentication = true })
          print(answer and answer.here or err.domain .. "/" .. err.code)
        end
      end)
      """, to: "script.lua")
    let ended = try await place.run(
      Built.tureen,
      [
        "run", "--home", place.home, "--quiet", "--restricted", "--allow-host", "127.0.0.1:\(server.port)", script,
        server.url + "/x", other.url + "/x",
      ])
    #expect(ended.status == 0 && ended.output == "true\nnetwork/restricted\n", "\(ended)")
    #expect(server.requests.count == 1 && other.requests.isEmpty)
  }

  /// A server of several names would take the request for another one.
  @Test(arguments: ["Host", "hOsT"]) func run_restrictedWithAHostHeader_isRefused(name: String) async throws {
    let place = try Workplace(), server = try ScriptedServer(handler: { _ in .json("{}") })
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local _, err = tureen.await(tureen.network.sendRequest,
          { path = arg[1], doesNotRequireAuthentication = true, headerParams = { ["\(name)"] = "inside.example.com" } })
        print(err.domain, err.code, err.message)
      end)
      """, to: "script.lua")
    let ended = try await place.run(
      Built.tureen,
      [
        "run", "--home", place.home, "--quiet", "--isolated", "--allow-host", "127.0.0.1:\(server.port)", script,
        server.url + "/x",
      ])
    #expect(ended.output.hasPrefix("network\trestricted\t'headerParams.Host' is not available"), "\(ended)")
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: ["--restricted", "--isolated"])
  func run_restricted_controlsTheSandboxOnlyIfAllowed(mode: String) async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local faults, err = tureen.await(tureen.sandbox.faults)
        print(faults and "allowed" or err.domain .. "/" .. err.code)
      end)
      """, to: "script.lua")
    let refused = try await place.runScript(script, options: [mode])
    #expect(refused.status == 0 && refused.output == "bridge/restricted\n", "\(refused)")
    let allowed = try await place.runScript(script, options: [mode, "--allow-service", "tureen.sandbox"])
    #expect(allowed.status == 0 && allowed.output == "allowed\n", "\(allowed)")
  }

  @Test(
    arguments: [
      (["--restricted", "--allow-service", "com.salesforce.oath"], "did you mean 'com.salesforce.oauth'?"),
      (["--restricted", "--allow-service", "smartstore"], "did you mean 'com.salesforce.smartstore'?"),
      (["--restricted", "--allow-host", "*.example.com"], "'*.example.com' has a wildcard"),
      (["--restricted", "--allow-host", "https://api.example.com/v1"], "name its host: 'api.example.com'"),
      (["--allow-host", "api.example.com"], "--allow-host api.example.com goes with --restricted"),
      (["--allow-service", "com.salesforce.oauth"], "--allow-service com.salesforce.oauth goes with --restricted"),
    ] as [([String], String)])
  func run_wrongAllowance_is64AndSaysWhatWasMeant(options: [String], text: String) async throws {
    let place = try Workplace()
    let ended = try await place.runScript(try place.write("print('ran')", to: "script.lua"), options: options)
    #expect(ended.status == 64 && ended.output == "" && ended.errors.contains(text), "\(ended)")
  }

  // MARK: Folders, files and texts of others

  @Test func run_homeOpenToOthers_is78AndNamesIt() async throws {
    let place = try Workplace()
    #expect(mkdir(place.home, 0o700) == 0 && chmod(place.home, 0o777) == 0)
    let ended = try await place.runScript(try place.write("print('ran')", to: "script.lua"))
    #expect(ended.status == 78 && ended.output == "")
    #expect(ended.errors.contains("\(place.home): the home can be written to by others (mode 0777)"), "\(ended.errors)")
    for command in [["sandbox"], ["store", "rekey", "--to-plain"]] {
      let other = try await place.run(Built.tureen, command + ["--home", place.home])
      #expect(other.status == 78 && other.errors.contains("mode 0777"), "\(command): \(other.status) \(other.errors)")
    }
  }

  @Test func run_credentialsFileOpenToOthers_isAnErrorWithTheMend() async throws {
    let place = try Workplace()
    let file = try place.write(#"{"clientId": "app", "clientSecret": "hunter2"}"#, to: "credentials.json")
    #expect(chmod(file, 0o644) == 0)
    let script = try place.write("require('tureen').smartstore.soupExists('x', print, error)", to: "script.lua")
    let ended = try await place.runScript(
      script, options: ["--org", "https://org.invalid"], environment: ["TUREEN_CREDENTIALS": file])
    #expect(ended.status != 0)
    #expect(
      ended.errors.contains("\(file): the credentials file can be read or written by others (mode 0644)")
        && ended.errors.contains("chmod 600") && !ended.errors.contains("hunter2"), "\(ended.errors)")
  }

  @Test func run_errorWithControlCharacters_showsThemEscaped() async throws {
    let place = try Workplace()
    let script = try place.write("error('\\27[2Jcleared \\u{9b}31m \\u{202e}gpj.exe', 0)", to: "script.lua")
    let ended = try await place.runScript(script)
    #expect(ended.status == 1)
    #expect(ended.errors.contains(#"\u{1b}[2Jcleared \u{9b}31m \u{202e}gpj.exe"#), "\(ended.errors)")
    #expect(!ended.errors.unicodeScalars.contains { [0x1B, 0x9B, 0x202E].contains($0.value) })
  }

  @Test func run_serversWordsInAnUncaughtError_areShownEscaped() async throws {
    let place = try Workplace()
    let server = try ScriptedServer(handler: { request in
      guard request.path == "/services/oauth2/token" else {
        return ScriptedAnswer(
          status: 400, headers: [("Content-Type", "application/json")],
          body: Array(#"[{"errorCode": "E", "message": "\u001b]0;owned\u0007 \u009b2J"}]"#.utf8))
      }
      return .json(#"{"access_token": "t0", "instance_url": "http://\#(request.header("Host") ?? "")", "id": "x/1/2"}"#)
    })
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.async(function()
        local _, err = tureen.await(tureen.network.sendRequest, "", "/services/data/x")
        error(err)
      end)
      """, to: "script.lua")
    let ended = try await place.runScript(
      script, options: ["--org", server.url],
      environment: ["TUREEN_CLIENT_ID": "app", "TUREEN_CLIENT_SECRET": "s", "TUREEN_LOG": "trace"])
    #expect(ended.status == 1)
    #expect(ended.errors.contains(#"\x1b]0;owned\x07 \xc2\x9b2J"#), "\(ended.errors)")
    #expect(!ended.errors.unicodeScalars.contains { [0x1B, 0x07, 0x9B].contains($0.value) })
  }
}
