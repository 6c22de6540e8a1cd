/// The pages a user sees while authorizing a client: plain HTML without scripts or external
/// resources.
enum AuthorizePages {
  /// - Parameter path: The target of the form.
  static func login(
    _ request: AuthorizationRequest, at path: String, ticket: String, username: String, problem: String?
  ) -> ServerReply {
    page(
      problem == nil ? 200 : 403, "Sign in",
      """
      <p>to use the sandbox org with <b>\(escaped(request.client))</b></p>
      \(problem.map { "<p role=\"alert\" class=\"problem\">\(escaped($0))</p>" } ?? "")
      <form method="post" action="\(escaped(path))">
      <input type="hidden" name="ticket" value="\(ticket)">
      <label>User name
      <input id="username" name="username" autocomplete="username" required value="\(escaped(username))"></label>
      <label>Password
      <input id="password" name="password" type="password" autocomplete="current-password" required></label>
      <button id="login">Log in</button>
      </form>
      """)
  }

  static func approval(_ request: AuthorizationRequest, at path: String, user: String, ticket: String) -> ServerReply {
    let scopes = request.scope.split(separator: " ").map { "<li>\(escaped(String($0)))</li>" }.joined()
    return page(
      200, "Allow access?",
      """
      <p><b>\(escaped(request.client))</b> asks for access to the sandbox org as <b>\(escaped(user))</b>:</p>
      <ul>\(scopes)</ul>
      <form method="post" action="\(escaped(path))">
      <input type="hidden" name="ticket" value="\(ticket)">
      <button id="allow" name="decision" value="allow">Allow</button>
      <button id="deny" name="decision" value="deny">Deny</button>
      </form>
      """)
  }

  /// For requests that must not be sent back: the client or its address is not known.
  static func error(_ refusal: OAuthRefusal) -> ServerReply { error(refusal.error, refusal.description, status: 400) }

  static func error(_ error: String, _ description: String, status: Int) -> ServerReply {
    page(
      status, "This cannot be done",
      "<p>The application's request is wrong:</p><p><code>error=\(escaped(error))&amp;error_description="
        + "\(escaped(description))</code></p>")
  }

  static var stale: ServerReply {
    page(400, "Please start again", "<p>This page has expired. Go back to the application and sign in again.</p>")
  }

  static var foreign: ServerReply {
    page(403, "Not from here", "<p>Another site sent this form. Nothing was changed.</p>")
  }

  private static func page(_ status: Int, _ title: String, _ body: String) -> ServerReply {
    let html = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(title) | Sandbox org</title>
      <meta name="viewport" content="width=device-width">
      <style>body{font:16px sans-serif;max-width:24em;margin:4em auto}label{display:block;margin:1em 0}
      input{display:block;width:100%;font:inherit}.problem{color:#b00}</style></head>
      <body><h1>\(title)</h1>
      \(body)
      </body></html>

      """
    var reply = ServerReply.text(status, html, type: "text/html;charset=UTF-8")
    reply.headers += [
      ("Cache-Control", "no-store"), ("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "same-origin"),
      ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"),
    ]
    return reply
  }

  /// Escapes text for element content and quoted attributes.
  static func escaped(_ text: String) -> String {
    var out = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      default: out.unicodeScalars.append(character)
      }
    }
    return out
  }
}
