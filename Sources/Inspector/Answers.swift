import JSON
import Tureen

extension LoopbackAnswer {
  /// The headers of every answer: the page loads nothing from elsewhere, runs no text as script, and no other page may embed,
  /// open or read it.
  static let protection: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
  ]

  static func json(_ status: Int, _ body: [UInt8], headers: [(name: String, value: String)] = []) -> LoopbackAnswer {
    LoopbackAnswer(status: status, headers: [("Content-Type", "application/json")] + headers + protection, body: body)
  }

  static func json(_ status: Int, _ value: JSONValue) -> LoopbackAnswer { json(status, value.serialized()) }

  static func error(_ error: APIError) -> LoopbackAnswer {
    let object: JSONObject = [
      "domain": "inspector", "code": .string(error.code), "message": .string(error.message),
      "retryable": .bool(error.isRetryable),
    ]
    return json(error.status, JSONValue.object(object).serialized(), headers: error.headers)
  }

  static func asset(_ asset: Asset) -> LoopbackAnswer {
    LoopbackAnswer(status: 200, headers: [("Content-Type", asset.type)] + protection, body: asset.bytes)
  }

  static let eventStream = LoopbackAnswer(
    status: 200, headers: [("Content-Type", "text/event-stream")] + protection)
}
