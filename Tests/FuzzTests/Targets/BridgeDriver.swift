import CLuaBridge
import Foundation
import Glibc
import JSON

@testable import LuaBridge

/// Makes calls on a bridge without a Lua state. Each call must end exactly once, with a result in JSON or an error that
/// bridge-spec documents. Used by one thread.
final class BridgeDriver {
  enum Ending {
    case result(JSONValue)
    case error(domain: String, code: String, message: String)
  }

  private let bridge: Bridge
  private var open: Set<Int64> = []
  /// How calls have ended that nobody has asked about yet.
  private var endings: [Int64: Ending] = [:]

  init(_ bridge: Bridge) { self.bridge = bridge }

  /// Makes a call and waits until it has ended. A call that would go on until it is closed is closed at once.
  /// - Parameters:
  ///   - store: What the arguments say about the store.
  ///   - text: The text of the arguments, which need not be valid.
  /// - Throws: ``FuzzFailure``.
  func perform(_ service: String, _ action: String, store: StoreReference, text: [UInt8]) throws(FuzzFailure) -> Ending {
    endings = [:]
    let id: Int64
    do { id = try begin(service, action, store, text) } catch { return try ending(ofError: error.serialized) }
    open.insert(id)
    if action == SmartStoreAction.observe.rawValue { try close(store, text) }
    return try end(of: id)
  }

  /// Closes the observer that a call's arguments name, on the queue of the same store.
  private func close(_ store: StoreReference, _ text: [UInt8]) throws(FuzzFailure) {
    guard var arguments = (try? JSONValue(parsing: text))?.objectValue else { return }
    for key in arguments.keys where !["observerId", "storeName", "isGlobalStore"].contains(key) { arguments[key] = nil }
    let action = SmartStoreAction.closeObserver.rawValue
    do { open.insert(try begin("com.salesforce.smartstore", action, store, arguments.serialized())) } catch {
      _ = try ending(ofError: error.serialized)
    }
  }

  private func end(of id: Int64) throws(FuzzFailure) -> Ending {
    while true {
      _ = bridge.mailbox.clearWake()
      while let message = bridge.mailbox.take() {
        if let ending = try take(message) { endings[message.call] = ending }
      }
      if let ending = endings[id] { return ending }
      var readable = pollfd(fd: bridge.mailbox.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&readable, 1, -1)
    }
  }

  private func begin(
    _ service: String, _ action: String, _ store: StoreReference, _ text: [UInt8]
  ) throws(BridgeError) -> Int64 {
    let names = (Array(service.utf8), Array(action.utf8))
    return try names.0.withUnsafeBytes { service in
      names.1.withUnsafeBytes { action in
        Result { () throws(BridgeError) in try bridge.call(service: service, action: action, store: store, arguments: text) }
      }
    }.get()
  }

  /// - Returns: How the message's call ended; nil if it has not.
  private func take(_ message: Mailbox.Message) throws(FuzzFailure) -> Ending? {
    switch message.kind {
    case .request:
      // There is no script that could answer.
      let answer: JSONObject = ["request": .integer(message.call), "noScript": true]
      if let id = try? begin("tureen.script", "answer", StoreReference(of: answer), answer.serialized()) { open.insert(id) }
      return nil
    case .result, .end, .error, .fail:
      try FuzzFailure.unless(open.remove(message.call) != nil, "call \(message.call) ends a second time, with \(message.kind)")
      let text = Self.text(of: message.payload)
      if message.kind == .error || message.kind == .fail { return try ending(ofError: text) }
      guard let value = try? JSONValue(parsing: text) else {
        throw FuzzFailure(message: "a result that is not JSON: \(String(decoding: text.prefix(300), as: UTF8.self))")
      }
      return .result(value)
    default: return nil
    }
  }

  private func ending(ofError text: [UInt8]) throws(FuzzFailure) -> Ending {
    guard let error = try? JSONValue(parsing: text), let domain = error["domain"]?.stringValue,
      let code = error["code"]?.stringValue, let message = error["message"]?.stringValue
    else { throw FuzzFailure(message: "not an error: \(String(decoding: text.prefix(300), as: UTF8.self))") }
    try DocumentedErrors.check(domain, code, message, retryable: error["retryable"]?.boolValue)
    return .error(domain: domain, code: code, message: message)
  }

  private static func text(of payload: Payload) -> [UInt8] {
    let bytes = payload.release()
    defer { free(bytes.data) }
    return Array(UnsafeRawBufferPointer(start: bytes.data, count: bytes.length))
  }
}

/// The error codes of `bridge-spec/errors.json`.
enum DocumentedErrors {
  private static let domains: JSONObject = {
    let package = URL(filePath: FuzzCorpus.folder).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = (try? Data(contentsOf: package.appending(path: "bridge-spec/errors.json"))) ?? Data()
    return (try? JSONValue(parsing: Array(text)))?.objectValue ?? [:]
  }()

  /// - Throws: ``FuzzFailure`` for a code that is not documented, and for one that stands for a bug.
  static func check(_ domain: String, _ code: String, _ message: String, retryable: Bool?) throws(FuzzFailure) {
    try FuzzFailure.unless(
      domains[domain]?["codes"]?[code] != nil, "the error \(domain) \(code), which errors.json does not have: \(message)")
    try FuzzFailure.unless(code != "internal" && code != "internalError", "the error \(domain) \(code): \(message)")
    try FuzzFailure.unless(!message.isEmpty, "the error \(domain) \(code) without a message")
    try FuzzFailure.unless(retryable != nil, "the error \(domain) \(code) without 'retryable'")
  }
}
