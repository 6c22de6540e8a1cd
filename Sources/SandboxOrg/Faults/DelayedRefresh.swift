extension SalesforceService {
  /// Handles a refresh slowly; others with the same token are refused as busy in the meantime.
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
