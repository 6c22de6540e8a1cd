import MobileSync
import RestClient
import SmartStore

/// Downloads the files that a collection's rows refer to, after the rows are stored. Failures
/// become warnings of the run.
///
/// - Note: Source: the reference of link-paged and generic JSON REST collections, section 2.9.
struct CollectionAssets: Sendable {
  let target: RestTarget
  let connection: RestConnection
  let folder: AssetFolder
  let context: FetchContext

  /// Requests in flight; the connection's own limit applies as well.
  private static let parallel = 4
  /// Maximum bytes of one file. Pictures are smaller, and four files are in memory at once.
  static let largest = 16 * 1024 * 1024
  /// Milliseconds before a failed URL is requested again.
  static let memoryMs: Int64 = 24 * 3600 * 1000

  private enum Outcome: Sendable {
    case stored
    /// The failure was recorded.
    case failed(String)
    /// Not requested, because the URL has another origin.
    case refused(String)
    /// No download is possible now, for example without a network; the next run continues.
    case ended(String)
  }

  private struct Counts {
    var failed = 0, refused = 0
    /// Describes the first failure and the first refusal.
    var failure = "", refusal = ""
    var end: String?
  }

  /// Downloads the missing files.
  ///
  /// - Returns: Warnings for the user, one sentence each.
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

  /// Returns URLs without a file, except those that failed recently.
  private func missing(_ field: String) async throws -> [String] {
    let now = context.configuration.now()
    return try await context.values(at: field).filter { url in
      guard !url.isEmpty, try !folder.has(url, connection.name) else { return false }
      guard let failure = try folder.failure(url, connection.name) else { return true }
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
      // A single attempt: a picture must not delay the sync for minutes.
      let response = try await connection.send(RestRequest(.GET, url, isRepeatable: false))
      guard response.body.count > 0 else { return remember("the server sent nothing", url) }
      guard response.body.count <= CollectionAssets.largest else {
        return remember("\(response.body.count) bytes exceed the limit of \(CollectionAssets.largest)", url)
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
    case .restricted: return .refused(error.message)
    // Nothing was sent, so this says nothing about the URL.
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
        "\(counts.failed) of the files in '\(field)' could not be fetched and are retried after 24 hours; "
          + "the first one: \(counts.failure)")
    }
    if counts.refused > 0 {
      said.append("\(counts.refused) of the files in '\(field)' were not requested; the first one: \(counts.refusal)")
    }
    if let end = counts.end { said.append("not all files in '\(field)' were fetched; the next run continues: \(end)") }
    return said
  }
}
