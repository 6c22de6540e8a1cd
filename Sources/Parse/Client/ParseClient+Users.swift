import JSON
import RestClient

/// Users. The connection stores the session and sends it with all further requests, including those
/// of syncs and of other processes of the home. The session token never appears in results or
/// soups.
extension ParseClient {
  /// Creates a user and signs in.
  ///
  /// - Parameter fields: At least `username` and `password`; `email` if the server requires it.
  /// - Throws: `RestError` with the server's code: 202 if the username is taken, 203 if the email
  ///   is taken.
  public func signUp(_ fields: JSONObject) async throws -> ParseObject {
    let answer = try await exchange.signIn(RestRequest(.POST, "/users", body: fields.serialized()))
    return Self.user(answer, fields)
  }

  /// Signs in.
  ///
  /// - Throws: `RestError` with code 101 for a wrong name or password.
  public func logIn(_ username: String, _ password: String) async throws -> ParseObject {
    Self.user(try await exchange.logIn(username, password), [:])
  }

  /// Ends the session. It is not an error if the session has already ended.
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

  /// Returns the user on whose behalf requests are sent; nil if there is none.
  public func currentUser() async throws -> ParseObject? {
    guard try await connection.hasUserSession() else { return nil }
    return try user(try await send(RestRequest(.GET, "/users/me")).response)
  }

  /// - Parameter fields: The fields sent; the response adds to them.
  private static func user(_ answer: JSONObject, _ fields: JSONObject) -> ParseObject {
    var known = fields
    known["password"] = nil
    for (key, value) in answer { known[key] = value }
    return ParseObject("_User", objectId: answer["objectId"]?.stringValue ?? "", known)
  }

  private func user(_ response: RestResponse) throws -> ParseObject {
    guard let row = try response.json().objectValue, let user = Self.object("_User", Self.shown(row)) else {
      throw response.invalidBody("the response is not a user")
    }
    return user
  }

  private static var options: ConnectionOptions {
    var options = ConnectionOptions(cache: .bypass)
    options.usesResponseCache = false
    return options
  }

  private func send(_ request: RestRequest) async throws -> ConnectionResponse {
    try await connection.send(request, Self.options)
  }
}
