import JSON

/// The program that the command runs after a sync if entries changed: the member `after` of a sync in a configuration file.
/// It is not stored: only who reads the file runs it.
public enum AfterSync: Sendable, Equatable {
  /// A Lua script in the folder of the file, or below.
  case script(String)
  /// A program with its arguments.
  case command([String])

  /// - Parameter json: The value of the member; nothing for null or nil.
  /// - Throws: ``SyncError`` `.invalidArguments`, whose `place` leads to the mistake.
  public init?(_ json: JSONValue?) throws(SyncError) {
    guard let json, !json.isNull else { return nil }
    let shape = #"must be a Lua script such as "notify.lua", or a program with its arguments such as ["notify", "--all"]"#
    if let name = json.stringValue {
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      guard name.hasSuffix(".lua") else {
        throw SyncError(.invalidArguments, "'after' \(shape), got '\(name)'").at(.key("after"))
      }
      guard !name.utf8.contains(0), parts.allSatisfy({ !["", ".", ".."].contains($0) }) else {
        throw SyncError(.invalidArguments, "'after' must be a script in the folder of this file, got '\(name)'").at(.key("after"))
      }
      self = .script(name)
      return
    }
    guard let elements = json.arrayValue else {
      throw SyncError(.invalidArguments, "'after' \(shape), got \(json.kindName)").at(.key("after"))
    }
    let words = elements.compactMap(\.stringValue)
    guard words.count == elements.count, let program = words.first, !program.isEmpty,
      !words.contains(where: { $0.utf8.contains(0) })
    else {
      throw SyncError(.invalidArguments, "'after' \(shape), got \(json.text)").at(.key("after"))
    }
    self = .command(words)
  }
}
