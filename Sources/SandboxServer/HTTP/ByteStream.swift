import Synchronization

/// A long body that is read while it is sent: only one part of it is in memory at a time.
package struct ByteStream: Sendable {
  /// Bytes in all.
  package let count: Int
  /// Part number 0, 1, …; nil behind the last one.
  package let part: @Sendable (Int) async throws -> [UInt8]?

  package init(count: Int, part: @escaping @Sendable (Int) async throws -> [UInt8]?) {
    self.count = count
    self.part = part
  }
}

extension ServerReply {
  /// Bytes of the body, however it is kept.
  package var length: Int { stream?.count ?? body.count }

  /// With the whole body in memory.
  package func gathered() async throws -> ServerReply {
    guard let stream else { return self }
    var reply = self
    reply.stream = nil
    reply.body.reserveCapacity(stream.count)
    var number = 0
    while let part = try await stream.part(number) {
      reply.body += part
      number += 1
    }
    return reply
  }
}

/// How much memory the bodies take that are larger than ordinary ones. Any thread.
final class UploadBudget: Sendable {
  private let used = Mutex(0)

  /// False while others take so much that this one has to come again later.
  func take(_ bytes: Int) -> Bool {
    used.withLock { used in
      guard bytes > 0 else { return true }
      guard used == 0 || used + bytes <= ServerTuning.largeBodiesBytes else { return false }
      used += bytes
      return true
    }
  }

  func give(back bytes: Int) { used.withLock { $0 -= bytes } }
}
