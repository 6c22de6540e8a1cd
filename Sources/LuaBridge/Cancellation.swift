import Support

/// Reports that a script has cancelled one of its calls, or that the bridge is closing and waits for the call. Thread-safe.
public final class Cancellation: @unchecked Sendable {
  // Touched only with `lock` held.
  private let lock = Lock()
  private var hasFired = false, isClosing = false
  private var action: (@Sendable () -> Void)?, closingAction: (@Sendable () -> Void)?

  init() {}

  public var isCancelled: Bool { lock.withLock { hasFired } }

  /// Sets the function that ends the call. It runs once, on the script's thread, or immediately if the call is already
  /// cancelled. It must not block.
  public func onCancel(_ action: @escaping @Sendable () -> Void) {
    let isLate = lock.withLock { () -> Bool in
      if !hasFired { self.action = action }
      return hasFired
    }
    if isLate { action() }
  }

  /// Sets a function that runs when the bridge closes, like that of ``onCancel(_:)``. It lets a call that writes be completed,
  /// but must keep it from delaying the closing for an unusual time.
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
