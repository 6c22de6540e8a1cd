#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// Decides periodically, while a statement runs, whether it may continue. A nested watch asks the
/// outer one as well.
final class StepWatch {
  private let shouldContinue: () -> Bool
  private let outer: StepWatch?

  init(outer: StepWatch?, _ shouldContinue: @escaping () -> Bool) {
    self.outer = outer
    self.shouldContinue = shouldContinue
  }

  var allows: Bool { shouldContinue() && outer?.allows ?? true }
}

extension Connection {
  /// Virtual machine instructions between two checks: about 50 microseconds.
  private static let stepsBetweenLooks = 1000

  /// Runs `body` and interrupts its statements as soon as `shouldContinue` returns false: the running one
  /// fails with ``DatabaseError/isInterrupted``. SQLite calls `shouldContinue` about 20,000 times a
  /// second, inside the statement; it must not use the connection. An interrupt from outside
  /// (`sqlite3_interrupt`) would miss a statement that is just about to begin.
  package func whileAllowed<T>(_ shouldContinue: @escaping () -> Bool, _ body: () throws -> T) throws -> T {
    let outer = watch
    setWatch(StepWatch(outer: outer, shouldContinue))
    defer { setWatch(outer) }
    return try body()
  }

  private func setWatch(_ watch: StepWatch?) {
    self.watch = watch
    guard let watch else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Int32(Connection.stepsBetweenLooks),
      { context in
        guard let context else { return 0 }
        return Unmanaged<StepWatch>.fromOpaque(context).takeUnretainedValue().allows ? 0 : 1
      }, Unmanaged.passUnretained(watch).toOpaque())
  }

  /// Runs `body` with a limit on the work of its statements.
  /// - Parameter steps: Virtual machine instructions, about 20 million a second; counted in
  ///   thousands.
  /// - Returns: nil if the limit was exceeded.
  package func limited<T>(toSteps steps: Int, _ body: () throws -> T) throws -> T? {
    var looks = steps / Connection.stepsBetweenLooks
    do {
      return try whileAllowed(
        {
          looks -= 1
          return looks >= 0
        }, body)
    } catch let error as DatabaseError where error.isInterrupted && looks < 0 {
      return nil
    }
  }

  /// A limit that a connection sets on statements.
  package enum Limit: Sendable {
    /// Bytes of a text, a blob or a row.
    case valueBytes
    case sqlBytes
    /// Levels of an expression tree.
    case expressionDepth
    /// Instructions of a compiled statement.
    case instructions
    case likePatternBytes
    case attachedDatabases

    var number: Int32 {
      switch self {
      case .valueBytes: SQLITE_LIMIT_LENGTH
      case .sqlBytes: SQLITE_LIMIT_SQL_LENGTH
      case .expressionDepth: SQLITE_LIMIT_EXPR_DEPTH
      case .instructions: SQLITE_LIMIT_VDBE_OP
      case .likePatternBytes: SQLITE_LIMIT_LIKE_PATTERN_LENGTH
      case .attachedDatabases: SQLITE_LIMIT_ATTACHED
      }
    }
  }

  /// Sets a limit. SQLite's own maximum caps it.
  package func setLimit(_ limit: Limit, _ value: Int) { sqlite3_limit(handle, limit.number, Int32(clamping: value)) }
}
