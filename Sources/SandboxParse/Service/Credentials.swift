import JSON
import SandboxServer

/// The credentials of a request, from its headers or, as SDKs send them, from its body.
struct Credentials {
  enum Problem: Error {
    /// 403 without a code.
    case unauthorized
    case malformedContext
  }

  private(set) var token: String?
  private(set) var installationId: String?
  private var masterKey: String?
  /// Client keys, of which one must be valid.
  private var clientKeys: [(name: String, value: String)] = []
  /// The `_ContentType` of a body that holds a file as text.
  private(set) var contentType: String?
  /// True if the application id was in the body.
  private(set) var isInBody = false

  /// Reads the credentials and removes them from the body.
  init(_ request: ServerRequest, _ body: inout JSONObject, _ keys: ParseKeys) throws(Problem) {
    func header(_ name: String) -> String? { request.header("x-parse-" + name).flatMap { $0.isEmpty ? nil : $0 } }
    if let context = header("cloud-context") { try Self.check(.string(context)) }
    token = header("session-token")
    installationId = header("installation-id")
    masterKey = header("master-key")
    for name in ["client-key", "javascript-key", "windows-key", "rest-api-key"] {
      if let value = header(name) { clientKeys.append((name, value)) }
    }
    var applicationId = header("application-id")
    readBasic(request, &applicationId)
    body["_noBody"] = nil
    if applicationId != keys.applicationId { try readBody(&body, keys) }
  }

  /// Reads `appId:masterKey` or `appId:javascript-key=...`.
  private mutating func readBasic(_ request: ServerRequest, _ applicationId: inout String?) {
    guard let header = request.header("authorization"), header.lowercased().hasPrefix("basic "),
      let bytes = Text.bytes(base64: String(header.dropFirst(6)))
    else { return }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1).map(String.init)
    guard let id = parts.first else { return }
    applicationId = id
    guard parts.count > 1 else { return }
    if parts[1].hasPrefix("javascript-key=") {
      clientKeys.append(("javascript-key", String(parts[1].dropFirst(15))))
    } else {
      masterKey = parts[1]
    }
  }

  private mutating func readBody(_ body: inout JSONObject, _ keys: ParseKeys) throws(Problem) {
    body["_RevocableSession"] = nil
    guard body["_ApplicationId"]?.stringValue == keys.applicationId, masterKey == nil || masterKey == keys.masterKey else {
      throw .unauthorized
    }
    isInBody = true
    func take(_ name: String) -> JSONValue? {
      defer { body[name] = nil }
      return body[name].flatMap { $0.isNull || $0 == "" ? nil : $0 }
    }
    _ = take("_ApplicationId")
    clientKeys.removeAll { $0.name == "javascript-key" }
    if let key = take("_JavaScriptKey")?.stringValue { clientKeys.append(("javascript-key", key)) }
    _ = take("_ClientVersion")
    if let id = take("_InstallationId")?.stringValue { installationId = id }
    if let given = take("_SessionToken") { token = given.stringValue ?? given.text }
    if let key = take("_MasterKey")?.stringValue { masterKey = key }
    contentType = take("_ContentType")?.stringValue
    if let context = take("_context") { try Self.check(context) }
  }

  /// Checks that a context is an object or the JSON text of one.
  private static func check(_ context: JSONValue) throws(Problem) {
    if context.objectValue != nil { return }
    guard let text = context.stringValue, let value = try? JSONValue(parsing: Array(text.utf8)), value.objectValue != nil else {
      throw .malformedContext
    }
  }

  /// Returns the caller with the rights of its keys. Ignores the session token.
  func caller(_ keys: ParseKeys) throws(Problem) -> Caller {
    if masterKey == keys.masterKey { return Caller(isMaster: true, token: token, installationId: installationId) }
    if masterKey == keys.readOnlyMasterKey {
      return Caller(isMaster: true, isReadOnly: true, token: token, installationId: installationId)
    }
    let isRight = clientKeys.contains { name, value in
      switch name {
      case "client-key": value == keys.clientKey
      case "javascript-key": value == keys.javascriptKey
      case "rest-api-key": value == keys.restAPIKey
      default: false
      }
    }
    guard isRight else { throw .unauthorized }
    return Caller(token: token, installationId: installationId)
  }
}
