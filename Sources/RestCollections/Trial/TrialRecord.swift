import JSON

/// A record created only to try out a target's uploads: a copy of a listed record with a different
/// text.
package struct TrialRecord: Sendable {
  /// Why no trial record can be made, in one sentence.
  package struct Problem: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The record to store, without the soup's own members.
  package private(set) var row: JSONObject = [:]
  /// The path of the text member; nil if the uploads send no text.
  private let textPath: [String]?
  package let hasUpdate: Bool
  package let hasDelete: Bool
  /// The path of keys to the id.
  package let idPath: [String]

  private static let names = [
    "title", "name", "subject", "summary", "text", "description", "body", "content", "message", "comment", "label",
  ]

  /// Makes a trial record.
  ///
  /// - Parameters:
  ///   - sample: A record of the list; nil if the list is empty.
  ///   - text: The text to put into the record.
  /// - Throws: ``SyncError`` for an invalid definition; ``Problem``.
  package init(_ json: JSONObject, sample: JSONValue?, text: String) throws {
    let target = try RestTarget(json)
    guard let up = target.up, let create = up.create else { throw Problem(description: "the target has no 'up.create'") }
    hasUpdate = up.update != nil
    hasDelete = up.delete != nil
    guard let idPath = target.items.idField.memberNames else {
      throw Problem(description: "the id is not in a member of its own")
    }
    self.idPath = idPath
    let copied = sample?.objectValue ?? [:], sent: [[String]]
    switch create.content {
    case .fields(let fields): sent = try fields.map { try TrialRecord.path(of: $0) }
    case .everything, .body, nil: sent = copied.map { [$0.key] }
    }
    let kept = [idPath, target.items.dateField?.memberNames].compactMap { $0 }
    for path in sent where !kept.contains(path) {
      if let value = copied.value(at: path), !value.isNull { row.set(value, at: path) }
    }
    let updated = try TrialRecord.updated(up.update) ?? sent
    let texts = sent.filter { path in
      let value = copied.value(at: path)
      return !kept.contains(path) && updated.contains(path)
        && (value == nil || value?.isNull == true || value?.stringValue != nil)
    }
    textPath = TrialRecord.names.lazy.compactMap { name in texts.first { $0.last?.lowercased() == name } }.first ?? texts.first
    if let textPath { row.set(.string(text), at: textPath) }
  }

  /// Returns the stored record with another text; nil if it has no text.
  package func edited(_ stored: JSONObject, text: String) -> JSONObject? {
    guard let textPath else { return nil }
    var edited = stored
    edited.set(.string(text), at: textPath)
    return edited
  }

  /// Returns the members that the server has changed, those of objects by their paths.
  package func differences(from stored: JSONObject) -> [String] { TrialRecord.differences(row, stored, "") }

  private static func differences(_ sent: JSONObject, _ stored: JSONObject, _ prefix: String) -> [String] {
    sent.flatMap { key, value -> [String] in
      if stored[key] == value { return [] }
      guard let inner = value.objectValue, let other = stored[key]?.objectValue else { return [prefix + key] }
      return differences(inner, other, prefix + key + ".")
    }
  }

  private static func updated(_ operation: UploadOperation?) throws -> [[String]]? {
    guard case .fields(let fields)? = operation?.content else { return nil }
    return try fields.map { try path(of: $0) }
  }

  private static func path(of field: UploadOperation.Field) throws(Problem) -> [String] {
    switch field.source {
    case .path(let path):
      guard let names = path.memberNames else {
        throw Problem(description: "'\(path.text)' is not a member that can be filled: try the upload from a script")
      }
      return names
    case .function(let name):
      throw Problem(description: "a field is computed by the Lua function '\(name)': try the upload from a script")
    }
  }
}
