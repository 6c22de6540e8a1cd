import JSON
import SandboxServer

/// The application id and keys of a server. All but the id are secrets.
public struct ParseKeys: Sendable, Equatable {
  public var applicationId = "library"
  public var restAPIKey, clientKey, javascriptKey, masterKey, readOnlyMasterKey: String

  /// Generates the keys.
  public init() {
    restAPIKey = RandomText.make(40)
    clientKey = RandomText.make(40)
    javascriptKey = RandomText.make(40)
    masterKey = RandomText.make(40)
    readOnlyMasterKey = RandomText.make(40)
  }

  /// The form in which the control action returns them.
  var json: JSONObject {
    [
      "applicationId": .string(applicationId), "restAPIKey": .string(restAPIKey), "clientKey": .string(clientKey),
      "javascriptKey": .string(javascriptKey), "masterKey": .string(masterKey),
      "readOnlyMasterKey": .string(readOnlyMasterKey),
    ]
  }
}
