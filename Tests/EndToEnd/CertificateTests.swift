import Foundation
import TestSupport
import Testing

/// Tests an org with TLS and a certificate of a private authority.
@Suite(.timeLimit(.minutes(60))) struct CertificateTests {
  private static let script = """
    local tureen = require "tureen"
    tureen.oauth.authenticate(function(session) print("signed in at " .. session.instanceUrl) end,
      function(err) print(err.domain, err.code, err.retryable, err.message) end)
    """

  /// The variables with which scripts sign in to this sandbox.
  private func variables(_ sandbox: Sandbox, authority: String? = nil) -> [String: String] {
    var variables = [
      "TUREEN_ORG": sandbox.url, "TUREEN_CLIENT_ID": sandbox.clientId, "TUREEN_CLIENT_SECRET": sandbox.clientSecret,
      "TUREEN_USERNAME": sandbox.username, "TUREEN_PASSWORD": sandbox.password,
    ]
    variables["TUREEN_CA_FILE"] = authority
    return variables
  }

  /// Creates files with a self-signed certificate and its key.
  private func certificate(of host: String, in place: Workplace) throws -> (certificate: String, key: String) {
    let identity = try TestIdentity(names: ["DNS:" + host], isSelfSigned: true)
    return (try place.write(identity.chain, to: "certificate.pem"), try place.write(identity.key, to: "key.pem"))
  }

  /// The sanitizer's runtime would have to be loaded before the library that hides OpenSSL.
  @Test(.enabled(if: !Built.isSanitized)) func sandbox_withoutOpenSSL_namesThePackage() async throws {
    let place = try Workplace()
    try place.write(
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <string.h>
      void *dlopen(const char *name, int flags) {
        if (name && (strstr(name, "libcrypto.so") || strstr(name, "libssl.so"))) return 0;
        return ((void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"))(name, flags);
      }
      """, to: "hide.c")
    let made = try await place.run("/usr/bin/cc", ["-shared", "-fPIC", "-o", "hide.so", "hide.c"])
    #expect(made.status == 0, "\(made)")
    let ended = try await place.run(
      Built.tureen, ["sandbox", "--home", place.home, "--tls"], environment: ["LD_PRELOAD": place.path + "/hide.so"])
    #expect(ended.status > 0 && ended.output == "")
    #expect(ended.errors.contains("install it (Debian and Ubuntu: apt install libssl3)"), "\(ended.errors)")
  }

  @Test func run_authorityOfItsOwn_isRefusedUntilItIsNamed() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--tls"])
    let script = try place.write(Self.script, to: "script.lua")
    let refused = try await place.runScript(script, environment: variables(sandbox))
    #expect(refused.status == 0)
    #expect(refused.output.hasPrefix("network\tuntrustedCertificate\tfalse\tthe certificate of 127.0.0.1 is not trusted:"))
    #expect(refused.output.contains("TUREEN_CA_FILE"))

    let accepted = try await place.runScript(script, environment: variables(sandbox, authority: sandbox.authority))
    #expect(accepted.output == "signed in at \(sandbox.url)\n", "\(accepted)")
  }

  @Test func run_caFileInTheConfiguration_isTrusted() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--tls"])
    let authority = try #require(sandbox.authority)
    _ = try place.write(#"{"caFile": "\#(authority)"}"#, to: "bootconfig.json")
    let script = try place.write(Self.script, to: "script.lua")
    let ended = try await place.runScript(script, environment: variables(sandbox))
    #expect(ended.output == "signed in at \(sandbox.url)\n", "\(ended)")
  }

  @Test func run_certificateOfAnotherHost_isRefused() async throws {
    let place = try Workplace()
    let (certificate, key) = try certificate(of: "elsewhere.example", in: place)
    let sandbox = try await Sandbox(place, options: ["--tls-cert", certificate, "--tls-key", key])
    let script = try place.write(Self.script, to: "script.lua")
    let ended = try await place.runScript(script, environment: variables(sandbox, authority: certificate))
    #expect(
      ended.output
        == "network\tuntrustedCertificate\tfalse\tthe certificate of 127.0.0.1 is not trusted: it belongs to another host\n",
      "\(ended)"
    )
  }

  @Test func run_orgThatSpeaksPlainHTTP_isSaidSo() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let script = try place.write(Self.script, to: "script.lua")
    var variables = variables(sandbox)
    variables["TUREEN_ORG"] = sandbox.url.replacingOccurrences(of: "http://", with: "https://")
    let ended = try await place.runScript(script, environment: variables)
    #expect(ended.output.hasPrefix("network\tnoResponse\ttrue\tno answer from 127.0.0.1: it does not speak TLS"), "\(ended)")
  }

  @Test(arguments: [
    (nil, "cannot be read"), ("no certificate", "has no PEM certificate"), ("", "has no PEM certificate"),
    ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "or a damaged one"),
  ])
  func run_wrongCAFile_is78AndNamesIt(text: String?, reason: String) async throws {
    let place = try Workplace()
    let script = try place.write(Self.script, to: "script.lua"), file = place.path + "/authority.pem"
    if let text { _ = try place.write(text, to: "authority.pem") }
    let ended = try await place.runScript(script, environment: ["TUREEN_CA_FILE": file])
    #expect(ended.status == 78 && ended.output == "")
    #expect(ended.errors.contains(file) && ended.errors.contains(reason), "\(ended.errors)")
  }
}
