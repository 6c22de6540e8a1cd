#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// Says now and then, while a statement runs, whether it may go on. The inner one of two asks the outer one, too.
final class StepWatch {
  private let mayGoOn: () -> Bool
  private let outer: StepWatch?

  init(outer: StepWatch?, _ mayGoOn: @escaping () -> Bool) {
    self.outer = outer
    self.mayGoOn = mayGoOn
  }

  var allows: Bool { mayGoOn() && outer?.allows ?? true }
}

extension Connection {
  /// Instructions of SQLite's machine between two looks: some 50 microseconds.
  private static let stepsBetweenLooks = 1000

  /// Runs `body`, but its statements only as long as `mayGoOn` says so: then the one that runs fails with
  /// ``DatabaseError/isInterrupted``. It is asked about 20,000 times a second, inside the statement: it must not use the
  /// connection. An interrupt from outside (`sqlite3_interrupt`) would miss a statement that is just about to begin.
  package func whileAllowed<T>(_ mayGoOn: @escaping () -> Bool, _ body: () throws -> T) throws -> T {
    let outer = watch
    setWatch(StepWatch(outer: outer, mayGoOn))
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

  /// Runs `body`, but its statements only so far.
  /// - Parameter steps: Instructions of SQLite's machine, about 20 million a second; counted in thousands.
  /// - Returns: nil when that was not enough.
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

  /// What a connection allows of one statement.
  package enum Limit: Sendable {
    /// Bytes of a text, a blob or a row.
    case valueBytes
    case sqlBytes
    /// Levels of an expression's tree.
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

  /// Sets a limit; one above SQLite's own becomes that.
  package func setLimit(_ limit: Limit, _ value: Int) { sqlite3_limit(handle, limit.number, Int32(clamping: value)) }
}
