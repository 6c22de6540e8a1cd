extension ExitStatus {
  /// The list of exit statuses of a command that reads a store and changes nothing.
  /// - Parameter failed: What status 1 means.
  static func helpOfReading(failed: String) -> String {
    help([
      (0, "done"), (1, failed), (64, "wrong usage"), (67, "the org or user is not known"),
      (78, "a configuration file is wrong; the message names file, line and key"),
    ])
  }

  /// The list of exit statuses for the end of a help. Its lines are wrapped here, because the parser would begin the second line
  /// of a meaning under the number.
  static func help(_ statuses: [(status: Int32, meaning: String)]) -> String {
    let indent = 7, width = 79
    var text = "\n\nExit status:"
    for (status, meaning) in complete(statuses) {
      var line = "  \(status)"
      line += String(repeating: " ", count: indent - line.count)
      var isFirst = true
      for word in meaning.split(separator: " ") {
        if !isFirst, line.count + 1 + word.count > width {
          text += "\n" + line
          line = String(repeating: " ", count: indent)
          isFirst = true
        }
        line += (isFirst ? "" : " ") + word
        isFirst = false
      }
      text += "\n" + line
    }
    return text
  }

  /// Adds the status that every command can end with.
  private static func complete(_ statuses: [(status: Int32, meaning: String)]) -> [(status: Int32, meaning: String)] {
    guard !statuses.contains(where: { $0.status == unavailable }) else { return statuses }
    let lost = (status: unavailable, meaning: "standard output cannot be written, such as on a full disk")
    return (statuses + [lost]).sorted { $0.status < $1.status }
  }
}
