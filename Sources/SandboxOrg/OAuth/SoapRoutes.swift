/// Serves `/services/Soap/u/NN.0` (partner) and `/services/Soap/c/NN.0` (enterprise): login and
/// logout of clients without a connected app. The two differ in their namespaces.
enum SoapRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    for api in ["u", "c"] {
      table.open("POST", "/services/Soap/\(api)/:version", answer)
      table.open("POST", "/services/Soap/\(api)/:version/:organization", answer)
    }
  }

  /// A SOAP fault, always with status 500.
  private struct Fault: Error {
    let code: String, message: String
    /// True for the API's own faults, which have a prefix and a detail.
    var isOwn = true
  }

  private static func answer(_ call: Call) throws -> ServerReply {
    do {
      let envelope: XML
      do {
        envelope = try XML.parse(call.request.body)
      } catch {
        throw Fault(code: "soapenv:Client", message: "the request is not a SOAP message: \(error.message)", isOwn: false)
      }
      guard envelope.name == "Envelope", let operation = envelope.first("Body")?.children.first else {
        throw Fault(code: "soapenv:Client", message: "SOAP message is missing its body", isOwn: false)
      }
      let version = call.parameter("version")
      guard (try? Negotiation.checkVersion("v\(version)")) != nil else {
        let text = "Invalid Api version specified on URL"
        throw Fault(code: "UNSUPPORTED_API_VERSION", message: text)
      }
      switch operation.name {
      case "login": return try login(operation, call)
      case "logout": return try logout(envelope, call)
      default:
        let text = "No operation available for request {urn:\(api(call)).soap.sforce.com}\(operation.name.prefix(100))"
        throw Fault(code: "soapenv:Client", message: text, isOwn: false)
      }
    } catch let fault as Fault {
      return reply(fault, call)
    }
  }

  private static func login(_ operation: XML, _ call: Call) throws -> ServerReply {
    let name = operation.first("username")?.text, secret = operation.first("password")?.text
    let org = call.org
    var signIn = SandboxSignIn(grant: "soap")
    signIn.username = org.directory.person(name)?.user.username
    defer { org.signIns.add(signIn, now: org.configuration.clock.now()) }
    guard let person = org.person(name, secret: secret, at: call.request.mountPath),
      (try? TokenRoutes.checkActive(person.id, org)) != nil, let user = try UserRecord(person.id, org)
    else {
      signIn.refused(.authentication)
      throw Fault(
        code: "INVALID_LOGIN", message: "Invalid username, password, security token; or user locked out.")
    }
    guard !org.guards.addresses.apply(to: person.user.username, "SOAP") else {
      signIn.refused(.addressRestricted)
      throw Fault(code: "LOGIN_MUST_USE_SECURITY_TOKEN", message: "The address is restricted for this user.")
    }
    let token = try org.sessions.issueAccessToken(
      .init(user: person.id, client: "SOAP", scope: "full"), organization: org.organizationId)
    let short = org.organizationId.prefix(15)
    let root = "\(call.instanceOrigin)/services/Soap"
    let fields = [
      ("metadataServerUrl", "\(root)/m/\(call.parameter("version"))/\(short)"), ("passwordExpired", "false"),
      ("sandbox", "true"), ("serverUrl", "\(root)/\(letter(call))/\(call.parameter("version"))/\(short)"),
      ("sessionId", token), ("userId", person.id),
    ]
    return reply(
      200, call,
      "<loginResponse><result>" + fields.map { element($0, $1) }.joined() + "<userInfo>" + info(user, person.id, org)
        + "</userInfo></result></loginResponse>")
  }

  private static func letter(_ call: Call) -> String {
    call.request.segments.count > 2 ? call.request.segments[2].lowercased() : "u"
  }

  private static func api(_ call: Call) -> String { letter(call) == "c" ? "enterprise" : "partner" }

  /// Returns the user's information in the order of the WSDL. Values that the user or a
  /// single-currency org lacks are nil, not absent.
  private static func info(_ user: UserRecord, _ id: String, _ org: Org) -> String {
    let values: [(name: String, text: String?)] = [
      ("accessibilityMode", "false"), ("chatterExternal", "false"), ("currencySymbol", "$"),
      ("orgAttachmentFileSizeLimit", "26214400"), ("orgDefaultCurrencyIsoCode", "USD"), ("orgDefaultCurrencyLocale", "en_US"),
      ("orgDisallowHtmlAttachments", "false"), ("orgHasPersonAccounts", "false"), ("organizationId", org.organizationId),
      ("organizationMultiCurrency", "false"), ("organizationName", "Tureen Sandbox"), ("profileId", user.profileId),
      ("roleId", user.roleId), ("sessionSecondsValid", "\(org.configuration.accessTokenLifetime)"),
      ("userDefaultCurrencyIsoCode", nil), ("userEmail", user.email), ("userFullName", user.name), ("userId", id),
      ("userLanguage", "en_US"), ("userLocale", "en_US"), ("userName", user.username), ("userTimeZone", "GMT"),
      ("userType", "Standard"), ("userUiSkin", "Theme3"),
    ]
    return values.map { value in value.text.map { element(value.name, $0) } ?? "<\(value.name) xsi:nil=\"true\"/>" }.joined()
  }

  private static func logout(_ envelope: XML, _ call: Call) throws -> ServerReply {
    let token = envelope.first("Header")?.first("SessionHeader")?.first("sessionId")?.text ?? ""
    guard call.org.sessions.session(ofAccessToken: token) != nil, try call.org.sessions.revoke(token) else {
      throw Fault(code: "INVALID_SESSION_ID", message: "Invalid Session ID found in SessionHeader: Illegal Session")
    }
    return reply(200, call, "<logoutResponse/>")
  }

  // MARK: Responses

  private static func element(_ name: String, _ text: String) -> String { "<\(name)>\(XML.escaped(text))</\(name)>" }

  /// Clients expect unprefixed names, except in faults.
  private static func reply(_ status: Int, _ call: Call, _ body: String) -> ServerReply {
    let text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?><soapenv:Envelope "
      + "xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns=\"urn:\(api(call)).soap.sforce.com\" "
      + "xmlns:sf=\"urn:fault.\(api(call)).soap.sforce.com\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
      + "<soapenv:Body>\(body)</soapenv:Body></soapenv:Envelope>"
    return .text(status, text, type: "text/xml;charset=UTF-8")
  }

  private static func reply(_ fault: Fault, _ call: Call) -> ServerReply {
    guard fault.isOwn else {
      return reply(
        500, call, "<soapenv:Fault><faultcode>\(fault.code)</faultcode>\(element("faultstring", fault.message))</soapenv:Fault>")
    }
    return reply(
      500, call,
      "<soapenv:Fault><faultcode>\(fault.code)</faultcode>\(element("faultstring", "\(fault.code): \(fault.message)"))"
        + "<detail><sf:LoginFault xsi:type=\"sf:LoginFault\">\(element("sf:exceptionCode", fault.code))"
        + "\(element("sf:exceptionMessage", fault.message))</sf:LoginFault></detail></soapenv:Fault>")
  }
}
