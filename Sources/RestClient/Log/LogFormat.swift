import JSON
import Synchronization

/// How the log on stderr and the request log are written: as text, or as one JSON object a line.
package enum LogFormat: String, CaseIterable, Sendable {
  case text, json

  private static let isJSON = Atomic<Bool>(false)

  /// The format of this process.
  package static var current: LogFormat { isJSON.load(ordering: .relaxed) ? .json : .text }

  package static func choose(_ format: LogFormat) { isJSON.store(format == .json, ordering: .relaxed) }
}

/// A line of a log in JSON.
package enum LogLine {
  /// The members of every line. Others that have such a name get an underscore.
  private static let own: Set<String> = ["time", "level", "label", "message"]

  /// - Parameters:
  ///   - time: Seconds since 1970 UTC.
  ///   - level: A level of swift-log.
  ///   - label: The part of the program that logs, such as `tureen.sync`.
  ///   - metadata: The facts of the message, one by one.
  /// - Returns: The line with its line break. Characters that control terminals are escaped.
  package static func json(
    time: Double, level: String, label: String, message: String, _ metadata: JSONObject = [:]
  ) -> String {
    var line: JSONObject = [
      "time": .string(LogText.time(time)), "level": .string(level), "label": .string(label), "message": .string(message),
    ]
    for (key, value) in metadata { line[own.contains(key) ? key + "_" : key] = value }
    return LogText.escapedJSON(JSONValue.object(line).text) + "\n"
  }
}
