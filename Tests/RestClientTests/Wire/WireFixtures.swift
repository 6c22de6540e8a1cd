import Foundation
import Support
import Synchronization

@testable import RestClient

/// Calls a transport, and shuts it down in every case.
func withTransport<R>(
  _ change: (inout TransportConfiguration) -> Void = { _ in }, _ body: (HTTPTransport) async throws -> R
) async throws -> R {
  var configuration = TransportConfiguration()
  change(&configuration)
  let transport = HTTPTransport(configuration)
  do {
    let result = try await body(transport)
    await transport.shutdown()
    return result
  } catch {
    await transport.shutdown()
    throw error
  }
}

extension HTTPTransport {
  func get(_ url: String, headers: [(name: String, value: String)] = [], timeoutS: Double? = nil) async throws -> RestResponse {
    try await exchange(.GET, url: url, headers: headers, body: nil, timeoutS: timeoutS)
  }

  /// Returns the error of a request that must fail; nil if it succeeds.
  func failure(
    _ method: HTTPMethod = .GET, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
    timeoutS: Double? = nil
  ) async -> RestError? {
    do throws(RestError) {
      _ = try await exchange(method, url: url, headers: headers, body: body, timeoutS: timeoutS)
      return nil
    } catch {
      return error
    }
  }
}

extension RestError {
  /// The code, whether it was sent, and the words after the host.
  var summary: String {
    let words = message.firstRange(ofASCII: ": ").map { String(message[$0.upperBound...]) } ?? message
    return "\(code.rawValue) \(outcome.rawValue): \(words)"
  }
}

/// Certificates of an authority of the tests.
struct TestAuthority {
  let pem: String
  private let issuer: Certificate.Issuer

  init(_ name: String = "Authority of the tests") throws {
    let key = try PrivateKey.makeEC()
    let certificate = try Certificate(subject: name, names: nil, seconds: -3_600..<86_400, key: key)
    pem = certificate.pem
    issuer = Certificate.Issuer(pem: pem, key: key)
  }

  /// - Parameter seconds: When the certificate becomes valid and when it ends, from now.
  func identity(_ names: [String] = ["IP:127.0.0.1"], seconds: Range<Int> = -60..<3_600) throws -> WireServer.Identity {
    let key = try PrivateKey.makeEC()
    let certificate = try Certificate(subject: "server", names: names, seconds: seconds, key: key, issuer: issuer)
    return WireServer.Identity(chain: certificate.pem, key: try key.pem())
  }

  var trusted: TrustedCertificates? { TrustedCertificates(pem: Array(pem.utf8)) }
}

/// A clock that only tests move, in seconds.
final class ManualClock: Sendable {
  private let seconds = Mutex(1_000.0)

  @Sendable func now() -> Double { seconds.withLock { $0 } }
  func advance(by more: Double) { seconds.withLock { $0 += more } }
}

/// The functions of ``TransportConfiguration/watch`` that end exchanges as the idle timeout does.
final class GivenUp: Sendable {
  private let functions = Mutex<[@Sendable () -> Void]>([])

  @Sendable func watch(_ giveUp: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    functions.withLock { $0.append(giveUp) }
    return {}
  }

  func all() { for function in functions.withLock({ $0 }) { function() } }
}
