import JSON
import MobileSync
import RestClient
import SmartStore

/// Uploads the files of one entry. What they are called on the server is kept before the entry is sent: a run that is killed, or
/// a refusal of the entry, makes no second file.
struct FileUploads: Sendable {
  let exchange: ParseExchange
  let context: UploadContext
  let entryId: Int64

  /// - Throws: ``ParseProblem``, `RestError`.
  func uploaded(_ value: JSONValue) async throws -> JSONValue {
    try await PendingFile.replaced(in: value) { file in
      let key = "\(LocalField.localIdPrefix)file_\(entryId)_\(file.digest)"
      if let known = try await known(key) { return known }
      let stored = try await exchange.upload(file)
      try await keep(stored, key)
      return stored
    }
  }

  private func known(_ key: String) async throws -> JSONValue? {
    guard let place = context.place, let text = try await context.assignedId(for: key, in: place.soup) else { return nil }
    return try JSONValue(parsing: Array(text.utf8))
  }

  private func keep(_ stored: JSONValue, _ key: String) async throws {
    guard let place = context.place else { return }
    let now = context.configuration.now()
    try await place.store.write(.synced) { transaction in
      try transaction.noteAssignedId(stored.text, for: key, in: place.soup, now: now)
    }
  }
}
