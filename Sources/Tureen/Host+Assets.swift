import JSON
import LuaBridge

/// Implements the actions of `tureen.asset`: the files that syncs of collections downloaded for their rows.
extension Host {
  public func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] {
    try capabilities().require("tureen.asset", for: "asset.\(action.rawValue)")
    switch action {
    case .path:
      let connection = call.value("connection")?.stringValue, core = try core()
      if let connection, !core.connections.knows(connection) {
        throw HostError(.invalidConfiguration, core.connections.unknown(connection))
      }
      guard let found = try core.parts.assets.find(call.string("url"), connection: connection) else {
        return JSONValue.null.serialized()
      }
      let answer: JSONObject = [
        "path": .string(found.path), "contentType": .string(found.contentType), "bytes": .integer(Int64(found.bytes)),
      ]
      return JSONValue.object(answer).serialized()
    }
  }
}
