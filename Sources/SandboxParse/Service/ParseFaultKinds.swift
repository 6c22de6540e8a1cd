import JSON
import SandboxServer

/// Faults inside the Parse server, in addition to those of any HTTP service.
package enum ParseFaultKinds {
  package static let all: [FaultKind] = [
    FaultKind(
      "shuffledBatch", .service, "Runs the items of a batch in random order; the results keep their order.", applies: isBatch
    ) { _ in
      .service(isAnswered: true)
    },
    FaultKind(
      "tiedStamps", .service, "Rounds the timestamps of writes down, so that many are equal.",
      [FaultParameter("milliseconds", .integer(1...86_400_000), 1_000, "the step to round to")], applies: isWrite
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "staleStamps", .service, "Puts the timestamps of writes into the past, as a late commit does.",
      [FaultParameter("milliseconds", .integer(1...86_400_000), 10_000, "how far")], applies: isWrite
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "loweredLimit", .service, "Returns shorter pages than requested, silently.",
      [FaultParameter("limit", .integer(1...1_000), 10, "maximum number of objects per page")], applies: isParse
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "lockedClass", .service, "Denies access to a class: 400 with code 119.",
      [
        FaultParameter("className", .text, "Book", "the class"),
        FaultParameter("action", .text, "find", "the denied operation, for the message"),
      ], applies: isParse
    ) { draw in
      let className = draw.text("className") ?? "", action = draw.text("action") ?? ""
      let error = ParseError(
        .operationForbidden, "Permission denied for action \(action) on class \(className).")
      return .answer(error.reply, executed: false)
    },
    FaultKind("invalidToken", .service, "Rejects the session token: 400 with code 209.", applies: hasToken) { _ in
      .answer(ParseError.invalidSession.reply, executed: false)
    },
    FaultKind(
      "internalError", .service, "Answers 500 with code 1 and a message.",
      [FaultParameter("executed", .boolean, false, "the service handles the request all the same; its response is lost")],
      applies: isParse
    ) { .answer(ParseError.internalError, executed: $0.flag("executed")) },
  ]

  // MARK: Requests

  private static let roots: Set = [
    "classes", "users", "roles", "sessions", "installations", "batch", "login", "logout", "loginas", "schemas", "purge",
    "config", "functions", "serverinfo", "files", "health", "aggregate",
  ]

  private static func isParse(_ request: ServerRequest) -> Bool {
    if request.mountPath.isEmpty { return roots.contains(request.segments.first?.lowercased() ?? "") }
    return ParseService.mountPaths.contains(request.mountPath)
  }

  private static func isBatch(_ request: ServerRequest) -> Bool { isParse(request) && request.segments == ["batch"] }

  /// Returns true for writes. A read that is sent as a POST and declares itself in its body is not
  /// one.
  private static func isWrite(_ request: ServerRequest) -> Bool {
    guard isParse(request), ["POST", "PUT", "DELETE"].contains(request.method) else { return false }
    guard request.method == "POST", let body = try? JSONValue(parsing: request.body) else { return true }
    return body["_method"] != "GET"
  }

  private static func hasToken(_ request: ServerRequest) -> Bool {
    guard isParse(request) else { return false }
    if request.header("x-parse-session-token") != nil { return true }
    return (try? JSONValue(parsing: request.body))?["_SessionToken"]?.stringValue != nil
  }
}
