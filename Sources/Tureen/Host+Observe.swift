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
      return Observers.Entry(observer: observer, isGlobal: call.store.isGlobal, onUpdate: onUpdate)
    }
  }
}

/// The observers of one script, by the ids it gave them.
final class Observers: Sendable {
  struct Entry: Sendable {
    let observer: ChangeObserver
    /// Whether its store belongs to no user.
    let isGlobal: Bool
    /// Answers the script's call.
    let onUpdate: @Sendable (CallUpdate) -> Void

    /// Ends it with a last word to the script.
    fileprivate func end(_ word: JSONValue) {
      observer.cancel()
      onUpdate(.finished(word.serialized()))
    }
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
    forget(id)?.end(.null)
  }

  /// Ends those of the stores of a user whom another one follows: they are told what was committed last, then why they end.
  func closeThoseOfUser() {
    let ended = entries.withLock { entries in
      let ended = entries.filter { !$0.value.isGlobal }
      entries = entries.filter(\.value.isGlobal)
      return ended.sorted { $0.key < $1.key }.map(\.value)
    }
    for entry in ended {
      let last = entry.observer.take()
      if !last.isEmpty { entry.onUpdate(.changes { Observers.payload(last) }) }
      entry.end(["closed": "userSwitched"])
    }
  }

  @discardableResult
  func forget(_ id: Int64) -> Entry? { entries.withLock { $0.removeValue(forKey: id) } }
}
