import SandboxOrg

/// The Swift listing of `bridge-spec/sandbox/README.md`, so that the compiler reads it. `GuideListingTests` compares both.
private func addFaults(to server: SandboxServer) throws {
  try server.faults.add(.dropAfterResponse(), when: .nth(3), path: "composite/sobjects")
  for kind in server.faults.kinds {
    try server.faults.add(kind.sample, when: .probability(0.1))
  }
}
