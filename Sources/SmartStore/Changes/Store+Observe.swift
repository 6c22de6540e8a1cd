import Database
import JSON
import Synchronization

/// Hearing of committed changes. Costs one comparison a transaction without observers.
extension Store {
  /// Watches the entries of soups.
  ///
  /// - Parameters:
  ///   - soupNames: Soups that exist. One that is removed later and registered again is still watched.
  ///   - onNews: Called after a commit when changes wait that were not announced yet; ``ChangeObserver/take()`` has them.
  ///     Runs on the writer's queue: it must be quick. Calls that write to the store throw `.reentrantCall` there.
  ///   - onEnd: Called once when the store closes before the observer was cancelled.
  /// - Returns: Keep it: letting go of it cancels it.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.storeClosed`.
  /// - Note: What another process writes is noticed within half a second or with the next transaction here, and told as a
  ///   change of all entries of every soup that is watched.
  public func observe(
    soups soupNames: [String], onNews: @escaping ChangeObserver.News, onEnd: @escaping @Sendable () -> Void = {}
  ) throws -> ChangeObserver {
    try readBlocking { snapshot in for name in soupNames { _ = try snapshot.soup(name) } }
    return try startObserving(ChangeInbox(soupNames: soupNames, onNews: { inbox in onNews { inbox.take() } }, onEnd: onEnd))
  }

  /// Watches the result of a smart query: changes of the entries of its soups are told when they changed its rows, or their
  /// order where the query leaves that open.
  ///
  /// After commits to its soups a reader runs the query, soon but not before the commit's caller goes on; several commits are
  /// looked at as one. Each look costs what the query costs. Beyond 10,000 rows, 8 MB or a few hundred milliseconds of work
  /// nothing is compared, and every change of the soups is told.
  /// - Parameters:
  ///   - spec: A smart query.
  ///   - cancellation: Ends the first look, which the call waits for.
  ///   - onNews: As for ``observe(soups:onNews:onEnd:)``.
  ///   - onEnd: Called once when the store closes before the observer was cancelled.
  /// - Throws: ``StoreError`` `.invalidQuerySpec` for a query of another kind, `.invalidSmartSql`, `.noSuchSoup`, `.notReadOnly`,
  ///   `.queryLimit`, `.cancelled`, `.storeClosed`.
  public func observe(
    query spec: QuerySpec, cancellation: QueryCancellation = QueryCancellation(), onNews: @escaping ChangeObserver.News,
    onEnd: @escaping @Sendable () -> Void = {}
  ) throws -> ChangeObserver {
    guard spec.kind == .smart, let smartSql = spec.smartSql else {
      throw StoreError(.invalidQuerySpec, "only smart queries can be watched; for one soup give its name")
    }
    // A first page of one row: every mistake in the query comes out here and not never.
    _ = try query(.smart(smartSql, arguments: spec.arguments, pageSize: 1), cancellation: cancellation)
    let names = try readBlocking { try $0.soupNames(inSmartSql: smartSql) }
    let outer = ChangeInbox(soupNames: names, onNews: { inbox in onNews { inbox.take() } }, onEnd: onEnd)
    let watch = QueryWatch(spec, in: self, telling: outer)
    let observer = try startObserving(watch.inbox(names), for: outer)
    watch.begin()
    return observer
  }

  /// The changes of soups as they are committed; those that come before the next element is asked for are merged.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.storeClosed`.
  public func changes(ofSoups soupNames: [String]) throws -> some AsyncSequence<[StoreChange], Never> {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observer = try observe(
      soups: soupNames, onNews: { _ in continuation.yield() }, onEnd: { continuation.finish() })
    return signals.map { observer.take() }
  }
}

extension StoreSnapshot {
  /// The soups that smart SQL refers to.
  func soupNames(inSmartSql text: String) throws -> [String] {
    let names = Mutex<[String]>([])
    _ = try SmartSql.convert(text) { name in
      names.withLock { known in
        if !known.contains(where: { $0.hasSameBytes(as: name) }) { known.append(name) }
      }
      return try self.find(name)
    }
    return names.withLock { $0 }
  }
}
