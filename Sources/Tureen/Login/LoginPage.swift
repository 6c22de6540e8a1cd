/// The page that tells a person in the browser how a sign-in ended: plain HTML, no scripts, nothing from elsewhere.
struct LoginPage: Sendable, Equatable {
  let isGood: Bool
  let title: String
  let text: String

  static func done(user: String, org: String) -> LoginPage {
    LoginPage(isGood: true, title: "Signed in", text: "Tureen is signed in as \(user) to \(org). You can close this page.")
  }

  static func failed(_ message: String) -> LoginPage {
    LoginPage(isGood: false, title: "Not signed in", text: "\(message). You can close this page.")
  }

  /// For a browser that was held as long as it may be.
  static let late = LoginPage(
    isGood: false, title: "Still signing in", text: "The org has not answered yet. The terminal shows how the sign-in ends.")

  var answer: LoopbackAnswer { .page(200, title, text) }
}

extension LoopbackAnswer {
  static func page(_ status: Int, _ title: String, _ text: String) -> LoopbackAnswer {
    let html = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(escaped(title)) | Tureen</title>
      <meta name="viewport" content="width=device-width"></head>
      <body><h1>\(escaped(title))</h1>
      <p>\(escaped(text))</p>
      </body></html>

      """
    return LoopbackAnswer(status: status, headers: [("Content-Type", "text/html; charset=utf-8")] + protection, body: html)
  }

  static func redirect(_ path: String) -> LoopbackAnswer {
    LoopbackAnswer(status: 303, headers: [("Location", path)] + protection, body: "")
  }

  static var notAllowed: LoopbackAnswer {
    var answer = page(405, "Not allowed", "Only a browser's GET is answered here.")
    answer.headers.append(("Allow", "GET, OPTIONS"))
    return answer
  }

  /// Lets Chromium follow a redirect from the internet to this machine. The answer to the request that follows can be read by
  /// no other page all the same: it has no such header.
  static func preflight(_ origin: String?) -> LoopbackAnswer {
    let from = origin.map { [(name: "Access-Control-Allow-Origin", value: $0)] } ?? []
    return LoopbackAnswer(
      status: 204,
      headers: from + [
        ("Access-Control-Allow-Private-Network", "true"), ("Access-Control-Allow-Methods", "GET"), ("Vary", "Origin"),
      ] + protection, body: "")
  }

  /// The addresses of requests hold a code until it is exchanged: nothing keeps them and nothing passes them on.
  private static let protection: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    (
      "Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
  ]

  /// Text that is safe between tags: servers' words are in it.
  private static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
