import CPostgres
import Glibc
import Support

/// A message that another session sent with NOTIFY.
package struct PostgresNotification: Sendable, Equatable {
  package let channel: String
  package let payload: String
}

extension PostgresConnection {
  /// Receives the notifications of a channel from now on. A connection that listens should do nothing
  /// else, so that it can wait.
  package func listen(_ channel: String) throws(PostgresError) { try execute("LISTEN \(PostgresName.quoted(channel))") }

  /// Becomes readable when notifications may have arrived, and when the connection is lost. nil once
  /// it is closed.
  package var pollDescriptor: Int32? { handle.map { cpostgres_socket($0) } }

  /// Waits for notifications.
  /// - Parameter waitMs: 0 returns what has arrived.
  /// - Returns: Those that arrived, in the order of their transactions' commits; empty when the time is over.
  /// - Throws: ``PostgresError`` `.connectionLost`. Notifications may have been missed then: look at the data.
  package func notifications(waitMs: Int64) throws(PostgresError) -> [PostgresNotification] {
    let end = SystemClock.monotonicMilliseconds() + waitMs
    while true {
      let open = try requireHandle()
      guard cpostgres_consume_input(open) == 1 else { throw lost() }
      let found = takeNotifications(open)
      if !found.isEmpty { return found }
      guard isUsable else { throw lost() }
      guard Self.wait(cpostgres_socket(open), reading: true, writing: false, until: end) else { return [] }
    }
  }

  private func takeNotifications(_ open: OpaquePointer) -> [PostgresNotification] {
    var found: [PostgresNotification] = [], channel: UnsafeMutablePointer<CChar>?, payload: UnsafeMutablePointer<CChar>?
    while cpostgres_take_notification(open, &channel, &payload) == 1 {
      if let channel, let payload {
        found.append(PostgresNotification(channel: String(cString: channel), payload: String(cString: payload)))
      }
      free(channel)
      free(payload)
    }
    return found
  }
}

/// Names in SQL text.
package enum PostgresName {
  /// The name in double quotes, with those in the name doubled.
  package static func quoted(_ name: String) -> String { name.quoted(with: UInt8(ascii: "\"")) }
}
