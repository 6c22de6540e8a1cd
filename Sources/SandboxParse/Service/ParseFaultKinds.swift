import JSON
import SandboxServer

/// What can go wrong inside the Parse server, beside the faults of any HTTP service.
package enum ParseFaultKinds {
  package static let all: [FaultKind] = [
    FaultKind("shuffledBatch", .service, "Items of a batch run in a random order; the results stay in theirs.", applies: isBatch)
    { _ in
      .service(isHeard: true)
    },
    FaultKind(
      "tiedStamps", .service, "Stamps of writes are cut, so that many are equal.",
      [FaultParameter("milliseconds", .integer(1...86_400_000), 1_000, "the step they are cut to")], applies: isWrite
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "staleStamps", .service, "Stamps of writes lie in the past: a late commit.",
      [FaultParameter("milliseconds", .integer(1...86_400_000), 10_000, "how far")], applies: isWrite
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "loweredLimit", .service, "Pages are shorter than was asked for, without a word.",
      [FaultParameter("limit", .integer(1...1_000), 10, "objects of a page at most")], applies: isParse
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "lockedClass", .service, "The class refuses: 400 with code 119.",
      [
        FaultParameter("className", .text, "Book", "the class"),
        FaultParameter("action", .text, "find", "what its permissions deny, for the text"),
      ], applies: isParse
    ) { draw in
      let className = draw.text("className") ?? "", action = draw.text("action") ?? ""
      let error = ParseError(
        .operationForbidden, "Permission denied for action \(action) on class \(className).")
      return .answer(error.reply, executed: false)
    },
    FaultKind("invalidToken", .service, "The session token is over: 400 with code 209.", applies: hasToken) { _ in
      .answer(ParseError.invalidSession.reply, executed: false)
    },
    FaultKind(
      "internalError", .service, "500 with code 1 and a message.",
      [FaultParameter("executed", .boolean, false, "the service does what was asked all the same; its answer is lost")],
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

  /// Writes, also those that the body declares: a read that is sent as a POST is none.
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
