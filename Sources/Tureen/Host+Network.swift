import JSON
import LuaBridge
import RestClient
import Support

/// Implements `pgSendRequest` of `com.salesforce.network`, on the org's client or on a named connection.
extension Host {
  public func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let request = try NetworkRequest(call)
    guard request.files.isEmpty || !isRestricted else {
      throw BridgeError(
        domain: "bridge", code: BridgeError.Code.restricted.rawValue,
        message:
          "argument 'fileParams' is not available to a restricted script (--restricted), which reaches no files; no option "
          + "allows it")
    }
    guard !isRestricted || !request.headers.contains(where: { $0.name.lowercased() == "host" }) else {
      throw BridgeError(
        domain: "network", code: BridgeError.Code.restricted.rawValue,
        message:
          "'headerParams.Host' is not available to a restricted script (--restricted): it would address another host than the "
          + "one that is allowed; no option allows it")
    }
    let core = try core(), calls = core.user.calls
    let send = try sender(of: request, core)
    calls.begin()
    let task = Task {
      defer { calls.end() }
      do {
        onUpdate(.finished(try await send()))
      } catch {
        onUpdate(.failed(NetworkRequest.described(error)))
      }
    }
    call.cancellation?.onCancel { task.cancel() }
  }
}

extension Host {
  /// Returns a function that sends the request and converts the response to the script's result.
  private func sender(of request: NetworkRequest, _ core: HostCore) throws -> @Sendable () async throws -> [UInt8] {
    guard let name = request.connection else {
      return { [client = core.client] in
        let response = try await client.send(try request.restRequest())
        return try request.payload(of: response)
      }
    }
    let connection: RestConnection
    do {
      connection = try core.connections.connection(named: name)
    } catch let problem as RestConnections.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
    let options = ConnectionOptions(cache: request.cache, hidesSecrets: isRestricted)
    return { try request.payload(of: try await connection.send(try request.restRequest(), options)) }
  }
}

/// The validated arguments of `sendRequest`.
struct NetworkRequest: Sendable {
  let method: HTTPMethod
  let path: String
  let parameters: JSONObject
  /// The argument `body`; nil if the parameters are the body of methods that have one.
  let content: [UInt8]?
  let headers: [(name: String, value: String)]
  let files: [MultipartBody.File]
  let returnsBinary: Bool
  let requiresAuthentication: Bool
  let expected: ExpectedBody
  /// The name of a connection; nil for the org.
  let connection: String?
  let cache: CacheMode
  let returnsResponse: Bool

  /// - Throws: `invalidArguments`, naming the key.
  init(_ call: ActionCall) throws {
    method = try Self.method(call)
    path = (call.value("endPoint")?.stringValue ?? "") + (try call.string("path"))
    parameters = try Self.parameters(call)
    content = try Self.content(call)
    headers = try Self.headers(call)
    files = try Self.files(call)
    returnsBinary = call.value("returnBinary")?.boolValue ?? false
    requiresAuthentication = !(call.value("doesNotRequireAuthentication")?.boolValue ?? false)
    expected = try Self.expected(call)
    connection = call.value("connection")?.stringValue
    cache = try Self.cache(call)
    returnsResponse = call.value("returnResponse")?.boolValue ?? false
    guard cache == .default || connection != nil else { throw Self.wrong("'cache' needs 'connection'") }
    guard content == nil || files.isEmpty else {
      throw Self.wrong("'body' and 'fileParams' exclude each other: with 'fileParams', 'queryParams' are parts of the body")
    }
    guard files.isEmpty || !sendsQuery else {
      throw Self.wrong("'fileParams' needs a method with a body, such as POST, got \(method.rawValue)")
    }
    guard content == nil || ![.GET, .HEAD].contains(method) else {
      throw Self.wrong("'body' needs a method with a body, such as POST, got \(method.rawValue); queryParams are its query")
    }
  }

  /// True if the parameters are sent as the query; otherwise they are the body.
  private var sendsQuery: Bool { content != nil || [.GET, .DELETE, .HEAD].contains(method) }

  /// Builds the request. Reads the files, so it may block on disk access.
  func restRequest() throws -> RestRequest {
    var request = RestRequest(method, path, headers: headers, requiresAuthentication: requiresAuthentication)
    if !files.isEmpty {
      let body = try MultipartBody(parameters: parameters, files: files)
      request.body = body.bytes
      request.contentType = body.contentType
    } else if sendsQuery {
      request.query = parameters.compactMap { name, value in
        value.isNull ? nil : (name: name, value: value.stringValue ?? value.text)
      }
      request.body = content
    } else if !parameters.isEmpty || method != .POST {
      request.body = JSONValue.object(parameters).serialized()
    }
    return request
  }

  /// Returns the success payload: JSON unchanged, other text as a string, `{encodedBody, contentType}` for a binary result.
  /// - Throws: `RestError` `.invalidBody` if the body is not what the script expects.
  func payload(of response: RestResponse) throws -> [UInt8] {
    try payload(of: response, [:])
  }

  /// Returns the success payload for a response of a connection. With `returnResponse` it includes the URL, the cache state and
  /// the age.
  func payload(of answer: ConnectionResponse) throws -> [UInt8] {
    var details: JSONObject = [
      "url": .string(answer.url), "cache": .string(answer.cache.rawValue), "stale": .bool(answer.isStale),
    ]
    details["age"] = answer.age.map { .integer(Int64(saturating: $0)) }
    return try payload(of: answer.response, details)
  }

  private func payload(of response: RestResponse, _ details: JSONObject) throws -> [UInt8] {
    let body = try self.body(of: response)
    guard returnsResponse else { return body }
    var head: JSONObject = ["status": .integer(Int64(response.status)), "headers": .object(Self.object(response.headers))]
    for (key, value) in details { head[key] = value }
    // The body is already JSON and may be large, so it is appended unchanged.
    var result: [UInt8] = JSONValue.object(head).serialized()
    result.removeLast()
    result += Array(",\"body\":".utf8)
    result += body
    result.append(UInt8(ascii: "}"))
    return result
  }

  /// Converts headers to an object with lower-case names. Repeated headers are joined with a comma.
  static func object(_ headers: [(name: String, value: String)]) -> JSONObject {
    headers.reduce(into: JSONObject()) { result, header in
      let name = header.name.lowercased()
      result[name] = .string([result[name]?.stringValue, header.value].compactMap { $0 }.joined(separator: ", "))
    }
  }

  private func body(of response: RestResponse) throws -> [UInt8] {
    try expected.check(response)
    let type = response.header("Content-Type") ?? ""
    if returnsBinary {
      let encoded = response.body.withUnsafeBytes { Base64.encode(Array($0)) }
      let object: JSONObject = ["encodedBody": .string(String(decoding: encoded, as: UTF8.self)), "contentType": .string(type)]
      return JSONValue.object(object).serialized()
    }
    guard response.body.count > 0 else { return JSONValue.string("OK").serialized() }
    // A text that reads like a number or a word of JSON is one only if the server says so.
    if let value = try? response.json(), value.objectValue != nil || value.arrayValue != nil || MediaType(type).isJSON {
      return response.body.withUnsafeBytes { Array(ResponseBody.withoutByteOrderMark($0)) }
    }
    return JSONValue.string(response.body.text).serialized()
  }

  /// Adds the response headers and the time of the next attempt to the details of an error.
  static func described(_ error: any Error) -> any Error {
    guard let error = error as? RestError, !error.headers.isEmpty || error.resumeAt != nil else { return error }
    let known = error.bridgeError
    var details = known.details
    if !error.headers.isEmpty { details["headers"] = .object(object(error.headers)) }
    details["resumeAt"] = error.resumeAt.map { .integer($0) }
    return BridgeError(
      domain: known.domain, code: known.code, message: known.message, isRetryable: known.isRetryable, details: details)
  }
}

/// The body that a script expects in a successful response.
enum ExpectedBody: String, CaseIterable, Sendable {
  case any, json, nothing, jsonOrNothing

  /// - Throws: `RestError` `.invalidBody`, for example for a captive portal's page or an empty body.
  func check(_ response: RestResponse) throws(RestError) {
    let isNothing = response.status == 204 && response.body.count == 0
    switch self {
    case .any: return
    case .nothing: guard isNothing else { throw response.invalidBody("expected status 204 without a body") }
    case .jsonOrNothing: if !isNothing { try checkJSON(response, "expected JSON, or status 204 without a body") }
    case .json:
      let value = try checkJSON(response, "expected JSON")
      guard value.objectValue != nil || value.arrayValue != nil else {
        throw response.invalidBody("expected a JSON object or array, got \(value.kindName)")
      }
    }
  }

  @discardableResult
  private func checkJSON(_ response: RestResponse, _ expected: String) throws(RestError) -> JSONValue {
    guard response.body.count > 0 else { throw response.invalidBody("\(expected), got nothing") }
    return try response.json()
  }
}

// MARK: - The arguments

extension NetworkRequest {
  static func wrong(_ message: String) -> BridgeError {
    BridgeError(domain: "bridge", code: BridgeError.Code.invalidArguments.rawValue, message: "argument " + message)
  }

  private static func method(_ call: ActionCall) throws -> HTTPMethod {
    guard let text = call.value("method")?.stringValue, !text.isEmpty else { return .GET }
    guard let method = HTTPMethod(rawValue: text.uppercased()) else {
      let known = HTTPMethod.allCases.map(\.rawValue).joined(separator: ", ")
      throw wrong("'method' must be one of \(known), got '\(text)'")
    }
    return method
  }

  private static func expected(_ call: ActionCall) throws -> ExpectedBody {
    guard let word = call.value("expects")?.stringValue else { return .any }
    guard let expected = ExpectedBody(rawValue: word) else {
      let known = ExpectedBody.allCases.map(\.rawValue).joined(separator: ", ")
      throw wrong("'expects' must be one of \(known), got '\(word)'")
    }
    return expected
  }

  private static func cache(_ call: ActionCall) throws -> CacheMode {
    guard let word = call.value("cache")?.stringValue else { return .default }
    guard let mode = CacheMode(rawValue: word) else {
      throw wrong("'cache' must be one of \(CacheMode.allCases.map(\.rawValue).joined(separator: ", ")), got '\(word)'")
    }
    return mode
  }

  /// Reads `queryParams`: an object, or the JSON text of one.
  private static func parameters(_ call: ActionCall) throws -> JSONObject {
    switch call.value("queryParams") {
    case nil: return [:]
    case .object(let object): return object
    case .array(let list) where list.isEmpty: return [:]
    case .string(let text) where text.isEmpty: return [:]
    case .string(let text):
      guard let object = (try? JSONValue(parsing: text))?.objectValue else {
        throw wrong("'queryParams' must be an object, or the JSON text of one")
      }
      return object
    case let other?: throw wrong("'queryParams' must be an object, got \(other.kindName)")
    }
  }

  /// Reads `body`: a table, which is sent as JSON, or a text, which is sent as it is.
  private static func content(_ call: ActionCall) throws -> [UInt8]? {
    switch call.value("body") {
    case nil, .null?: return nil
    case .string(let text)?: return Array(text.utf8)
    case let value? where value.objectValue != nil || value.arrayValue != nil: return value.serialized()
    case let other?: throw wrong("'body' must be an object, an array or a string, got \(other.kindName)")
    }
  }

  private static func headers(_ call: ActionCall) throws -> [(name: String, value: String)] {
    try (call.value("headerParams")?.objectValue ?? [:]).compactMap { name, value in
      guard !value.isNull else { return nil }
      let text = value.stringValue ?? value.text
      guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
        throw wrong("'headerParams' has '\(name.prefix(200))', which is not a valid header name")
      }
      guard text.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
        throw wrong("'headerParams.\(name.prefix(200))' contains a line break or another control character")
      }
      return (name, text)
    }
  }

  /// Returns true for the bytes of a token (RFC 9110, section 5.6.2).
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  private static func files(_ call: ActionCall) throws -> [MultipartBody.File] {
    try (call.value("fileParams")?.objectValue ?? [:]).map { part, value in
      func text(_ key: String) throws -> String? {
        guard let given = value[key], !given.isNull else { return nil }
        guard let text = given.stringValue else {
          throw wrong("'fileParams.\(part).\(key)' must be a string, got \(given.kindName)")
        }
        return text
      }
      guard let url = try text("fileUrl") else {
        throw wrong("'fileParams.\(part).fileUrl' is missing, expected the path of a file")
      }
      let path = url.hasPrefix("file://") ? String(url.dropFirst(7)) : url
      let name = try text("fileName") ?? path.split(separator: "/").last.map(String.init) ?? part
      return MultipartBody.File(
        part: part, path: path, name: name, mimeType: try text("fileMimeType") ?? "application/octet-stream")
    }
  }
}
