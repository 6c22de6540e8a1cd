import JSON

/// How one record is asked for.
struct RecordRead: Sendable, Equatable {
  let url: URITemplate
  let params: [Parameter]
  let headers: [HeaderField]
  /// Where the record is in the answer; nil for the whole.
  let itemPath: ValuePath?

  struct Parameter: Sendable, Equatable {
    let name: String
    let value: URITemplate
  }

  /// nil when records cannot be read one by one.
  init?(_ up: TargetReader) throws(RestTargetError) {
    guard let reader = try up.inside("read", known: ["url", "params", "headers", "itemPath"]) else { return nil }
    url = try reader.required("url", reader.template("url"))
    var params: [Parameter] = []
    for pair in try reader.pairs("params") ?? [] {
      params.append(Parameter(name: pair.name, value: try reader.template(pair.value, "params", for: .text)))
    }
    self.params = params
    headers = try HeaderField.read("headers", reader)
    for field in headers {
      if case .text(let text) = field.value { _ = try reader.template(text, "headers", for: .text) }
    }
    let own = try reader.path("itemPath")
    itemPath = try own == nil ? up.path("itemPath") : own
  }
}
