/// The final page of a sign-in in the browser: plain HTML without scripts or external resources.
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

  /// The page for a browser that has waited for the longest allowed time.
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
    return LoopbackAnswer(status: status, headers: [("Content-Type", "text/html; charset=utf-8")] + protection, text: html)
  }

  static func redirect(_ path: String) -> LoopbackAnswer {
    LoopbackAnswer(status: 303, headers: [("Location", path)] + protection)
  }

  static var notAllowed: LoopbackAnswer {
    var answer = page(405, "Not allowed", "Only a browser's GET is answered here.")
    answer.headers.append(("Allow", "GET, OPTIONS"))
    return answer
  }

  /// Answers a preflight request, so that Chromium follows a redirect from the internet to this machine. Other pages still cannot
  /// read the response to the actual request, which lacks these headers.
  static func preflight(_ origin: String?) -> LoopbackAnswer {
    let from = origin.map { [(name: "Access-Control-Allow-Origin", value: $0)] } ?? []
    return LoopbackAnswer(
      status: 204,
      headers: from + [
        ("Access-Control-Allow-Private-Network", "true"), ("Access-Control-Allow-Methods", "GET"), ("Vary", "Origin"),
      ] + protection)
  }

  /// Headers that keep the URL, which contains the code, out of caches and of the `Referer` header.
  private static let protection: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    (
      "Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
  ]

  /// Escapes text for HTML, because it contains text from servers.
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
