import JSON
import RestClient

/// An update that changes a user's password. It ends the session it is sent with: its answer holds the next one, and where the
/// answer is lost, a login with the new password tells what became of it.
struct PasswordChange: Sendable {
  let exchange: ParseExchange
  let memory: UploadMemory
  let request: ObjectRequest
  let userId: String
  /// nil where it is not known: then nothing tells.
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
      return .lost(error, mayHaveHappened: false)
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
  /// Signs in: requests act as that user from then on.
  /// - Returns: The user, its token not among the fields.
  /// - Throws: `RestError`, with code 101 for a wrong name or password.
  func logIn(_ username: String, _ password: String) async throws -> JSONObject {
    let fields: JSONObject = ["username": .string(username), "password": .string(password)]
    return try await signIn(RestRequest(.POST, "/login", body: fields.serialized()))
  }

  /// Sends what is answered with a user and its session.
  func signIn(_ request: RestRequest) async throws -> JSONObject {
    var options = ConnectionOptions(cache: .bypass)
    options.usesStoredAnswers = false
    options.leavesOutSession = true
    let response = try await connection.send(request, options).response
    guard let answer = try response.json().objectValue, answer["sessionToken"]?.stringValue != nil,
      let id = answer["objectId"]?.stringValue
    else { throw response.invalidBody("the answer to a login has no 'sessionToken' or no 'objectId'") }
    try await keepSession(of: answer, userId: id)
    return ParseClient.shown(answer)
  }

  /// Takes the session over that an answer brings, if it brings one.
  func keepSession(of answer: JSONObject, userId: String?) async throws {
    guard let token = WriteAnswer(answer).sessionToken else { return }
    let session = UserSession(token: token, userId: userId)
    try await connection.keep(session)
    pin?.follow(session)
  }
}
