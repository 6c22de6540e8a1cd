/// Maps paths and methods to handlers of any API.
package struct RouteTable<Handler: Sendable>: Sendable {
  package struct Match: Sendable {
    package let handler: Handler
    package let parameters: [String: String]
  }
  package enum Outcome: Sendable {
    case found(Match)
    /// The path exists, but not with this method.
    case wrongMethod(allowed: [String])
    case none
  }
  private struct Route: Sendable {
    let method: String
    let pattern: [String]
    let handler: Handler
  }

  private var routes: [Route] = []

  package init() {}

  /// - Parameter pattern: A path such as `/sobjects/:type/:id`; a segment with a colon matches any
  ///   text. Other segments are compared without case. The route added first wins.
  package mutating func add(_ method: String, _ pattern: String, _ handler: Handler) {
    routes.append(Route(method: method, pattern: pattern.split(separator: "/").map(String.init), handler: handler))
  }

  package func outcome(_ method: String, _ segments: [String]) -> Outcome {
    var allowed: Set<String> = []
    var literals = -1
    for route in routes {
      guard let parameters = Self.parameters(route.pattern, segments) else { continue }
      // If a pattern with more literal segments matches under another method, this route does not
      // apply.
      let exactness = route.pattern.count - parameters.count
      if exactness < literals { continue }
      literals = exactness
      if route.method == method || (method == "HEAD" && route.method == "GET") {
        return .found(Match(handler: route.handler, parameters: parameters))
      }
      allowed.insert(route.method)
      if route.method == "GET" { allowed.insert("HEAD") }
    }
    let order = ["HEAD", "GET", "POST", "PUT", "PATCH", "DELETE"]
    return allowed.isEmpty ? .none : .wrongMethod(allowed: order.filter { allowed.contains($0) })
  }

  private static func parameters(_ pattern: [String], _ segments: [String]) -> [String: String]? {
    guard pattern.count == segments.count else { return nil }
    var parameters: [String: String] = [:]
    for (part, segment) in zip(pattern, segments) {
      if part.hasPrefix(":") {
        parameters[String(part.dropFirst())] = segment
      } else if part.lowercased() != segment.lowercased() {
        return nil
      }
    }
    return parameters
  }
}
