import JSON
import RestClient

/// Sends an update that changes a user's password. It ends the session it is sent with, and its
/// response contains the next one. If the response is lost, a login with the new password shows
/// whether the change was executed.
struct PasswordChange: Sendable {
  let exchange: ParseExchange
  let memory: UploadMemory
  let request: ObjectRequest
  let userId: String
  /// nil if it is not known; a lost response then remains unresolved.
  let username: String?

  func send() async -> BatchSender.Outcome {
    let sender = BatchSender(exchange: exchange, memory: memory, isTransaction: false) { _ in await find() }
    let outcome = await sender.send([request])[0]
    do {
      switch outcome {
      case .done(let answer):
        try await exchange.keepSession(of: answer, userId: userId)
        return outcome
      case .lost(_, true):
        guard case .made(let answer) = await find() else { return outcome }
        return .done(answer)
      default: return outcome
      }
    } catch {
      return .lost(error, mayHaveTakenEffect: false)
    }
  }

  private func find() async -> BatchSender.Finding {
    guard let username, let password = request.body?["password"]?.stringValue else { return .unclear }
    do {
      let user = try await exchange.logIn(username, password)
      return .made(user.filtered { key, _ in key == "updatedAt" })
    } catch let error as RestError where error.parseCode == ServerCode.objectNotFound.rawValue {
      return .notMade
    } catch {
      return .unclear
    }
  }
}

extension ParseExchange {
  /// Signs in; later requests act as this user.
  ///
  /// - Returns: The user's fields without the session token.
  /// - Throws: `RestError`, with code 101 for a wrong name or password.
  func logIn(_ username: String, _ password: String) async throws -> JSONObject {
    let fields: JSONObject = ["username": .string(username), "password": .string(password)]
    return try await signIn(RestRequest(.POST, "/login", body: fields.serialized()))
  }

  /// Sends a request whose response contains a user and a session.
  func signIn(_ request: RestRequest) async throws -> JSONObject {
    var options = ConnectionOptions(cache: .bypass)
    options.usesResponseCache = false
    options.omitsSession = true
    let response = try await connection.send(request, options).response
    guard let answer = try response.json().objectValue, answer["sessionToken"]?.stringValue != nil,
      let id = answer["objectId"]?.stringValue
    else { throw response.invalidBody("the response to a login has no 'sessionToken' or no 'objectId'") }
    try await keepSession(of: answer, userId: id)
    return ParseClient.shown(answer)
  }

  /// Adopts the session in a response, if there is one.
  func keepSession(of answer: JSONObject, userId: String?) async throws {
    guard let token = WriteAnswer(answer).sessionToken else { return }
    let session = UserSession(token: token, userId: userId)
    try await connection.keep(session)
    pin?.follow(session)
  }
}
