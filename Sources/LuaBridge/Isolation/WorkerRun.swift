import CIsolation
import CLuaBridge
import Glibc
import Support

/// Runs one script in one worker: moves frames, messages and output between the worker, the bridge and this process's outputs
/// until the worker has ended, and ends the worker if necessary. Uses only the bridge's thread.
final class WorkerRun {
  private enum Phase: Equatable {
    case starting, running
    /// The script has ended.
    case ending
  }

  private let process: WorkerProcess
  private let bridge: Bridge
  private let calls: WorkerCalls
  private let backlog: WorkerBacklog
  private let limits: ScriptLimits
  private var memory: HostMemory?
  private let needsFilter: Bool
  private var reader = WorkerFrameReader(), outbox = WorkerOutbox()
  private var output: WorkerOutput, errors: WorkerOutput
  private var phase = Phase.starting
  private var isSocketOpen = true
  private var deadline: Int64  // when to end the worker unless something happens before
  /// The end of the script's time limit, with the time it has to notice it.
  private(set) var timeEnd = Int64.max
  private var isInterruptSent = false
  private var interruptEnd = Int64.max  // when to end an interrupted script whose calls do not end
  private var outputEnd = Int64.max  // when to stop waiting for the readers of the output
  private var lastCallAtInterrupt: Int64 = 0
  private var outcome: IsolatedOutcome?
  private(set) var failure: ScriptState.Failure?
  private(set) var wasBrokenOff = false
  /// See ``WorkerOutput/failure``, of what the script prints.
  var outputFailure: Int32 { output.failure }
  /// The layers in the worker's READY frame: TUREEN_LAYER_...
  private(set) var layers: Int64 = 0

  /// The maximum number of bytes that wait for the socket, not counting one frame.
  private static let outboxBytes = 64 << 10
  /// The same, including immediate answers.
  private static let outboxMost = 1 << 20

  init(
    process: WorkerProcess, bridge: Bridge, backlog: WorkerBacklog, limits: ScriptLimits, memory: HostMemory?, needsFilter: Bool,
    outputs: (output: Int32, errors: Int32)
  ) {
    self.process = process
    self.bridge = bridge
    self.backlog = backlog
    self.limits = limits
    self.memory = memory
    self.needsFilter = needsFilter
    calls = WorkerCalls(bridge: bridge)
    output = WorkerOutput(from: process.output, to: outputs.output)
    errors = WorkerOutput(from: process.errors, to: outputs.errors)
    deadline = SystemClock.monotonicMilliseconds() + Tuning.workerStartMs
  }

  /// Runs the script until it and the worker have ended.
  /// - Parameter control: Readable after an interrupt of `bridge`.
  func run(_ script: WorkerScript, control: Int32) -> IsolatedOutcome {
    var setup = limits.workerSetup
    withUnsafeBytes(of: &setup) { outbox.append(Int(TUREEN_FRAME_SETUP), $0) }
    while !isOver {
      send()
      wait(control)
      receive(script)
      if isSocketOpen { checkTime() } else { checkOutput() }
    }
    return finish()
  }

  /// The worker has closed its descriptors or was killed, and its output is written, as far as its readers take it.
  private var isOver: Bool {
    !isSocketOpen && ((output.isDone && errors.isDone) || SystemClock.monotonicMilliseconds() >= outputEnd)
  }

  // MARK: Sending

  /// Writes waiting frames to the socket.
  private func send() {
    guard isSocketOpen else { return outbox.drop() }
    while true {
      outbox.flush { bytes in
        let count = Glibc.send(process.socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return max(0, count)
      }
      // Unsent messages stay in the mailbox, where a newer progress replaces an older one.
      guard outbox.count == 0, phase != .starting, let message = bridge.mailbox.take() else { return }
      calls.forward(message, &outbox)
      while outbox.count < Self.outboxBytes, let message = bridge.mailbox.take() { calls.forward(message, &outbox) }
    }
  }

  // MARK: Waiting

  private func wait(_ control: Int32) {
    var events: [pollfd] = []
    var socketEvents: Int16 = 0
    // Answers that the worker has not taken yet use memory of this process, so its requests wait meanwhile.
    if isSocketOpen, backlog.count <= Tuning.workerBacklogBytes, outbox.count <= Self.outboxMost { socketEvents |= Int16(POLLIN) }
    if isSocketOpen, outbox.count > 0 { socketEvents |= Int16(POLLOUT) }
    events.append(pollfd(fd: isSocketOpen ? process.socket : -1, events: socketEvents, revents: 0))
    let takesNews = isSocketOpen && outbox.count == 0 && phase != .starting
    events.append(pollfd(fd: takesNews ? bridge.mailbox.descriptor : -1, events: Int16(POLLIN), revents: 0))
    let awaitsInterrupt = isSocketOpen ? !isInterruptSent && phase == .running : !isOutputHurried
    events.append(pollfd(fd: awaitsInterrupt ? control : -1, events: Int16(POLLIN), revents: 0))
    events.append(output.interest ?? pollfd(fd: -1, events: 0, revents: 0))
    events.append(errors.interest ?? pollfd(fd: -1, events: 0, revents: 0))
    if !isWaiting { bridge.isWaiting(true) }
    // After a look at the clock nothing has happened, and the wait goes on.
    isWaiting = poll(&events, nfds_t(events.count), pollTimeout) == 0
    if !isWaiting { bridge.isWaiting(false) }
    if events[1].revents != 0 { _ = bridge.mailbox.clearWake() }
    if events[3].revents != 0 { output.step() }
    if events[4].revents != 0 { errors.step() }
    // After the last frames of a dead worker there is nothing left to read.
    hasInput = events[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0
  }

  private var hasInput = false, isWaiting = false

  private var pollTimeout: Int32 {
    let end = isSocketOpen ? deadline : outputEnd
    let most = isSocketOpen && memory != nil ? HostMemory.lookMs : 60_000
    return Int32(min(max(0, end - SystemClock.monotonicMilliseconds()), most))
  }

  // MARK: Receiving

  private func receive(_ script: WorkerScript) {
    guard hasInput, isSocketOpen else { return }
    let count = withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 1) { buffer in
      let count = recv(process.socket, buffer.baseAddress, buffer.count, 0)
      if count > 0 { reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
      return count
    }
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return closeSocket() }
    do throws(WorkerViolation) {
      while isSocketOpen, let frame = try reader.next() { try take(frame, script) }
    } catch {
      end(.workerEnded(.violation(error)))
    }
  }

  private func take(_ frame: WorkerFrame, _ script: WorkerScript) throws(WorkerViolation) {
    switch (frame.kind, phase) {
    case (.ready, .starting):
      layers = frame.number
      guard !needsFilter || layers & Int64(TUREEN_LAYER_SECCOMP) != 0 else {
        return end(.workerEnded(.init(.unprotected, Self.unprotected)))
      }
      let now = SystemClock.monotonicMilliseconds()
      script.append(to: &outbox)
      phase = .running
      timeEnd = limits.timeMs.map { now + Int64(min($0, 1 << 40)) + Tuning.workerOvertimeMs } ?? .max
      deadline = timeEnd
    case (.done, .starting) where frame.number == Int64(TUREEN_DONE_NOT_BEGUN), (.done, .running):
      outcome = .script(try done(frame))
      phase = .ending
      deadline = SystemClock.monotonicMilliseconds() + Tuning.workerEndMs
    case (_, .running): try calls.perform(frame, &outbox)
    default: throw WorkerViolation("a frame of the kind \(frame.kind.rawValue) at the wrong time")
    }
  }

  private static let unprotected =
    "the system has no filter of system calls (seccomp); --without-seccomp runs the script behind the other walls alone"

  private func done(_ frame: WorkerFrame) throws(WorkerViolation) -> ScriptState.Outcome {
    let pieces = try frame.split(frame.parts.2)
    let message = String(decoding: pieces[1], as: UTF8.self)
    failure = ScriptState.Failure(String(decoding: pieces[0], as: UTF8.self))
    wasBrokenOff = frame.parts.3 == 1
    switch frame.number {
    case 0: return .done
    case 1: return .failed(message: message)
    case 2: return .notRunnable(message: message)
    case 3:
      guard let kind = ScriptLimits.Kind(rawValue: Int32(truncatingIfNeeded: frame.parts.1)) else {
        throw WorkerViolation("a limit that does not exist")
      }
      return .limitReached(kind, message: message)
    case 4 where (1...256).contains(frame.parts.0): return .exited(status: Int32(frame.parts.0) - 1)
    case Int64(TUREEN_DONE_NOT_BEGUN) where message.hasSuffix("(--instruction-limit)"):
      return .limitReached(.instructions, message: message)
    case Int64(TUREEN_DONE_NOT_BEGUN) where message.hasSuffix("(--time-limit)"):
      return .limitReached(.time, message: message)
    case Int64(TUREEN_DONE_NOT_BEGUN):
      return .limitReached(
        .memory, message: "the memory limit is too small for Lua and its modules (--memory-limit): \(message)")
    default: throw WorkerViolation("an end that does not exist")
    }
  }

  // MARK: Ending

  /// Ends the worker. An earlier reason takes precedence.
  private func end(_ outcome: IsolatedOutcome) {
    self.outcome = outcome
    process.kill()
    closeSocket()
  }

  private func closeSocket() {
    isSocketOpen = false
    // The worker may keep its outputs open, but it must not stay alive.
    if process.wait(forMs: Tuning.workerEndMs) == nil {
      process.kill()
      if outcome == nil { outcome = .workerEnded(.init(.unresponsive, "it left its script and did not exit")) }
    }
    // A script that ended by itself has its output written, however slow the reader is.
    let now = SystemClock.monotonicMilliseconds()
    outputEnd = outcome?.isByForce == false ? max(timeEnd, now + Tuning.workerOutputMs) : now + Tuning.workerOutputMs
  }

  private var isOutputHurried = false

  private func checkOutput() {
    guard bridge.hasInterrupt, !isOutputHurried else { return }
    isOutputHurried = true
    outputEnd = min(outputEnd, SystemClock.monotonicMilliseconds() + Tuning.workerOutputMs)
  }

  private func checkTime() {
    if phase == .running, bridge.hasInterrupt, !isInterruptSent { interrupt() }
    if backlog.count > Tuning.workerBacklogMost {
      return end(.workerEnded(.init(.unresponsive, "it did not take the answers to its calls")))
    }
    let now = SystemClock.monotonicMilliseconds()
    if phase == .running, let message = memory?.excess(at: now) {
      return end(.script(.limitReached(.memory, message: message)))
    }
    guard now >= deadline else { return }
    switch phase {
    case .starting: end(.workerEnded(.init(.notStarted, "it did not get ready within \(Tuning.workerStartMs / 1000) s")))
    case .ending: end(.workerEnded(.init(.unresponsive, "it did not exit after its script had ended")))
    case .running where now >= timeEnd: end(.script(limits.overtime(.time)))
    // The host stops running syncs, and the script is notified.
    case .running where now < interruptEnd && calls.hasOpenCalls(upTo: lastCallAtInterrupt):
      bridge.cancelRemovals()
      deadline = min(timeEnd, interruptEnd, now + Tuning.workerInterruptMs)
    case .running: end(.workerEnded(.init(.unresponsive, "it did not end when it was interrupted")))
    }
  }

  /// Wait until the script runs: the worker handles the signal only once it is ready.
  private func interrupt() {
    isInterruptSent = true
    outbox.append(Int(TUREEN_FRAME_INTERRUPT))
    // The signal interrupts Lua code that does not return to the bridge.
    process.signal(SIGTERM)
    lastCallAtInterrupt = calls.lastCall
    let now = SystemClock.monotonicMilliseconds()
    interruptEnd = now + Tuning.workerInterruptMost
    deadline = min(timeEnd, now + Tuning.workerInterruptMs)
  }

  /// Returns why the worker has ended.
  private func finish() -> IsolatedOutcome {
    if isWaiting { bridge.isWaiting(false) }
    calls.close()
    let exit = process.kill()
    if let outcome { return outcome }
    if let words = process.lastWords {
      if words.why == UInt32(TUREEN_WORDS_MEMORY) { return .script(limits.overtime(.memory)) }
      if words.why == UInt32(TUREEN_WORDS_SYSTEM_CALL) { return .workerEnded(.systemCall(words.number)) }
    }
    switch exit {
    case .signal(SIGXCPU): return .script(limits.overtime(limits.instructions == nil ? .time : .instructions))
    case .signal(let number): return .workerEnded(.signal(number))
    case .status(let status): return .workerEnded(.init(.exited, "it exited with status \(status) before its script had ended"))
    case .unknown: return .workerEnded(.init(.exited, "it ended before its script had"))
    }
  }
}
