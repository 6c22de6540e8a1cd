import CLuaBridge
import Glibc
import Support

/// Text for Lua in memory that C can free. The thread that posts copies it, not the one that takes it.
package final class Payload: @unchecked Sendable {
  // Written in init and by the owner of the last reference: a message has one owner at a time.
  private var bytes: tureen_bytes
  private var make: (@Sendable () -> [UInt8])?

  /// Creates a payload whose text is made when the message is taken, by the thread that takes it.
  package convenience init(lazily make: @escaping @Sendable () -> [UInt8]) {
    self.init([])
    self.make = make
  }

  package convenience init(_ text: [UInt8]) {
    self.init(count: text.count) { memory in text.withUnsafeBytes { memory.copyMemory(from: $0) } }
  }

  convenience init(copying text: UnsafeRawBufferPointer) {
    self.init(count: text.count) { $0.copyMemory(from: text) }
  }

  /// Creates the payload of a plug-in's call: the action, a zero byte, the arguments.
  convenience init(action: String, _ arguments: [UInt8]) {
    var action = action
    self.init(count: action.utf8.count + 1 + arguments.count) { memory in
      let length = action.withUTF8 { name in
        memory.copyMemory(from: UnsafeRawBufferPointer(name))
        return name.count
      }
      memory[length] = 0
      arguments.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[(length + 1)...]).copyMemory(from: $0) }
    }
  }

  private init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    let memory = malloc(max(1, count))
    if let memory { fill(UnsafeMutableRawBufferPointer(start: memory, count: count)) }
    // If there is no memory, the text is empty, which the receiver reports as an unusable answer.
    bytes = tureen_bytes(data: memory?.assumingMemoryBound(to: CChar.self), length: memory == nil ? 0 : count)
  }

  deinit { free(bytes.data) }

  /// Bytes of the text; 0 for one that is not made yet.
  package var count: Int { bytes.length }

  /// Transfers the memory to the caller, who frees it.
  package func release() -> tureen_bytes {
    if let make {
      self.make = nil
      return Payload(make()).release()
    }
    defer { bytes = tureen_bytes(data: nil, length: 0) }
    return bytes
  }
}

/// A queue of messages for one Lua thread. Any thread can post without blocking; only the Lua thread takes messages.
///
/// The size is limited: slots for a call's answers are reserved when the call is accepted. Only the latest progress of a sync
/// is kept; its start and its end are never replaced. The descriptor is readable while messages wait.
package final class Mailbox: @unchecked Sendable {
  /// The kind of a message. The raw values are those of tureen_bridge.h.
  package enum Kind: Int32, Sendable { case result = 1, error, update, end, fail, request, event = 8, progress, call, callOver }

  package struct Message: Sendable {
    package let call: Int64
    package let kind: Kind
    package let payload: Payload
    /// Whether a later update may replace this one.
    let isProgress: Bool
    /// The number of reserved slots that are freed when this message is taken.
    let freedSlots: Int
    /// For a plug-in's call: the plug-in's number, and the number of bytes at the start of the payload that are the action's
    /// name. A zero byte and the arguments follow.
    let plugin: Int64, actionLength: Int

    package init(
      call: Int64, kind: Kind, payload: Payload, isProgress: Bool = false, freedSlots: Int = 0, plugin: Int64 = 0,
      actionLength: Int = 0
    ) {
      self.call = call
      self.kind = kind
      self.payload = payload
      self.isProgress = isProgress
      self.freedSlots = freedSlots
      self.plugin = plugin
      self.actionLength = actionLength
    }
  }

  /// Readable while a message waits or a wake-up is not cleared; -1 after `close`.
  package private(set) var descriptor: Int32
  // Lua thread only: the messages taken out together, of which those from `next` on are unread.
  private var batch: [Message] = []
  private var next = 0
  // All other state is touched only with `lock` held.
  private let lock = Lock()
  private let capacity: Int
  private var reserved = 0
  private var messages: [Message] = []
  private var progress: [Int64: Int] = [:]  // call -> index of its waiting progress in `messages`
  private var isAwake = false, isSignalled = false, isClosed = false
  private var waitingBytes = 0
  private var byteObserver: (@Sendable (Int) -> Void)?
  private var hasUnread = false  // the Lua thread has unread messages in its batch

  package init(capacity: Int) throws(BridgeError) {
    self.capacity = capacity
    descriptor = tureen_signal_open()
    guard descriptor >= 0 else {
      throw .bridge(.internal, "no descriptor for the mailbox: \(String(cString: strerror(errno)))", isRetryable: true)
    }
  }

  deinit { close() }

  /// Reserves slots for a call's answers. Returns false if there are not enough.
  package func reserve(_ slots: Int) -> Bool {
    lock.withLock {
      guard !isClosed, reserved + slots <= capacity else { return false }
      reserved += slots
      return true
    }
  }

  /// Posts a message. After `close` it is dropped.
  package func post(_ message: Message) { post { message } }

  /// Posts the message that `make` returns. `make` runs while the mailbox is locked, so that two threads that post for one call
  /// agree on an order; it must be short.
  /// - Returns: False if `make` returned nil.
  @discardableResult
  package func post(_ make: () -> Message?) -> Bool {
    lock.withLock {
      guard let message = make() else { return false }
      guard !isClosed else { return true }
      waitingBytes += message.payload.count
      if message.isProgress {
        if let position = progress[message.call] {
          waitingBytes -= messages[position].payload.count
          messages[position] = message
          byteObserver?(waitingBytes)
          return true
        }
        progress[message.call] = messages.count
      }
      messages.append(message)
      byteObserver?(waitingBytes)
      signal()
      return true
    }
  }

  /// Returns the next message in posting order; nil if none waits. Lua thread only.
  ///
  /// Moves all waiting messages to the batch together, so that many answers need only one lock and one system call.
  package func take() -> Message? {
    if next == batch.count, !fetch() { return nil }
    defer {
      next += 1
      if next == batch.count { finishBatch() }
    }
    return batch[next]
  }

  private func fetch() -> Bool {
    next = 0
    batch.removeAll(keepingCapacity: true)
    return lock.withLock {
      guard !messages.isEmpty else { return false }
      swap(&batch, &messages)
      for message in batch { reserved -= message.freedSlots }
      if !progress.isEmpty { progress = [:] }
      waitingBytes = 0
      byteObserver?(0)
      hasUnread = true
      return true
    }
  }

  private func finishBatch() {
    lock.withLock {
      hasUnread = false
      signal()
    }
  }

  /// Clears earlier wake-ups and returns the number of waiting messages. Lua thread only.
  package func clearWake() -> Int {
    lock.withLock {
      isAwake = false
      signal()
      return messages.count + batch.count - next
    }
  }

  /// Makes the descriptor readable until `clearWake` is called.
  package func wake() {
    lock.withLock {
      isAwake = true
      signal()
    }
  }

  /// Hears how many bytes of messages wait, at each change, with the mailbox locked: it must be quick. Set before a message is
  /// posted.
  package func observeBytes(_ observer: @escaping @Sendable (Int) -> Void) { lock.withLock { byteObserver = observer } }

  /// Discards waiting and later messages. A second call has no effect. Lua thread only.
  package func close() {
    batch = []
    next = 0
    lock.withLock {
      guard !isClosed else { return }
      isClosed = true
      messages = []
      progress = [:]
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  /// Updates the descriptor's readiness. Call with `lock` held.
  private func signal() {
    let shouldSignal = isAwake || hasUnread || !messages.isEmpty
    guard shouldSignal != isSignalled, !isClosed else { return }
    isSignalled = shouldSignal
    tureen_signal_set(descriptor, shouldSignal ? 1 : 0)
  }
}
