import JSON
import RestClient

/// Users. The connection keeps the session: it goes with every further request, also those of syncs and of other processes of the
/// home. No answer and no soup holds its token.
extension ParseClient {
  /// Makes a user, who is signed in then.
  /// - Parameter fields: `username` and `password` at least; `email` where the server wants it.
  /// - Throws: `RestError` with the server's code: 202 for a name that is taken, 203 for an email.
  public func signUp(_ fields: JSONObject) async throws -> ParseObject {
    try await signIn(fields, RestRequest(.POST, "/users", body: fields.serialized()))
  }

  /// - Throws: `RestError` with code 101 for a wrong name or password.
  public func logIn(_ username: String, _ password: String) async throws -> ParseObject {
    let fields: JSONObject = ["username": .string(username), "password": .string(password)]
    return try await signIn([:], RestRequest(.POST, "/login", body: fields.serialized()))
  }

  /// Ends the session. One that had ended already is no error.
  public func logOut() async throws {
    let userId = try await connection.userSession()?.userId
    do {
      _ = try await send(RestRequest(.POST, "/logout", body: JSONObject().serialized()))
    } catch let error as RestError {
      guard ServerRefusal(error)?.code == ServerCode.invalidSessionToken.rawValue || error.code == .notAuthenticated else {
        throw error
      }
    }
    try await connection.keep(UserSession(token: nil, userId: userId))
  }

  /// The user that requests act as; nil when they act as no user.
  public func currentUser() async throws -> ParseObject? {
    guard try await connection.hasUserSession() else { return nil }
    return try user(try await send(RestRequest(.GET, "/users/me")).response)
  }

  private func signIn(_ fields: JSONObject, _ request: RestRequest) async throws -> ParseObject {
    var options = Self.options
    options.leavesOutSession = true
    let response = try await connection.send(request, options).response
    guard let answer = try response.json().objectValue, let token = answer["sessionToken"]?.stringValue,
      let id = answer["objectId"]?.stringValue
    else { throw response.invalidBody("the answer to a login has no 'sessionToken' or no 'objectId'") }
    try await connection.keep(UserSession(token: token, userId: id))
    var known = fields
    known["password"] = nil
    for (key, value) in Self.shown(answer) { known[key] = value }
    return ParseObject("_User", objectId: id, known)
  }

  private func user(_ response: RestResponse) throws -> ParseObject {
    guard let row = try response.json().objectValue, let user = Self.object("_User", Self.shown(row)) else {
      throw response.invalidBody("the answer is not a user")
    }
    return user
  }

  private static var options: ConnectionOptions {
    var options = ConnectionOptions(cache: .bypass)
    options.usesStoredAnswers = false
    return options
  }

  private func send(_ request: RestRequest) async throws -> ConnectionResponse {
    try await connection.send(request, Self.options)
  }
}
