import Foundation
import Support
import TestSupport
import Testing

@testable import RestClient

/// Certificates and versions of TLS.
@Suite(.timeLimit(.minutes(60))) struct WireTLSTests {
  private func server(_ identity: WireServer.Identity) throws -> WireServer {
    try WireServer(identity) { connection in
      while let (_, body) = connection.request() { connection.answer("\(connection.served) \(body.count)") }
    }
  }

  private func failure(_ url: String, _ trusted: TrustedCertificates?) async throws -> RestError? {
    try await withTransport({ $0.authorities = trusted }) { await $0.failure(.POST, url, body: [1]) }
  }

  @Test func authority_ofTheUser_isTrustedBesidesTheSystems() async throws {
    let authority = try TestAuthority(), server = try server(authority.identity())
    try await withTransport({ $0.authorities = authority.trusted }) { transport in
      for i in 1...3 {
        let response = try await transport.get(server.url)
        #expect(response.body.text == "\(i) 0")
      }
      let response = try await transport.exchange(
        .PUT, url: server.url, headers: [], body: [UInt8](repeating: 7, count: 3_000_000))
      #expect(response.body.text == "4 3000000")
    }
    #expect(server.connections == 1)
  }

  @Test func authority_oneOfSeveral_isTrusted() async throws {
    let authorities = try (1...3).map { try TestAuthority("Authority \($0)") }
    let all = TrustedCertificates(joining: authorities.map(\.trusted))
    for authority in authorities {
      let server = try server(authority.identity())
      _ = try await withTransport({ $0.authorities = all }) { try await $0.get(server.url) }
    }
  }

  /// The certificate itself may be named as an authority.
  @Test func certificate_signedByItself_isTrustedIfNamed() async throws {
    let key = try PrivateKey.makeEC()
    let certificate = try Certificate(subject: "server", names: ["IP:127.0.0.1"], seconds: -60..<3_600, key: key)
    let server = try server(WireServer.Identity(chain: certificate.pem, key: key.pem()))
    _ = try await withTransport({ $0.authorities = TrustedCertificates(pem: Array(certificate.pem.utf8)) }) {
      try await $0.get(server.url)
    }
    #expect(try await failure(server.url, nil)?.code == .untrustedCertificate)
  }

  @Test func certificate_ofAnUnknownAuthority_isToldSo() async throws {
    let server = try server(TestAuthority().identity())
    for trusted in [nil, try TestAuthority("Another").trusted] {
      let error = try await failure(server.url, trusted)
      #expect(error?.code == .untrustedCertificate && error?.outcome == .notSent && error?.isRetryable == false)
      #expect(
        error?.message == "the certificate of 127.0.0.1 is not trusted: it is signed by an unknown authority "
          + "(set caFile or TUREEN_CA_FILE to a file with further authorities)")
    }
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    (-7_200 ..< -3_600, "it has expired"), (3_600..<7_200, "it is not valid yet"),
  ])
  func certificate_outOfItsTime_isToldSo(seconds: Range<Int>, reason: String) async throws {
    let authority = try TestAuthority(), server = try server(authority.identity(seconds: seconds))
    let error = try await failure(server.url, authority.trusted)
    #expect(error?.summary == "untrustedCertificate notSent: \(reason)")
  }

  @Test(arguments: [["DNS:elsewhere.example"], ["IP:127.0.0.2"], ["DNS:localhost"]])
  func certificate_ofAnotherHost_isToldSo(names: [String]) async throws {
    let authority = try TestAuthority(), server = try server(authority.identity(names))
    let error = try await failure(server.url, authority.trusted)
    #expect(error?.summary == "untrustedCertificate notSent: it belongs to another host")
  }

  @Test func server_withoutTLS_isToldSo() async throws {
    let server = try WireServer { connection in
      _ = connection.bytes(1)
      connection.answer("not TLS", status: "400 Bad Request")
    }
    let error = try await failure(server.url.replacing("http:", with: "https:"), nil)
    #expect(error?.summary == "noResponse notSent: it does not speak TLS; should the URL begin with http instead of https?")
  }

  @Test func server_thatClosesDuringTheHandshake_isToldSo() async throws {
    let server = try WireServer { connection in
      _ = connection.bytes(1)
      connection.number == 1 ? connection.close() : connection.reset()
    }
    for _ in 0..<2 {
      let error = try await failure(server.url.replacing("http:", with: "https:"), nil)
      #expect(error?.summary == "noResponse notSent: the connection was closed during the TLS handshake")
    }
  }

  /// TLS 1.0 and 1.1 are not accepted, though this server knows nothing newer.
  @Test(arguments: [("-tls1", false), ("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
  func version_before12_isRefused(option: String, isAccepted: Bool) async throws {
    let authority = try TestAuthority(), identity = try authority.identity()
    guard let openssl = try OpenSSLServer(identity, option) else { return }
    try await withTransport({ $0.authorities = authority.trusted }) { transport in
      let error = await transport.failure(.GET, openssl.url)
      if isAccepted {
        #expect(error == nil)
      } else {
        #expect(error?.code == .noResponse && error?.outcome == .notSent && error?.message.contains("TLS handshake") == true)
      }
      try await Task.sleep(nanoseconds: 0)
    }
  }

  @Test(arguments: [
    "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nMAA=",
    "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
  ])
  func file_withoutCertificate_isNotTaken(_ text: String) throws {
    #expect(TrustedCertificates(pem: Array(text.utf8)) == nil)
    let good = try TestAuthority().pem
    #expect(TrustedCertificates(pem: Array(("# a comment\n" + good + "text\n" + good).utf8)) != nil)
    #expect((TrustedCertificates(pem: Array((good + text).utf8)) == nil) == text.contains("BEGIN"))
  }

  /// A whole DER value that is no certificate.
  @Test(.enabled(if: Machine.hasOpenSSL)) func file_withAnotherValue_isToldAtTheFirstRequest() async throws {
    let value = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
    let error = try await failure("https://127.0.0.1:1", TrustedCertificates(pem: Array(value.utf8)))
    #expect(error?.message == "a certificate to trust cannot be read" && error?.code == .untrustedCertificate)
  }
}

/// `openssl s_server` with one version of TLS. Its security level allows the old ones.
final class OpenSSLServer {
  let url: String
  private let process: ChildProcess

  /// nil if there is no openssl command.
  init?(_ identity: WireServer.Identity, _ option: String) throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") else { return nil }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("tureen-tls-\(UUID().uuidString).pem")
    try Data((identity.chain + identity.key).utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process = try ChildProcess.start([
      "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", option, "-cert", file.path, "-key", file.path, "-cipher",
      "DEFAULT:@SECLEVEL=0", "-www",
    ])
    // "ACCEPT 127.0.0.1:40123"
    var text = ""
    while !text.contains("ACCEPT 127.0.0.1:") || !text.hasSuffix("\n") {
      guard let part = ChildProcess.read(process.output) else { break }
      text += String(decoding: part, as: UTF8.self)
    }
    let line = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") } ?? ""
    url = "https://127.0.0.1:\(line.split(separator: ":").last ?? "0")/"
  }

  deinit {
    kill(process.id, SIGKILL)
    close(process.output)
    _ = process.wait()
  }
}
