import JSON

/// The uploads of a target, validated before anything is sent.
struct UploadRules: Sendable, Equatable {
  let json: JSONObject
  let create: UploadOperation?
  let update: UploadOperation?
  let delete: UploadOperation?
  /// The GET request for a single record.
  let read: RecordRead?
  /// Overrides the target's connection.
  let connection: String?
  let precondition: Precondition
  let tag: TagRules
  /// The number of records that one run may create again; one more stops the run.
  let maxRecreate: Int
  /// Milliseconds between two writes, if longer than the connection's.
  let pauseMs: Int
  let dependencies: [Dependency]

  var hasRead: Bool { read != nil }

  enum Precondition: String, CaseIterable, Sendable { case ifMatch, ifUnmodifiedSince, check, none }

  /// A member that refers to a record of another soup.
  struct Dependency: Sendable, Equatable {
    let path: ValuePath
    let soup: String
  }

  /// The location of a record's tag, and how to send it back.
  struct TagRules: Sendable, Equatable {
    var path = ValuePath.etag
    /// A text with `{tag}`.
    var template: URITemplate?
    var header = "If-Match"
    var sendsWeak = false

    /// Returns the header's value; nil for a weak tag that must not be sent.
    func condition(_ tag: String) -> String? {
      guard sendsWeak || !tag.hasPrefix("W/") else { return nil }
      return template.flatMap { try? $0.expanded { _ in tag } } ?? tag
    }
  }

  private static let keys = [
    "create", "update", "delete", "read", "connection", "itemPath", "wrap", "nullOnMissing", "precondition", "tag", "weakTags",
    "maxRecreate", "pauseMs", "dependsOn",
  ]

  /// Nil if the target has no `up`.
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
        "precondition",
        "'ifMatch' needs 'read', or a 'tag' in the item: the header '\(tag.path.text)' is only sent with a single record"
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
        throw tag.error("template", "must contain '{tag}' once and nothing else in braces")
      }
      rules.template = template
    }
    if let name = try tag.text("header") {
      guard HeaderField.isToken(name) else { throw tag.error("header", "is not a valid header name") }
      rules.header = name
    }
    return rules
  }
}

extension ValuePath {
  /// The path `header:ETag`, which is known to be valid.
  fileprivate static let etag = ValuePath(text: "header:ETag", origin: .header("ETag"))
}
