import JSON
import LuaBridge
import SmartStore
import Synchronization

/// Scripts' observers of soups: `pgObserve` and `pgCloseObserver`.
extension Host {
  public func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let core = try core(), store = try core.store(call.store), id = try call.integer("observerId")
    try core.observers.add(id) { observers in
      let onNews: ChangeObserver.News = { take in onUpdate(.changes { Observers.payload(take()) }) }
      let onEnd: @Sendable () -> Void = { [name = store.name] in
        observers.forget(id)
        onUpdate(.failed(StoreError(.storeClosed, "store '\(name)' is closed")))
      }
      let observer =
        if let name = call.value("soupName")?.stringValue {
          try store.observe(soups: [name], onNews: onNews, onEnd: onEnd)
        } else {
          try store.observe(
            query: QuerySpec(call.object("querySpec")), cancellation: Host.query(of: call), onNews: onNews, onEnd: onEnd)
        }
      return Observers.Entry(observer: observer, end: { onUpdate(.finished(JSONValue.null.serialized())) })
    }
  }
}

/// The observers of one script, by the ids it gave them.
final class Observers: Sendable {
  struct Entry: Sendable {
    let observer: ChangeObserver
    /// Answers the script's call.
    let end: @Sendable () -> Void
  }

  private let entries = Mutex<[Int64: Entry]>([:])

  func add(_ id: Int64, _ make: (Observers) throws -> Entry) throws {
    guard entries.withLock({ $0[id] == nil }) else {
      throw BridgeError(
        domain: "bridge", code: "invalidArguments", message: "argument 'observerId': there is an observer \(id) already")
    }
    let entry = try make(self)
    entries.withLock { $0[id] = entry }
  }

  static func payload(_ changes: [StoreChange]) -> [UInt8] {
    JSONValue.array(changes.map { .object($0.json) }).serialized()
  }

  /// Ends an observer; nothing happens when there is none.
  func close(_ id: Int64) {
    guard let entry = forget(id) else { return }
    entry.observer.cancel()
    entry.end()
  }

  @discardableResult
  func forget(_ id: Int64) -> Entry? { entries.withLock { $0.removeValue(forKey: id) } }
}
