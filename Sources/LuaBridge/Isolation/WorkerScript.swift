import CIsolation

/// The script in the form that a worker gets, because it cannot read files.
struct WorkerScript {
  let path: String
  let arguments: [String]
  let text: [UInt8]

  func append(to outbox: inout WorkerOutbox) {
    // Neither can contain a zero byte, since both come from a command line or would end at the byte.
    func zeroEnded(_ text: String) -> [UInt8] { text.utf8.filter { $0 != 0 } + [0] }
    let path = zeroEnded(path), arguments = arguments.map(zeroEnded)
    let joined = Array(arguments.joined())
    outbox.append(
      Int(TUREEN_FRAME_SCRIPT), parts: (UInt32(path.count), UInt32(joined.count), UInt32(arguments.count), 0),
      path + joined + text)
  }
}

extension ScriptLimits {
  /// The limits of the worker's process, in addition to those that its script checks itself.
  var workerSetup: tureen_worker_setup {
    func atLeastOne(_ limit: UInt64?) -> UInt64 { limit.map { max(1, $0) } ?? 0 }
    let memory = min(memory ?? Tuning.workerMemory, 1 << 46)
    return tureen_worker_setup(
      memory_bytes: atLeastOne(self.memory), instructions: atLeastOne(instructions), time_ms: atLeastOne(timeMs),
      address_space: memory + Tuning.workerAddressSpace, cpu_seconds: workerSeconds ?? 0)
  }

  /// Seconds of processor time after which the system ends the worker; more than the script's own limits allow.
  private var workerSeconds: UInt64? {
    // Half a microsecond for each instruction, as for the script's own limit.
    let ofInstructions = instructions.map { $0 / 2_000_000 + 6 }, ofTime = timeMs.map { $0 / 1000 + 3 }
    return [ofInstructions, ofTime].compactMap { $0 }.min()
  }

  /// The end of a script that the system or the host had to end.
  func overtime(_ kind: Kind) -> ScriptState.Outcome {
    let limit =
      switch kind {
      case .memory: "limit of \(memory ?? Tuning.workerMemory) bytes of memory (--memory-limit)"
      case .instructions: "limit of \(instructions ?? 0) instructions (--instruction-limit)"
      case .time: "time limit of \(Double(timeMs ?? 0) / 1000) s (--time-limit)"
      }
    return .limitReached(kind, message: "the script reached its \(limit) inside a function that cannot be interrupted")
  }
}
