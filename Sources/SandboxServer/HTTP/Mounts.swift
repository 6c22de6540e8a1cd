/// A service mounted next to the main one, under a path or under its own host name.
package struct Mount: Sendable {
  package enum Place: Sendable, Equatable {
    /// A path such as `/parse`; the service sees the segments after it.
    case prefix(String)
    /// A host name such as `api.forge.localhost`, without a port; case is ignored.
    case host(String)
  }
  package let place: Place
  package let service: any ServerService

  /// The base URL of the service.
  func url(on server: String) -> String {
    switch place {
    case .prefix(let path): return server + URLCoding.segments(path).map { "/" + $0 }.joined()
    case .host(let name):
      let scheme = server.prefix { $0 != ":" }, port = server.split(separator: ":").last.map { ":" + $0 } ?? ""
      return "\(scheme)://\(name)\(port)"
    }
  }

  package init(_ place: Place, _ service: any ServerService) {
    self.place = place
    self.service = service
  }
}

/// Chooses the service for a request: the mount with its host name, else the mount with the longest
/// prefix, else the main service.
package struct MountTable: Sendable {
  let main: any ServerService
  private let hosts: [String: any ServerService]
  private let prefixes: [(segments: [String], service: any ServerService)]

  init(main: any ServerService, mounts: [Mount] = []) {
    self.main = main
    var hosts: [String: any ServerService] = [:]
    var prefixes: [(segments: [String], service: any ServerService)] = []
    for mount in mounts {
      switch mount.place {
      case .host(let name): hosts[name.lowercased()] = mount.service
      case .prefix(let path): prefixes.append((URLCoding.segments(path), mount.service))
      }
    }
    self.hosts = hosts
    self.prefixes = prefixes.sorted { $0.segments.count > $1.segments.count }
  }

  /// All services, the main one first.
  var services: [any ServerService] {
    [main] + prefixes.map(\.service) + hosts.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The kinds of faults that the services add, without duplicates.
  var faultKinds: [FaultKind] {
    var names: Set<String> = []
    return services.flatMap(\.faultKinds).filter { names.insert($0.name).inserted }
  }

  /// - Returns: The service, and the request as that service sees it.
  func route(_ request: ServerRequest) -> (service: any ServerService, request: ServerRequest) {
    if let service = hosts[Self.name(request.header("host") ?? "")] { return (service, request) }
    for (prefix, service) in prefixes where request.segments.starts(with: prefix) {
      var inner = request
      inner.segments.removeFirst(prefix.count)
      inner.mountPath = prefix.map { "/" + $0 }.joined()
      return (service, inner)
    }
    return (main, main.received(request))
  }

  /// Returns the host of an authority without its port, in lower case.
  package static func name(_ authority: String) -> String {
    let text = authority.lowercased()
    if text.hasPrefix("[") { return String(text.prefix { $0 != "]" }) + "]" }
    return String(text.prefix { $0 != ":" })
  }
}
