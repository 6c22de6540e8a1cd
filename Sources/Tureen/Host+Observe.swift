import JSON
import LuaBridge
import SmartStore
import Synchronization

/// Implements `pgObserve` and `pgCloseObserver`.
extension Host {
  public func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let core = try core()
    try core.parts.capabilities.require("com.salesforce.smartstore", for: call.store)
    let store = try core.store(call.store), id = try call.integer("observerId")
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

/// The observers of one script, by the ids that the script chose.
final class Observers: Sendable {
  struct Entry: Sendable {
    let observer: ChangeObserver
    /// True if the store is global and stays open when the user changes.
    let isGlobal: Bool
    /// Sends results to the script's call.
    let onUpdate: @Sendable (CallUpdate) -> Void

    /// Cancels the observer and finishes the script's call with a value.
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

  /// Closes an observer. Does nothing if there is no such observer.
  func close(_ id: Int64) {
    forget(id)?.end(.null)
  }

  /// Closes the observers of user stores before a switch of users. They get the last committed changes, and then the reason.
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
