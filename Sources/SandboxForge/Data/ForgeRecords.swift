import JSON
import SandboxServer

/// A user or an organisation.
struct Account: Sendable {
  let id: Int64
  let login: String
  let isOrganization: Bool
  var name: String
  let createdAt: Int64
  var updatedAt: Int64
}

struct Repository: Sendable {
  let id: Int64
  /// Counts all repositories of the forge, small: ids of issues are made of it.
  let serial: Int64
  let ownerId: Int64
  var name: String
  var description: String?
  var homepage: String?
  var language: String?
  var isPrivate: Bool
  let isFork: Bool
  var isArchived = false
  var hasIssues: Bool
  var hasWiki: Bool
  var stars: Int64
  var forks: Int64
  var size: Int64
  var openIssues: Int64
  var defaultBranch = "main"
  var topics: [String] = []
  /// Seconds since 1970 UTC, as all stamps here.
  let createdAt: Int64
  var updatedAt: Int64
  var pushedAt: Int64
}

/// An issue or a pull request: they share their numbers.
struct Issue: Sendable {
  let id: Int64
  let number: Int64
  let isPullRequest: Bool
  let author: String
  var title: String
  var body: String?
  var labels: [String]
  var assignees: [String]
  var isOpen: Bool
  var stateReason: String?
  var comments: Int64
  let createdAt: Int64
  var updatedAt: Int64
  var closedAt: Int64?
}

struct Comment: Sendable {
  let id: Int64
  /// Of the issue.
  let number: Int64
  let author: String
  var body: String
  let createdAt: Int64
  var updatedAt: Int64
}

/// Moments as the forge spells them: `2026-03-02T09:00:00Z`.
enum ForgeTime {
  static func text(_ seconds: Int64) -> JSONValue { .string(plain(seconds)) }
  static func plain(_ seconds: Int64) -> String { Timestamp.text(seconds).prefix(19) + "Z" }

  /// Seconds since 1970 UTC, a fraction rounded down; a day stands for its start.
  static func seconds(parsing text: String) -> Int64? {
    if let day = CivilDate(parsing: text) { return Int64(day.dayNumber) * 86_400 }
    return Timestamp.milliseconds(parsing: text).map { $0 >= 0 ? $0 / 1_000 : ($0 - 999) / 1_000 }
  }
}
