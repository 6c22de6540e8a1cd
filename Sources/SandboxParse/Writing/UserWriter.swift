import JSON

/// Signs up, changes and removes users.
struct UserWriter {
  let call: ParseCall

  private var writer: ObjectWriter { ObjectWriter(call: call, className: "_User") }

  // MARK: Signing up

  /// Answers 201 with a session token, or 200 with the whole user if the provider's account is
  /// already known.
  func signUp(_ given: JSONObject, _ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    var body = given
    let accounts = try Self.accounts(body["authData"])
    if let known = accounts.flatMap({ Self.user(with: $0, state) }) { return try logIn(known, accounts, &state) }
    if accounts == nil {
      try Self.checkText(body["username"], .usernameMissing, "bad or missing username")
      try Self.checkText(body["password"], .passwordMissing, "password is required")
    } else if body["username"] == nil {
      body["username"] = .string(state.newHex(25))
    }
    let password = body["password"]?.stringValue
    body["password"] = nil
    try checkEmail(body["email"])
    let isPrivate = call.settings.enforcePrivateUsers
    let outcome = try writer.create(body, &state) { object, state throws(ParseError) in
      try Self.checkUnique(object, state)
      var access = object.access
      if access == nil {
        access = AccessList()
        if !isPrivate { access?.grant("*", read: true, write: false) }
      }
      access?.grant(object.id, read: true, write: true)
      object.access = access
    }
    let created = outcome.object
    if let password { state.passwords[created.id] = password }
    let session = Sessions(call: call).begin(
      created.id, accounts == nil ? "signup" : "login", provider: accounts?.keys.first ?? "password", &state)
    var answer: JSONObject = [
      "objectId": .string(created.id), "createdAt": ParseTime.json(created.createdAt),
      "sessionToken": session.fields["sessionToken"] ?? .null,
    ]
    for (name, value) in outcome.reported { answer[name] = value }
    if given["username"] == nil { answer["username"] = created.fields["username"] }
    return ParseAnswer(.object(answer), status: 201, location: "/users/\(created.id)")
  }

  private func logIn(_ id: String, _ accounts: JSONObject?, _ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    let session = Sessions(call: call).begin(id, "login", provider: accounts?.keys.first, &state)
    return ParseAnswer(.object(try whole(id, session.fields["sessionToken"], state)))
  }

  /// Returns a user as the user itself sees it.
  func whole(_ id: String, _ token: JSONValue?, _ state: ParseState) throws(ParseError) -> JSONObject {
    guard let user = state.object("_User", id) else { throw .invalidSession }
    var own = call
    own.caller.userId = id
    var value = Renderer(state: state, call: own).json(user, of: "_User")
    value["sessionToken"] = token
    return value
  }

  // MARK: Logging in

  /// - Parameter given: `username` or `email`, and `password`.
  func logIn(_ given: JSONObject, _ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    let user = try user(given, state)
    let session = Sessions(call: call).begin(user.id, "login", provider: "password", &state)
    return ParseAnswer(.object(try whole(user.id, session.fields["sessionToken"], state)))
  }

  /// Like `logIn`, without a session.
  func verify(_ given: JSONObject, _ state: ParseState) throws(ParseError) -> ParseAnswer {
    ParseAnswer(.object(try whole(try user(given, state).id, nil, state)))
  }

  /// - Throws: ``ParseError`` 101 for wrong credentials, 200 or 201 for missing ones.
  private func user(_ given: JSONObject, _ state: ParseState) throws(ParseError) -> ParseObject {
    let name = given["username"], email = given["email"]
    guard Self.isGiven(name) || Self.isGiven(email) else {
      throw ParseError(.usernameMissing, "username/email is required.")
    }
    guard Self.isGiven(given["password"]) else { throw ParseError(.passwordMissing, "password is required.") }
    guard let password = given["password"]?.stringValue, name == nil || name?.stringValue != nil,
      email == nil || email?.stringValue != nil,
      let user = state.classes["_User"]?.objects.first(where: { user in
        (name == nil || user.fields["username"] == name) && (email == nil || user.fields["email"] == email)
      }), state.passwords[user.id] == password, call.caller.isMaster || user.access != AccessList()
    else { throw .wrongLogin }
    return user
  }

  private static func isGiven(_ value: JSONValue?) -> Bool {
    switch value {
    case nil, .null?, .string("")?: false
    default: true
    }
  }

  // MARK: Changing

  func update(_ id: String, _ given: JSONObject, _ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    guard call.caller.isMaster || call.caller.userId != nil else {
      throw ParseError(.sessionMissing, "Cannot modify user \(id).")
    }
    if given["emailVerified"] != nil, !call.caller.isMaster {
      throw ParseError(.operationForbidden, "Clients aren't allowed to manually update email verification.")
    }
    var body = given
    let password = body["password"]
    body["password"] = nil
    if let password, password["__op"] == nil { try Self.checkText(password, .passwordMissing, "password is required") }
    if body["username"] != nil, body["username"]?["__op"] == nil {
      try Self.checkText(body["username"], .usernameMissing, "bad or missing username")
    }
    try checkEmail(body["email"])
    _ = try Self.accounts(body["authData"])
    let outcome: ObjectWriter.Outcome
    do throws(ParseError) {
      outcome = try writer.update(id, body, &state) { object, state throws(ParseError) in
        try Self.checkUnique(object, state)
        // Users cannot lock themselves out.
        if body["ACL"] != nil, !call.caller.isMaster { object.access?.grant(object.id, read: true, write: true) }
        Self.unlink(&object)
      }
    } catch {
      guard error == .notFound, !call.caller.isMaster else { throw error }
      throw ParseError(.sessionMissing, "Insufficient auth.")
    }
    var answer = outcome.reported
    answer["updatedAt"] = ParseTime.json(outcome.object.updatedAt)
    if let text = password?.stringValue {
      // A new password ends all sessions; the caller gets a new one.
      state.passwords[id] = text
      Sessions(call: call).end(of: id, &state)
      if !call.caller.isMaster {
        answer["sessionToken"] = Sessions(call: call).begin(id, "login", provider: "password", &state).fields["sessionToken"]
      }
    }
    return ParseAnswer(.object(answer))
  }

  func delete(_ id: String, _ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    guard call.caller.isMaster || call.caller.userId != nil else {
      throw ParseError(.sessionMissing, "Insufficient auth to delete user")
    }
    do throws(ParseError) {
      try writer.delete(id, &state)
    } catch {
      guard error == .notFound, !call.caller.isMaster else { throw error }
      throw ParseError(.sessionMissing, "Insufficient auth.")
    }
    return ParseAnswer([:])
  }

  // MARK: Checks

  private static func checkText(_ value: JSONValue?, _ code: ParseError.Code, _ text: String) throws(ParseError) {
    guard let given = value?.stringValue, !given.isEmpty else { throw ParseError(code, text) }
  }

  private func checkEmail(_ value: JSONValue?) throws(ParseError) {
    guard let value, !value.isNull, value["__op"] == nil else { return }
    let parts = (value.stringValue ?? "").split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts.first?.isEmpty == false, parts.last?.isEmpty == false else {
      throw ParseError(.invalidEmail, "Email address format is invalid.")
    }
  }

  private static func checkUnique(_ user: ParseObject, _ state: ParseState) throws(ParseError) {
    for (column, code, text) in [
      ("username", ParseError.Code.usernameTaken, "Account already exists for this username."),
      ("email", .emailTaken, "Account already exists for this email address."),
    ] {
      guard let value = user.fields[column], !value.isNull else { continue }
      // Case is ignored.
      let plain = value.stringValue?.lowercased()
      let isTaken =
        state.classes["_User"]?.objects.contains { other in
          let known = other.fields[column]
          return other.id != user.id && (known == value || plain != nil && known?.stringValue?.lowercased() == plain)
        } ?? false
      if isTaken { throw ParseError(code, text) }
    }
  }

  /// Removes accounts that were set to null.
  private static func unlink(_ user: inout ParseObject) {
    guard let accounts = user.fields["authData"]?.objectValue else { return }
    let left = accounts.filtered { _, account in !account.isNull }
    user.fields["authData"] = left.isEmpty ? nil : .object(left)
  }

  /// Returns the accounts of other services in a body.
  ///
  /// - Throws: ``ParseError`` 252 for any service except `anonymous`.
  private static func accounts(_ value: JSONValue?) throws(ParseError) -> JSONObject? {
    guard let object = value?.objectValue, !object.isEmpty, object["__op"] == nil else { return nil }
    for (provider, account) in object {
      guard provider == "anonymous", account.isNull || account["id"]?.stringValue?.isEmpty == false else {
        throw ParseError(.unsupportedService, "This authentication method is unsupported.")
      }
    }
    return object
  }

  private static func user(with accounts: JSONObject, _ state: ParseState) -> String? {
    state.classes["_User"]?.objects.first { user in
      accounts.contains { provider, account in
        !account.isNull && user.fields["authData"]?[provider]?["id"] == account["id"]
      }
    }?.id
  }
}
