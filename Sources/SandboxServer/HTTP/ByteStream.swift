import Synchronization

/// A long body that is produced while it is sent, so that only one part is in memory at a time.
package struct ByteStream: Sendable {
  /// The total size in bytes.
  package let count: Int
  /// Returns part number 0, 1, …; nil after the last one.
  package let part: @Sendable (Int) async throws -> [UInt8]?

  package init(count: Int, part: @escaping @Sendable (Int) async throws -> [UInt8]?) {
    self.count = count
    self.part = part
  }
}

extension ServerReply {
  /// The size of the body in bytes, streamed or not.
  package var length: Int { stream?.count ?? body.count }

  /// Returns the response with the whole body in memory.
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

/// Limits the memory that unusually large request bodies take together. Any thread.
final class UploadBudget: Sendable {
  private let used = Mutex(0)

  /// Returns false if other uploads take too much memory now; the client has to retry later.
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
