import JSON
import LuaBridge
import SmartStore
import Support

/// Implements the actions of `tureen.keyvalue`.
extension Host {
  public func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] {
    let core = try core()
    try core.parts.capabilities.require("tureen.keyvalue", for: call.store)
    let store = try core.store(call.store)
    if action == .stores { return Host.list(try store.keyValueStoreNames()) }
    let values = try store.keyValueStore(named: call.string("name"))
    switch action {
    case .get: return Host.payload(try values.get(call.string("key")))
    case .put:
      try values.put(try Host.bytes(call), for: call.string("key"))
      return JSONValue.string("OK").serialized()
    case .remove: return JSONValue.bool(try values.remove(call.string("key"))).serialized()
    case .contains: return JSONValue.bool(try values.contains(call.string("key"))).serialized()
    case .count: return JSONValue.integer(Int64(try values.count())).serialized()
    case .keys: return Host.list(try values.keys(matching: call.value("pattern")?.stringValue))
    case .clear, .stores:
      try values.clear()
      return JSONValue.string("OK").serialized()
    }
  }

  private static func list(_ texts: [String]) -> [UInt8] {
    JSONValue.array(texts.map { .string($0) }).serialized()
  }

  /// Serializes a value: `{value}` for text, `{value, isBase64: true}` for other bytes, null for nil.
  private static func payload(_ value: [UInt8]?) -> [UInt8] {
    guard let value else { return JSONValue.null.serialized() }
    if let text = String(validating: value, as: UTF8.self) {
      return JSONValue.object(["value": .string(text)]).serialized()
    }
    // Base64 needs no JSON escapes.
    return Array(#"{"isBase64":true,"value":""#.utf8) + Base64.encode(value) + Array("\"}".utf8)
  }

  private static func bytes(_ call: ActionCall) throws -> [UInt8] {
    let text = try call.string("value")
    guard call.value("isBase64")?.boolValue == true else { return Array(text.utf8) }
    guard let bytes = Base64.decode(text) else {
      throw BridgeError(domain: "bridge", code: "invalidArguments", message: "argument 'value' is not valid Base64")
    }
    return bytes
  }
}
