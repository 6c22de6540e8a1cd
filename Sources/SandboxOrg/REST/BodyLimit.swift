/// The body limits of resources.
extension SalesforceService {
  package func bodyLimit(for request: ServerRequest) -> Int {
    let segments = request.segments.map { $0.lowercased() }
    if segments.contains("oauth2") { return Tuning.signInBodyBytes }
    guard segments.count > 4, segments[0] == "services", segments[1] == "data" else { return ServerTuning.requestBodyBytes }
    let resource = Array(segments[3...])
    if resource[0] == "jobs", resource.last == "batches" { return Tuning.bulkInputBytes }
    let isForm = request.header("content-type")?.lowercased().hasPrefix("multipart/") == true
    switch resource[0] {
    case "sobjects" where takesBytes(resource[1]): return isForm ? Tuning.uploadBodyBytes : Tuning.encodedFileBodyBytes
    case "connect" where isForm && resource.contains("files"): return Tuning.uploadBodyBytes
    case "composite" where isForm && resource[1] == "batch": return Tuning.uploadBodyBytes
    default: return ServerTuning.requestBodyBytes
    }
  }

  private func takesBytes(_ name: String) -> Bool {
    org.schema.object(name)?.fields.contains { $0.type == .base64 } == true
  }
}
