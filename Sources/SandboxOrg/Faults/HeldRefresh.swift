extension SalesforceService {
  /// Takes a refresh and works on it for some time; those that come with the same token meanwhile are refused as busy.
  func heldReply(to request: ServerRequest, _ draw: FaultDraw) async throws -> ServerReply {
    let token = Form(request)["refresh_token"] ?? ""
    let isFirst = try await org.perform { $0.refreshesInWork.insert(token).inserted }
    guard isFirst else { return try await org.perform { answered(request, $0) } }
    let ended: Result<Void, any Error>
    do {
      let milliseconds = draw.integer("milliseconds") ?? 0
      if draw.text("clock") == "org" {
        try await org.configuration.clock.sleep(milliseconds: Int64(milliseconds))
      } else {
        try await Task.sleep(for: .milliseconds(milliseconds))
      }
      ended = .success(())
    } catch {
      ended = .failure(error)
    }
    return try await org.perform { org in
      org.refreshesInWork.remove(token)
      try ended.get()
      return answered(request, org)
    }
  }
}
