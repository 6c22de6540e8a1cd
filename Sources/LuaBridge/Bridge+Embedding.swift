import CLuaBridge
import JSON

/// A host that takes what a program reports through the C API.
package protocol ProgramReports {
  /// Takes a report of `tureen_report`. Never blocks.
  func takeReport(_ state: Int32)
  /// Takes the argument of `tureen_give_session` and returns its result. Never blocks.
  func takeSession(_ json: [UInt8]) -> Int32
}

/// Functions for programs without Lua.
extension Bridge {
  /// Returns the bridge of a host table's context.
  public static func of(_ context: UnsafeMutableRawPointer) -> Bridge {
    Unmanaged<Bridge>.fromOpaque(context).takeUnretainedValue()
  }

  /// Accepts a call and takes its store from its arguments.
  ///
  /// - Parameters:
  ///   - arguments: JSON text of an object. If it is wrong, the call fails.
  ///   - storeMembers: Gets the text that completes the detail of a `sync` event: a comma, the members `isGlobalStore` and
  ///     `storeName`, and the closing brace.
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
  /// Reads the store from the text of an action's arguments. Wrong arguments mean the default store here; the action's own
  /// check reports them.
  init(ofArguments text: [UInt8]) {
    self.init(of: (try? PartlyParsed(parsing: text, leaving: "entries"))?.value.objectValue ?? [:])
  }
}
