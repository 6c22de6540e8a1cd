import JSON
import Tureen

/// The streams of the open pages, and the last events for a page whose stream was cut. Used on the server's thread only.
final class EventStreams {
  private struct Event {
    let number: Int64
    let text: [UInt8]
  }

  /// Tells this server's events from those of an earlier one on the same port.
  private let name: String
  private var last: Int64 = 0
  private var kept: [Event] = []
  private var streams: [LoopbackConnection] = []
  private var nextHeartbeat = Int64.max

  init(name: String) { self.name = name }

  var isEmpty: Bool { streams.isEmpty }

  /// Opens a stream.
  /// - Parameter lastId: The id of the last event that the page has; nil for a new page.
  /// - Returns: False if too many streams are open.
  func open(_ connection: LoopbackConnection, lastId: String?, _ now: Int64) -> Bool {
    guard streams.count < Limits.streams else { return false }
    connection.begin(.eventStream)
    if streams.isEmpty { nextHeartbeat = now + Limits.heartbeatMs }
    streams.append(connection)
    send("hello", ["last": .string("\(name)-\(last)")], id: nil, to: connection)
    guard let lastId else { return true }
    guard let number = number(of: lastId), number <= last, number >= (kept.first?.number ?? last + 1) - 1 else {
      send("resync", [:], id: "\(name)-\(last)", to: connection)
      return true
    }
    for event in kept where event.number > number { connection.send(event.text) }
    return true
  }

  private func number(of id: String) -> Int64? { id.hasPrefix(name + "-") ? Int64(id.dropFirst(name.count + 1)) : nil }

  func send(_ kind: String, _ data: JSONObject) {
    last += 1
    let event = Event(number: last, text: Self.text(kind, data, id: "\(name)-\(last)"))
    kept.append(event)
    if kept.count > Limits.keptEvents { kept.removeFirst(kept.count - Limits.keptEvents) }
    for stream in streams { stream.send(event.text) }
    dropSlow()
  }

  private func send(_ kind: String, _ data: JSONObject, id: String?, to connection: LoopbackConnection) {
    connection.send(Self.text(kind, data, id: id))
  }

  private static func text(_ kind: String, _ data: JSONObject, id: String?) -> [UInt8] {
    Array("\(id.map { "id: \($0)\n" } ?? "")event: \(kind)\ndata: \(JSONValue.object(data).text)\n\n".utf8)
  }

  /// A page that does not read gets the rest when it asks again.
  private func dropSlow() {
    for stream in streams where stream.waitingBytes > Limits.streamBytes {
      stream.finish()
      streams.removeAll { $0 === stream }
    }
  }

  func ended(_ connection: LoopbackConnection) { streams.removeAll { $0 === connection } }

  /// Sends a comment to idle streams, so that a connection that is gone is noticed.
  /// - Returns: When to call again.
  func wake(_ now: Int64) -> Int64 {
    guard !streams.isEmpty else { return .max }
    if nextHeartbeat <= now {
      nextHeartbeat = now + Limits.heartbeatMs
      for stream in streams { stream.send(Array(": still here\n\n".utf8)) }
      dropSlow()
    }
    return nextHeartbeat
  }
}
