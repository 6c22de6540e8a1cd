import Support

/// Whether a script has given up one of its calls, or waits for it to end because the bridge closes. Any thread.
public final class Cancellation: @unchecked Sendable {
  // Touched only with `lock` held.
  private let lock = Lock()
  private var hasFired = false, isClosing = false
  private var action: (@Sendable () -> Void)?, closingAction: (@Sendable () -> Void)?

  init() {}

  public var isCancelled: Bool { lock.withLock { hasFired } }

  /// Sets what ends the call: runs once, on the script's thread, or at once when the call was given up already. Must not block.
  public func onCancel(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock { () -> Bool in
      if !hasFired { self.action = action }
      return hasFired
    }
    if isLate { action() }
  }

  /// Sets what keeps a call that writes from holding up the bridge's end: it is to be carried out all the same, if it takes no
  /// unusual time. Runs as for ``onCancel(_:)``.
  public func onClosing(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock { () -> Bool in
      if !isClosing { closingAction = action }
      return isClosing
    }
    if isLate { action() }
  }

  func cancel() {
    let action = lock.withLock { () -> (@Sendable () -> Void)? in
      guard !hasFired else { return nil }
      hasFired = true
      defer { self.action = nil }
      return self.action
    }
    action?()
  }

  func close() {
    let action = lock.withLock { () -> (@Sendable () -> Void)? in
      isClosing = true
      defer { closingAction = nil }
      return closingAction
    }
    action?()
  }
}
