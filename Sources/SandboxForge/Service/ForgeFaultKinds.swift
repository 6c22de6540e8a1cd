import JSON
import SandboxServer

/// Faults inside the forge, in addition to those of any HTTP service.
package enum ForgeFaultKinds {
  package static let all: [FaultKind] = [
    FaultKind(
      "primaryLimit", .service, "Answers that the hourly limit is used up: 403 with x-ratelimit-remaining 0.",
      [
        FaultParameter("reset", .integer(0...86_400), 2, "seconds until x-ratelimit-reset"), status,
      ], applies: isForge
    ) { draw in
      let reset = draw.now + Int64(draw.integer("reset") ?? 2)
      let window = RateLimits.Window(limit: 60, used: 60, reset: reset)
      var reply = ForgeError(status: draw.integer("status") ?? 403, message: "API rate limit exceeded for 127.0.0.1.").reply
      reply.headers += window.headers(.core)
      return .answer(reply, executed: false)
    },
    FaultKind(
      "secondaryLimit", .service, "Answers that the secondary limit is exceeded: 403 with a message that names it.",
      [FaultParameter("retryAfter", .integer(0...86_400), .null, "Retry-After in seconds"), status], applies: isForge
    ) { draw in
      let seconds = draw.integer("retryAfter").map { Int64($0) }
      return .answer(ForgeError.secondaryLimit(draw.integer("status") ?? 403, seconds).reply, executed: false)
    },
    FaultKind("computing", .service, "Answers that the list is still being computed: 202 without a body.", applies: isList) { _ in
      .answer(.empty(202), executed: false)
    },
    FaultKind("ignorePageSize", .service, "Ignores per_page.", applies: isList) { _ in .service(isAnswered: true) },
    FaultKind("emptyPage", .service, "Removes the items of a page but keeps its links.", applies: isList) { _ in
      .change { reply in changeItems(of: &reply) { _ in [] } }
    },
    FaultKind(
      "duplicateItems", .service, "Repeats the last items of a page.",
      [FaultParameter("count", .integer(1...100), 1, "how many")], applies: isList
    ) { draw in
      .change { reply in changeItems(of: &reply) { $0 + $0.suffix(draw.integer("count") ?? 1) } }
    },
    FaultKind(
      "missingIds", .service, "Removes the id from items of a page.",
      [FaultParameter("step", .integer(1...100), 2, "every k-th item of the page is affected")],
      applies: isList
    ) { draw in .change { reply in dropIds(&reply, draw.integer("step") ?? 2) } },
    FaultKind(
      "skewedStamps", .service, "Stamps the request's changes by a clock that is off.",
      [
        FaultParameter(
          "seconds", .integer(-ServerTuning.faultSeconds...ServerTuning.faultSeconds), -60,
          "the offset; negative values are in the past")
      ], applies: { isForge($0) && !["GET", "HEAD"].contains($0.method) }
    ) { _ in .service(isAnswered: true) },
  ]

  private static let status = FaultParameter("status", .integer(403...429), 403, "403 or 429")

  // MARK: Requests

  private static let roots: Set = [
    "repos", "repositories", "orgs", "organizations", "users", "user", "search", "rate_limit", "avatars",
  ]
  private static let lists: Set = ["repos", "repositories", "issues", "comments", "users", "organizations"]

  private static func isForge(_ request: ServerRequest) -> Bool {
    request.mountPath.isEmpty ? roots.contains(request.segments.first ?? "") : request.mountPath == ForgeService.mountPath
  }

  private static func isList(_ request: ServerRequest) -> Bool {
    isForge(request) && request.method == "GET" && lists.contains(request.segments.last ?? "")
  }

  // MARK: Faults that the service causes

  static func settings(_ settings: ForgeSettings, for request: ServerRequest) -> ForgeSettings {
    var settings = settings
    if request.faults.contains(where: { $0.kind == "ignorePageSize" }) { settings.ignoresPageSize = true }
    return settings
  }

  static func stampSkew(of request: ServerRequest) -> Int64 {
    request.faults.filter { $0.kind == "skewedStamps" }.reduce(0) { $0 + Int64($1.integer("seconds") ?? 0) }
  }

  // MARK: Changed responses

  private static func dropIds(_ reply: inout ServerReply, _ step: Int) {
    changeItems(of: &reply) { items in
      items.enumerated().map { index, item in
        guard (index + 1) % step == 0, var object = item.objectValue else { return item }
        object["id"] = nil
        return .object(object)
      }
    }
  }

  /// Changes the items of a list, whether it is the body or a member of it.
  private static func changeItems(of reply: inout ServerReply, _ change: ([JSONValue]) -> [JSONValue]) {
    guard reply.status == 200, let value = try? JSONValue(parsing: reply.body) else { return }
    if let items = value.arrayValue {
      reply.body = JSONValue.array(change(items)).serialized()
    } else if var object = value.objectValue {
      for (name, member) in object where member.arrayValue != nil { object[name] = .array(change(member.arrayValue ?? [])) }
      reply.body = JSONValue.object(object).serialized()
    }
  }
}
