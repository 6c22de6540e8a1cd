import Foundation
import RestClient

/// Facts about this machine and process.
enum Machine {
  /// False if libcurl has another TLS library, which reads the authorities by itself.
  static let hasOpenSSL = HTTPTransport.libraryVersion?.contains("OpenSSL/") ?? false

  /// An IPv4 address other than the loopback ones; nil if the machine has none.
  static let outerAddress: String? = {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    for entry in sequence(first: list, next: { $0?.pointee.ifa_next }).prefix(while: { $0 != nil }) {
      guard let address = entry?.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else { continue }
      var text = [CChar](repeating: 0, count: 64)
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        _ = inet_ntop(AF_INET, &$0.pointee.sin_addr, &text, socklen_t(text.count))
      }
      let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if !name.hasPrefix("127.") { return name }
    }
    return nil
  }()

  /// Runs what blocks on a thread of its own.
  static func offPool<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
    }
  }
}
