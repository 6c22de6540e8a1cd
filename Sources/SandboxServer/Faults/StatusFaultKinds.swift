import JSON

// Kinds of faults that replace the service's response.
extension HTTPFaultKinds {
  private static let retry = [
    FaultParameter("retryAfter", .integer(0...ServerTuning.faultSeconds), .null, "Retry-After in seconds"),
    FaultParameter(
      "retryAfterDate", .integer(0...ServerTuning.faultSeconds), .null,
      "Retry-After as an HTTP date, this many seconds after the server's time in the Date header"),
  ]
  private static let executed = FaultParameter(
    "executed", .boolean, false, "the service handles the request all the same; its response is lost")

  static let status: [FaultKind] = [
    FaultKind("tooManyRequests", .status, "Answers 429 without handling the request.", retry) {
      refusal($0, 429, "TOO_MANY_REQUESTS", "too many requests")
    },
    FaultKind("unavailable", .status, "Answers 503 without handling the request.", retry) {
      refusal($0, 503, "SERVER_UNAVAILABLE", "the server is overloaded")
    },
    FaultKind(
      "serverError", .status, "Answers 500, 502 or 504.",
      [FaultParameter("status", .integer(500...599), 500, "such as 500, 502 or 504"), executed]
    ) { draw in
      let status = draw.integer("status") ?? 500
      guard status != 502, status != 504 else { return .answer(page(status), executed: draw.flag("executed")) }
      let refusal = ServerRefusal(status: status, code: "UNKNOWN_EXCEPTION", message: "an unexpected error occurred")
      return .refuse(refusal, headers: [], executed: draw.flag("executed"))
    },
    FaultKind(
      "htmlPage", .status, "Answers with an HTML page instead of the service's response.",
      [FaultParameter("status", .integer(200...599), 200, "such as 200 or 503"), executed]
    ) { .answer(page($0.integer("status") ?? 200), executed: $0.flag("executed")) },
    FaultKind(
      "answer", .status, "Answers with the given response instead of the service's.",
      [
        FaultParameter("status", .integer(200...599), 200, "the status"), FaultParameter("body", .text, "", "the body"),
        FaultParameter("contentType", .text, "application/json;charset=UTF-8", "the content type"), executed,
      ], sample: ["status": 418, "body": "{}"]
    ) { draw in
      let type = draw.text("contentType") ?? ""
      let body = Array((draw.text("body") ?? "").utf8)
      return .answer(
        ServerReply(status: draw.integer("status") ?? 200, headers: [("Content-Type", type)], body: body),
        executed: draw.flag("executed"))
    },
    FaultKind(
      "redirect", .status, "Redirects the client.",
      [
        FaultParameter("location", .text, "/moved", "the target"),
        FaultParameter("status", .integer(300...399), 302, "such as 301, 302, 303, 307 or 308"),
      ]
    ) { draw in
      var reply = page(draw.integer("status") ?? 302)
      reply.headers.append(("Location", draw.text("location") ?? "/"))
      return .answer(reply, executed: false)
    },
  ]

  private static func refusal(_ draw: FaultDraw, _ status: Int, _ code: String, _ message: String) -> FaultEffect {
    var headers: [(name: String, value: String)] = []
    if let seconds = draw.integer("retryAfter") { headers.append(("Retry-After", "\(seconds)")) }
    if let seconds = draw.integer("retryAfterDate") {
      headers.append(("Retry-After", HTTPDate.text(draw.now + Int64(seconds))))
    }
    return .refuse(ServerRefusal(status: status, code: code, message: message), headers: headers, executed: false)
  }

  private static func page(_ status: Int) -> ServerReply {
    let text = """
      <!DOCTYPE html>
      <html><head><title>\(status)</title></head>
      <body><h1>We are working on it</h1><p>The site is down for maintenance; please try again later.</p></body></html>

      """
    return ServerReply(status: status, headers: [("Content-Type", "text/html;charset=UTF-8")], body: Array(text.utf8))
  }
}
