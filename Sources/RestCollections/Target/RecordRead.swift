import JSON

/// How to request a single record.
struct RecordRead: Sendable, Equatable {
  let url: URITemplate
  let params: [Parameter]
  let headers: [HeaderField]
  /// The record's location in the response; nil for the whole response.
  let itemPath: ValuePath?

  struct Parameter: Sendable, Equatable {
    let name: String
    let value: URITemplate
  }

  /// Nil if single records cannot be read.
  init?(_ up: TargetReader) throws(RestTargetError) {
    guard let reader = try up.inside("read", known: ["url", "params", "headers", "itemPath"]) else { return nil }
    url = try reader.required("url", reader.template("url"))
    params = try RecordRead.parameters(reader)
    headers = try RecordRead.headers(reader)
    let own = try reader.path("itemPath")
    itemPath = try own == nil ? up.path("itemPath") : own
  }

  /// Reads parameters whose values are templates.
  static func parameters(_ reader: TargetReader) throws(RestTargetError) -> [Parameter] {
    var params: [Parameter] = []
    for pair in try reader.pairs("params") ?? [] {
      params.append(Parameter(name: pair.name, value: try reader.template(pair.value, "params", for: .text)))
    }
    return params
  }

  /// Reads headers whose texts are templates.
  static func headers(_ reader: TargetReader) throws(RestTargetError) -> [HeaderField] {
    let headers = try HeaderField.read("headers", reader)
    for field in headers {
      if case .text(let text) = field.value { _ = try reader.template(text, "headers", for: .text) }
    }
    return headers
  }
}
