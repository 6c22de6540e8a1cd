import MobileSync
import RestClient
import SmartStore

/// Fetches the files that the rows of a collection name, once the rows are stored. What goes wrong is a warning of the run.
///
/// - Note: Source: the reference of link-paged and generic JSON REST collections, section 2.9.
struct CollectionAssets: Sendable {
  let target: RestTarget
  let connection: RestConnection
  let folder: AssetFolder
  let context: FetchContext

  /// Requests in flight; the connection's own limit holds as well.
  private static let parallel = 4
  /// Bytes of one file: pictures have less, and four of them are in memory at once.
  static let largest = 16 * 1024 * 1024
  /// Milliseconds for which a URL that failed is not asked for again.
  static let memoryMs: Int64 = 24 * 3600 * 1000

  private enum Outcome: Sendable {
    case stored
    /// Remembered.
    case failed(String)
    /// Not asked for: it is of another origin.
    case refused(String)
    /// Nothing can be fetched now, such as without a network; the next run goes on.
    case ended(String)
  }

  private struct Counts {
    var failed = 0, refused = 0
    /// About the first one of each.
    var failure = "", refusal = ""
    var end: String?
  }

  /// - Returns: What people should know of it, in sentences.
  /// - Throws: `CancellationError`.
  func fetch() async throws -> [String] {
    var warnings: [String] = []
    for asset in target.assets {
      let field = asset.field.text
      let wanted: [String]
      do {
        wanted = try await missing(field)
      } catch {
        warnings.append("assets of '\(field)' were not fetched: \(error)")
        continue
      }
      let counts = try await fetch(wanted)
      warnings += sentences(counts, field)
      if counts.end != nil { break }
    }
    return warnings
  }

  /// URLs that have no file yet, and whose last failure is long ago.
  private func missing(_ field: String) async throws -> [String] {
    let now = context.configuration.now()
    return try await context.values(at: field).filter { url in
      guard !url.isEmpty, !folder.has(url, connection.name) else { return false }
      guard let failure = folder.failure(url, connection.name) else { return true }
      return !(failure.at...failure.at + CollectionAssets.memoryMs).contains(now)
    }.sorted()
  }

  private func fetch(_ urls: [String]) async throws -> Counts {
    var counts = Counts(), rest = urls[...]
    try await withThrowingTaskGroup(of: (url: String, outcome: Outcome).self) { group in
      func begin() {
        guard counts.end == nil, let url = rest.popFirst() else { return }
        group.addTask { (url, try await fetch(url)) }
      }
      for _ in 0..<CollectionAssets.parallel { begin() }
      while let (url, outcome) = try await group.next() {
        switch outcome {
        case .stored: break
        case .failed(let reason):
          if counts.failed == 0 { counts.failure = "\(Redaction.url(url)): \(reason)" }
          counts.failed += 1
        case .refused(let reason):
          if counts.refused == 0 { counts.refusal = reason }
          counts.refused += 1
        case .ended(let reason): counts.end = counts.end ?? reason
        }
        begin()
      }
    }
    return counts
  }

  private func fetch(_ url: String) async throws -> Outcome {
    try context.control.check()
    do {
      // One try: a picture is not worth minutes of the sync.
      let response = try await connection.send(RestRequest(.GET, url, isRepeatable: false))
      guard response.body.count > 0 else { return remember("the server sent nothing", url) }
      guard response.body.count <= CollectionAssets.largest else {
        return remember("\(response.body.count) bytes are more than \(CollectionAssets.largest)", url)
      }
      let bytes = response.body.withUnsafeBytes { Array($0) }
      try folder.store(bytes, contentType: response.header("Content-Type") ?? "", of: url, connection.name)
      return .stored
    } catch let error as RestError {
      return try outcome(error, url)
    } catch {
      return .ended("\(error)")
    }
  }

  private func outcome(_ error: RestError, _ url: String) throws -> Outcome {
    switch error.code {
    case .cancelled, .shutDown: throw CancellationError()
    case .invalidURL where error.outcome == .notSent: return .refused(error.message)
    // Without a request nothing is known of the URL.
    case .httpStatus where error.outcome == .notSent: return .ended(error.message)
    case .httpStatus, .responseTooLarge, .invalidBody, .redirectRefused: return remember(error.message, url)
    default: return .ended(error.message)
    }
  }

  private func remember(_ reason: String, _ url: String) -> Outcome {
    do {
      try folder.note(AssetFolder.Failure(reason: reason, at: context.configuration.now()), of: url, connection.name)
    } catch {
      return .ended("\(error)")
    }
    return .failed(reason)
  }

  private func sentences(_ counts: Counts, _ field: String) -> [String] {
    var said: [String] = []
    if counts.failed > 0 {
      said.append(
        "\(counts.failed) of the files that '\(field)' names cannot be had and are asked for again after 24 hours; "
          + "the first one: \(counts.failure)")
    }
    if counts.refused > 0 {
      said.append("\(counts.refused) of the files that '\(field)' names were not asked for; the first one: \(counts.refusal)")
    }
    if let end = counts.end { said.append("not all files that '\(field)' names were fetched, the next run goes on: \(end)") }
    return said
  }
}
