import JSON
import RestClient

/// The request log that a person or a program has chosen. Overrides the settings of connections.
public struct RequestLogSettings: Sendable, Equatable {
  public var level: RequestLogLevel
  /// The file's path; nil for stderr.
  public var file: String?

  public init(level: RequestLogLevel, file: String? = nil) {
    self.level = level
    self.file = file
  }

  /// Reads `TUREEN_LOG_REQUESTS` and `TUREEN_LOG_REQUESTS_FILE`.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an unknown level.
  static func environment() throws -> RequestLogSettings? {
    guard let word = Environment["TUREEN_LOG_REQUESTS"] else { return nil }
    guard let level = level(word) else { throw HostError(.invalidConfiguration, "TUREEN_LOG_REQUESTS: \(complaint(word))") }
    return RequestLogSettings(level: level, file: Environment["TUREEN_LOG_REQUESTS_FILE"].map { HostSettings.absolute($0) })
  }

  public static func level(_ word: String) -> RequestLogLevel? { RequestLogLevel(rawValue: word.lowercased()) }

  public static func complaint(_ word: String) -> String {
    "'\(word)' is not a level" + NearestName.hint(for: word, among: RequestLogLevel.allCases.map(\.rawValue))
  }

  var log: RequestLog { RequestLog(level: level, file: file) }
}
