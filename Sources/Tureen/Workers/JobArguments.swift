import JSON

/// The arguments of a job, as `tureen job add --args` takes them.
package struct JobArguments: Sendable, Equatable {
  /// The object as it was written.
  package let text: String
  /// Sync jobs: remove clean entries that the server would no longer send.
  package let cleansGhosts: Bool

  private static let keysOfSyncs = ["ghosts"]

  /// - Throws: ``JobError`` `.invalidJob`, naming the key.
  package init(_ text: String, isSync: Bool) throws(JobError) {
    let bytes = Array(text.utf8)
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      let place = error.position(in: bytes)
      throw JobError(
        .invalidJob, "the job's arguments are not JSON: \(error.message) in line \(place.line), column \(place.column)")
    }
    guard let object = value.objectValue else {
      throw JobError(.invalidJob, "the job's arguments must be a JSON object, such as {\"ghosts\": true}, not \(value.kindName)")
    }
    self.text = text
    guard isSync else {
      cleansGhosts = false
      return
    }
    for (key, _) in object where !Self.keysOfSyncs.contains(key) {
      throw JobError(
        .invalidJob, "the argument '\(key)' is not known for a sync job\(NearestName.hint(for: key, among: Self.keysOfSyncs))")
    }
    guard let ghosts = object["ghosts"] else {
      cleansGhosts = false
      return
    }
    guard let flag = ghosts.boolValue else {
      throw JobError(.invalidJob, "the argument 'ghosts' must be true or false, not \(ghosts.kindName)")
    }
    cleansGhosts = flag
  }
}
