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
  /// Virtual machine instructions between two checks: about 5 microseconds. Each of them may be a function
  /// over a value, so a check takes place after at most that many values.
  private static let stepsBetweenLooks = 100

  /// Bytes of a value up to which a hundred functions over such values take a few seconds.
  private static let ordinaryValueBytes = 16 << 20

  /// Runs `body` and interrupts its statements as soon as `shouldContinue` returns false: the running one
  /// fails with ``DatabaseError/isInterrupted``. SQLite calls `shouldContinue` about 200,000 times a
  /// second, inside the statement; it must not use the connection. An interrupt from outside
  /// (`sqlite3_interrupt`) would miss a statement that is just about to begin.
  package func whileAllowed<T>(_ shouldContinue: @escaping () -> Bool, _ body: () throws -> T) throws -> T {
    let outer = watch
    setWatch(StepWatch(outer: outer, shouldContinue), steps: Connection.stepsBetweenLooks)
    defer { setWatch(outer, steps: Connection.stepsBetweenLooks) }
    return try body()
  }

  /// Does the same for a body that only reads. If its values are larger than usual, it runs once more, with
  /// a check before each instruction: each may take as long as a hundred others.
  /// - Parameter wasTooLarge: Whether an error of the body says that a value exceeds the connection's limit.
  package func readWhileAllowed<T>(
    _ shouldContinue: @escaping () -> Bool, wasTooLarge: (any Error) -> Bool, _ body: () throws -> T
  ) throws -> T {
    guard watchOfFunctions != nil else { return try whileAllowed(shouldContinue, body) }
    let most = sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)
    do {
      sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, min(most, Int32(Connection.ordinaryValueBytes)))
      defer { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, most) }
      return try whileAllowed(shouldContinue, body)
    } catch  where wasTooLarge(error) {
      let outer = watch
      setWatch(StepWatch(outer: outer, shouldContinue), steps: 1)
      defer { setWatch(outer, steps: Connection.stepsBetweenLooks) }
      return try body()
    }
  }

  private func setWatch(_ watch: StepWatch?, steps: Int) {
    self.watch = watch
    watchOfFunctions?.pointee.context = watch.map { Unmanaged.passUnretained($0).toOpaque() }
    watchOfFunctions?.pointee.allows =
      watch == nil
      ? nil
      : { context in
        guard let context else { return 1 }
        return Unmanaged<StepWatch>.fromOpaque(context).takeUnretainedValue().allows ? 1 : 0
      }
    guard let watch else { return sqlite3_progress_handler(handle, 0, nil, nil) }
    sqlite3_progress_handler(
      handle, Int32(steps),
      { context in
        guard let context else { return 0 }
        return Unmanaged<StepWatch>.fromOpaque(context).takeUnretainedValue().allows ? 0 : 1
      }, Unmanaged.passUnretained(watch).toOpaque())
  }

  /// Runs `body` with a limit on the work of its statements.
  /// - Parameter steps: Virtual machine instructions, about 20 million a second; counted in
  ///   hundreds.
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
