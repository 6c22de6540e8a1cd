import JSON
import MobileSync
import RestClient

/// Requests pages and records over a target's connection.
struct CollectionClient: Sendable {
  let target: RestTarget
  let connection: RestConnection
  let context: FetchContext
  private let cache: CacheMode
  private let usesResponseCache: Bool

  /// - Parameter mode: nil uses the target's own cache mode.
  init(_ target: RestTarget, _ connection: RestConnection, _ context: FetchContext, cache mode: CacheMode? = nil) {
    self.target = target
    self.connection = connection
    self.context = context
    let own = target.cache.flatMap { CacheMode(rawValue: $0.rawValue) }
    cache = mode ?? own ?? .revalidate
    // The soup holds the records, so a second copy of each page would cost half as much again as
    // storing them.
    usesResponseCache = own != nil
  }

  /// Requests a page.
  ///
  /// - Parameters:
  ///   - conditions: Headers that make the request conditional.
  ///   - expected: Error statuses that are not logged as warnings.
  /// - Throws: `RestError`; `CancellationError` if the run was stopped.
  func page(
    _ request: PageRequest, _ conditions: [TextPair] = [], expecting expected: [Int] = []
  ) async throws -> ConnectionResponse {
    try await send(request.restRequest(conditions), expecting: expected)
  }

  /// - Parameter more: Headers in addition to the target's.
  func send(
    _ request: RestRequest, _ more: RecordHeaders? = nil, expecting expected: [Int] = []
  ) async throws -> ConnectionResponse {
    try context.control.check()
    // The target's secrets only go to the connection of its list.
    let isElsewhere = connection.name != target.connection
    let own = isElsewhere ? target.headers.filter { !$0.isSecret } : target.headers
    var request = request
    for pair in more?.texts ?? [] { request.headers.append((pair.name, pair.value)) }
    var options = ConnectionOptions(
      cache: cache, sameOrigin: target.staysOnOrigin, headers: own.map(\.setting) + (more?.secrets ?? []))
    options.usesResponseCache = usesResponseCache
    options.expectedStatuses = Set(expected)
    return try await connection.send(request, options)
  }
}

extension PageRequest {
  /// - Parameter conditions: Headers that make the request conditional.
  func restRequest(_ conditions: [TextPair] = []) -> RestRequest {
    RestRequest(
      HTTPMethod(rawValue: method.rawValue) ?? .GET, url, headers: (headers + conditions).map { ($0.name, $0.value) },
      body: body.map { JSONValue.object($0).serialized() }, isRepeatable: true)
  }
}

extension HeaderField {
  /// The header in the form that connections use.
  var setting: ConnectionSettings.Header {
    switch value {
    case .text(let text): ConnectionSettings.Header(name, .text(text))
    case .secret(.environment(let name)): header(.environment(name))
    case .secret(.file(let path)): header(.file(path))
    case .secret(.command(let words)): header(.command(words))
    }
  }

  private func header(_ source: SecretSource) -> ConnectionSettings.Header {
    ConnectionSettings.Header(name, .secret(.source(source)))
  }
}

extension PageAnswer {
  init(_ response: ConnectionResponse) {
    self.init(url: response.url, status: response.status, headers: response.response.headers)
  }
}

extension PageReader {
  /// - Throws: ``SyncError`` `.unexpectedAnswer` if the response is not a page of the target.
  func read(_ response: ConnectionResponse, number: Int) throws(SyncError) -> CollectionPage {
    do throws(RestPageError) {
      return try response.body.withUnsafeBytes { (bytes) throws(RestPageError) in
        try read(bytes, of: PageAnswer(response), page: number) { BodySlice(response.body, $0) }
      }
    } catch {
      throw SyncError(error)
    }
  }
}
