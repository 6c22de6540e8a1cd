import JSON
import SandboxServer

/// A user or an organization.
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
  /// A small running number, from which the ids of the issues are derived.
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
  /// Seconds since 1970 UTC, like all times here.
  let createdAt: Int64
  var updatedAt: Int64
  var pushedAt: Int64
}

/// An issue or a pull request; both share one sequence of numbers.
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
  /// The number of the issue.
  let number: Int64
  let author: String
  var body: String
  let createdAt: Int64
  var updatedAt: Int64
}

/// Timestamps in the forge's format: `2026-03-02T09:00:00Z`.
enum ForgeTime {
  static func text(_ seconds: Int64) -> JSONValue { .string(plain(seconds)) }
  static func plain(_ seconds: Int64) -> String { Timestamp.text(seconds).prefix(19) + "Z" }

  /// Returns seconds since 1970 UTC, rounding down; a date without a time means its start.
  static func seconds(parsing text: String) -> Int64? {
    if let day = CivilDate(parsing: text) { return Int64(day.dayNumber) * 86_400 }
    return Timestamp.milliseconds(parsing: text).map { $0 >= 0 ? $0 / 1_000 : ($0 - 999) / 1_000 }
  }
}
