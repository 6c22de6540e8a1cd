import JSON

/// The uploads of a target, read and checked before anything is sent.
struct UploadRules: Sendable, Equatable {
  let json: JSONObject
  let create: UploadOperation?
  let update: UploadOperation?
  let delete: UploadOperation?
  /// The GET of one record.
  let read: RecordRead?
  /// In place of the target's.
  let connection: String?
  let precondition: Precondition
  let tag: TagRules
  /// Records recreated in one run; the next one stops it.
  let maxRecreate: Int
  /// Milliseconds between two writes, where that is longer than the connection's.
  let pauseMs: Int
  let dependencies: [Dependency]

  var hasRead: Bool { read != nil }

  enum Precondition: String, CaseIterable, Sendable { case ifMatch, ifUnmodifiedSince, check, none }

  /// A member that names a record of another soup.
  struct Dependency: Sendable, Equatable {
    let path: ValuePath
    let soup: String
  }

  /// Where the tag of a record is, and how it is sent back.
  struct TagRules: Sendable, Equatable {
    var path = ValuePath.etag
    /// Text with `{tag}`.
    var template: URITemplate?
    var header = "If-Match"
    var sendsWeak = false

    /// The value of the header; nil for a weak tag that is not to be sent.
    func condition(_ tag: String) -> String? {
      guard sendsWeak || !tag.hasPrefix("W/") else { return nil }
      return template.flatMap { try? $0.expanded { _ in tag } } ?? tag
    }
  }

  private static let keys = [
    "create", "update", "delete", "read", "connection", "itemPath", "wrap", "nullOnMissing", "precondition", "tag", "weakTags",
    "maxRecreate", "pauseMs", "dependsOn",
  ]

  /// nil when the target has no `up`.
  init?(_ target: TargetReader) throws(RestTargetError) {
    guard let reader = try target.inside("up", known: UploadRules.keys) else { return nil }
    json = reader.json
    create = try UploadOperation("create", reader)
    update = try UploadOperation("update", reader)
    delete = try UploadOperation("delete", reader)
    read = try RecordRead(reader)
    connection = reader.has("connection") ? try RestTarget.connectionName("connection", reader) : nil
    let chosen = try reader.choice("precondition", of: Precondition.self)
    if chosen == .check, read == nil { throw reader.error("precondition", "cannot be 'check' without 'read'") }
    precondition = chosen ?? (read == nil ? .none : .check)
    tag = try UploadRules.tag(reader)
    maxRecreate = try reader.count("maxRecreate") ?? 10
    pauseMs = try reader.count("pauseMs") ?? 0
    var dependencies: [Dependency] = []
    for pair in try reader.pairs("dependsOn") ?? [] {
      dependencies.append(Dependency(path: try reader.path(pair.name, "dependsOn"), soup: pair.value))
    }
    self.dependencies = dependencies
    if precondition == .ifMatch, tag.path.headerName != nil, read == nil {
      throw reader.error(
        "precondition", "'ifMatch' needs 'read', or a 'tag' in the item: the header '\(tag.path.text)' comes with one record only"
      )
    }
  }

  private static func tag(_ reader: TargetReader) throws(RestTargetError) -> TagRules {
    var rules = TagRules()
    rules.sendsWeak = try reader.flag("weakTags") ?? false
    guard let tag = try reader.inside("tag", known: ["path", "template", "header"]) else { return rules }
    if let path = try tag.path("path", taking: .header) { rules.path = path }
    if let template = try tag.template("template", for: .text) {
      guard template.names == ["tag"] else {
        throw tag.error("template", "must hold '{tag}' once and nothing else in braces")
      }
      rules.template = template
    }
    if let name = try tag.text("header") {
      guard HeaderField.isToken(name) else { throw tag.error("header", "is not the name of a header") }
      rules.header = name
    }
    return rules
  }
}

extension ValuePath {
  /// `header:ETag`, which is well-formed.
  fileprivate static let etag = ValuePath(text: "header:ETag", origin: .header("ETag"))
}
