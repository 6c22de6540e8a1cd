/// A browser at the sign-in pages. It has two cookies: one that its tickets are bound to, and one
/// for its session.
struct BrowserVisit {
  private static let ticketName = "sandbox_browser", sessionName = "sandbox_session"

  let call: Call
  let now: Int64
  let ticketCookie: String?
  /// The id of the user who is signed in here; nil if the browser has to ask.
  let user: String?

  init(_ call: Call) {
    self.call = call
    let org = call.org
    now = org.configuration.clock.now()
    ticketCookie = Self.cookie(Self.ticketName, call.request)
    let signedIn = org.browsers.user(
      Self.cookie(Self.sessionName, call.request), at: call.request.mountPath, now: now,
      lifetime: org.configuration.accessTokenLifetime)
    user = signedIn.flatMap { (try? TokenRoutes.checkActive($0, org)) == nil ? nil : $0 }
  }

  // MARK: Pages

  func loginPage(_ entry: AuthorizationTable.Pending, username: String, problem: String? = nil) -> ServerReply {
    let ticket = call.org.authorizations.begin(entry)
    var reply = AuthorizePages.login(
      entry.request, at: action, ticket: ticket, username: username, problem: problem)
    // SameSite=Strict: no other site can send the cookie along, so tickets work only from this
    // browser's own pages.
    reply.headers.append(cookie(Self.ticketName, entry.browser, sameSite: "Strict"))
    return reply
  }

  func approvalPage(_ request: AuthorizationRequest, user: String, username: String) -> ServerReply {
    let browser = ticketCookie ?? RandomText.make(43)
    let ticket = call.org.authorizations.begin(.init(request: request, browser: browser, user: user, created: now))
    var reply = AuthorizePages.approval(request, at: action, user: username, ticket: ticket)
    if ticketCookie == nil { reply.headers.append(cookie(Self.ticketName, browser, sameSite: "Strict")) }
    return reply
  }

  private var action: String { call.request.mountPath + "/services/oauth2/authorize" }

  // MARK: Cookies

  /// SameSite=Lax: a browser that follows a link from an app's page is still signed in.
  func sessionCookie(_ id: String) -> (name: String, value: String) { cookie(Self.sessionName, id, sameSite: "Lax") }

  private func cookie(_ name: String, _ value: String, sameSite: String) -> (name: String, value: String) {
    let secure = call.request.scheme == "https" ? "; Secure" : ""
    let path = "\(call.request.mountPath)/services/oauth2"
    return ("Set-Cookie", "\(name)=\(value); Path=\(path); HttpOnly; SameSite=\(sameSite)\(secure)")
  }

  private static func cookie(_ name: String, _ request: ServerRequest) -> String? {
    for pair in (request.header("cookie") ?? "").split(separator: ";") {
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
      if parts.count == 2, parts[0] == name, parts[1].utf8.count == 43 { return String(parts[1]) }
    }
    return nil
  }
}
