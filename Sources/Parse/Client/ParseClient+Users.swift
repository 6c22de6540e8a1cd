import JSON
import RestClient

/// Users. The connection keeps the session: it goes with every further request, also those of syncs and of other processes of the
/// home. No answer and no soup holds its token.
extension ParseClient {
  /// Makes a user, who is signed in then.
  /// - Parameter fields: `username` and `password` at least; `email` where the server wants it.
  /// - Throws: `RestError` with the server's code: 202 for a name that is taken, 203 for an email.
  public func signUp(_ fields: JSONObject) async throws -> ParseObject {
    let answer = try await exchange.signIn(RestRequest(.POST, "/users", body: fields.serialized()))
    return Self.user(answer, fields)
  }

  /// - Throws: `RestError` with code 101 for a wrong name or password.
  public func logIn(_ username: String, _ password: String) async throws -> ParseObject {
    Self.user(try await exchange.logIn(username, password), [:])
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

  /// - Parameter fields: As they were sent; the answer says more.
  private static func user(_ answer: JSONObject, _ fields: JSONObject) -> ParseObject {
    var known = fields
    known["password"] = nil
    for (key, value) in answer { known[key] = value }
    return ParseObject("_User", objectId: answer["objectId"]?.stringValue ?? "", known)
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
