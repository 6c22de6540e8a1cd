import CPostgres
import Glibc
import Support

extension PostgresConnection {
  /// Sends what is queued and waits for the next result of the running statements.
  ///
  /// Reads while it writes: a server that cannot deliver its results does not read on either.
  /// - Parameter end: Ms of the monotonic clock.
  /// - Returns: nil at the end of a statement's results.
  /// - Throws: ``PostgresError`` `.connectionLost`, also when the time is over.
  func nextResult(until end: Int64) throws(PostgresError) -> OpaquePointer? {
    while true {
      let open = try requireHandle(), left = cpostgres_flush(open)
      if cpostgres_is_busy(open) == 0 { return cpostgres_get_result(open) }
      // After a failed write, the server's last words may still be readable.
      try wait(isWriting: left == 1, until: end)
      guard cpostgres_consume_input(open) == 1 else { throw lost() }
    }
  }

  /// Sends everything that is queued.
  func flush(until end: Int64) throws(PostgresError) {
    while true {
      let open = try requireHandle()
      switch cpostgres_flush(open) {
      case 0: return
      case 1:
        try wait(isWriting: true, until: end)
        guard cpostgres_consume_input(open) == 1 else { throw lost() }
      default: throw lost()
      }
    }
  }

  /// Waits until the socket is readable, or writable if `isWriting`.
  private func wait(isWriting: Bool, until end: Int64) throws(PostgresError) {
    let descriptor = cpostgres_socket(try requireHandle())
    guard descriptor >= 0 else { throw lost() }
    guard Self.wait(descriptor, reading: true, writing: isWriting, until: end) else {
      throw lost("the server did not answer in time")
    }
  }

  /// - Returns: False when the time is over.
  static func wait(_ descriptor: Int32, reading: Bool, writing: Bool, until end: Int64) -> Bool {
    while true {
      let left = end - SystemClock.monotonicMilliseconds()
      guard left > 0 else { return false }
      let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
      var waiting = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let ready = poll(&waiting, 1, Int32(clamping: left))
      if ready > 0 { return true }
      if ready < 0, errno != EINTR { return true }
    }
  }
}
