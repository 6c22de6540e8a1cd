import CLuaBridge
import JSON

/// What programs without Lua need beside the table of functions.
extension Bridge {
  /// The bridge behind a table's context.
  public static func of(_ context: UnsafeMutableRawPointer) -> Bridge {
    Unmanaged<Bridge>.fromOpaque(context).takeUnretainedValue()
  }

  /// Accepts a call whose store is found in its arguments.
  ///
  /// - Parameters:
  ///   - arguments: JSON text of an object; what is wrong with it is the call's answer.
  ///   - storeMembers: Gets the members that tell of the store, and the brace that closes a `sync` event's detail.
  /// - Returns: The call's id.
  /// - Throws: `mailboxFull`.
  public func call(
    service: UnsafeRawBufferPointer, action: UnsafeRawBufferPointer, arguments: [UInt8],
    storeMembers: (tureen_bytes) -> Void
  ) throws(BridgeError) -> Int64 {
    let store = StoreReference(ofArguments: arguments)
    let id = try call(service: service, action: action, store: store, arguments: arguments)
    var members = JSONValue.object(["isGlobalStore": .bool(store.isGlobal), "storeName": .string(store.name)]).serialized()
    members[0] = UInt8(ascii: ",")
    storeMembers(Payload(members).release())
    return id
  }
}

extension StoreReference {
  /// The store that arguments name; the default one when they are wrong, which the action's own check says.
  init(ofArguments text: [UInt8]) {
    let value = (try? PartlyParsed(parsing: text, leaving: "entries"))?.value
    self.init(
      name: value?["storeName"]?.stringValue ?? StoreReference.defaultName,
      isGlobal: value?["isGlobalStore"]?.boolValue ?? false)
  }
}
