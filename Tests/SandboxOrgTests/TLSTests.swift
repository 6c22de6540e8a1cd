import Foundation
import SandboxOrg
import Testing

/// Uses curl as the client, since it verifies names and chains like other clients.
@Suite struct TLSTests {
  private func start(_ tls: SandboxTLS, host: String = "127.0.0.1") async throws -> SandboxServer {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.host = host
    configuration.tls = tls
    return try await SandboxServer.start(configuration)
  }

  @Test func tls_generatedCertificate_isTrustedUnderItsNamesAndOnlyThen() async throws {
    try await withFolder { folder in
      let server = try await start(.generated(folder: folder + "/tls"))
      #expect(server.url.hasPrefix("https://127.0.0.1:") && server.certificateAuthorityPath == folder + "/tls/ca.pem")
      let output = try await shell(
        #"""
        get() { curl -s -o /dev/null -w '%{http_code} %{http_version} ' "$@"; echo $?; }
        for name in localhost 127.0.0.1; do get --cacert "$CA" "https://$name:$PORT/services/data"; done
        get --cacert "$CA" --resolve "other.test:$PORT:127.0.0.1" "https://other.test:$PORT/services/data"
        get "https://localhost:$PORT/services/data"
        get "http://localhost:$PORT/services/data"
        curl -s --tls-max 1.1 --cacert "$CA" "https://localhost:$PORT/services/data" || echo no old TLS
        """#, ["CA": server.certificateAuthorityPath ?? "", "PORT": "\(server.port)"])
      await server.stop()
      let lines = output.components(separatedBy: "\n")
      #expect(lines.prefix(4) == ["200 1.1 0", "200 1.1 0", "000 0 60", "000 0 60"])
      #expect(lines[4].hasPrefix("000 0 ") && lines[5] == "no old TLS")
    }
  }

  @Test func tls_generatedAgain_keepsTheCertificateInItsFolder() async throws {
    try await withFolder { folder in
      let first = try await start(.generated(folder: folder))
      await first.stop()
      let key = folder + "/server.key"
      #expect(try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int == 0o600)
      let second = try await start(.generated(folder: folder))
      await second.stop()
      #expect(second.certificateAuthority == first.certificateAuthority && first.certificateAuthority?.isEmpty == false)
      // A key that does not match is not an error: the whole identity is generated again.
      try "damaged".write(toFile: key, atomically: true, encoding: .utf8)
      let third = try await start(.generated(folder: folder))
      await third.stop()
      #expect(third.certificateAuthority != first.certificateAuthority)
    }
  }

  @Test func tls_givenCertificate_isServed() async throws {
    try await withFolder { folder in
      // Any certificate will do; use one that the sandbox generated.
      await (try start(.generated(folder: folder))).stop()
      let server = try await start(.files(certificate: folder + "/server.pem", key: folder + "/server.key"))
      let output = try await shell(
        #"curl -s -o /dev/null -w '%{http_code}' --cacert "$CA" "https://localhost:$PORT/services/data""#,
        ["CA": folder + "/ca.pem", "PORT": "\(server.port)"])
      await server.stop()
      #expect(output == "200")
    }
  }

  @Test func tls_badFiles_areNamed() async throws {
    try await withFolder { folder in
      await (try start(.generated(folder: folder + "/a"))).stop()
      await (try start(.generated(folder: folder + "/b"))).stop()
      try "no certificate".write(toFile: folder + "/text", atomically: true, encoding: .utf8)
      let cases = [
        ("/nowhere.pem", "/a/server.key", "/nowhere.pem for TLS: No such file"), ("/text", "/a/server.key", "/text"),
        ("/a/server.pem", "/text", "/text"), ("/a/server.pem", "/b/server.key", "does not belong"),
      ]
      for (certificate, key, reason) in cases {
        let error = await #expect(throws: SandboxError.self) {
          _ = try await start(.files(certificate: folder + certificate, key: folder + key))
        }
        #expect(error?.code == "CANNOT_USE_CERTIFICATE" && error?.message.contains(reason) == true)
      }
    }
  }

  @Test func tls_withAnOpenIdleConnection_stopsAndPlainBytesAreDropped() async throws {
    let server = try await start(.generated(folder: nil))
    // Without TLS the connection ends; the server continues.
    let plain = try? await WireClient(port: server.port).exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    #expect(plain == nil)
    let output = try await shell(
      #"echo "$CA" >"$FILE"; curl -s -o /dev/null -w '%{http_code}' --cacert "$FILE" "$URL/services/data"; rm "$FILE""#,
      ["CA": server.certificateAuthority ?? "", "URL": server.url, "FILE": "/tmp/sandbox-\(UUID().uuidString).pem"])
    #expect(output == "200")
    await server.stop()
  }
}
