import JSON

/// Observation of committed changes. Without observers it costs one comparison per transaction.
extension Store {
  /// Observes the entries of soups.
  ///
  /// - Parameters:
  ///   - soupNames: Existing soups. A soup that is removed and registered again stays observed.
  ///   - onNews: Called after a commit if changes wait that were not announced yet;
  ///     ``ChangeObserver/take()`` returns them. Runs on the writer's queue and must return
  ///     quickly. Calls that write to the store throw `.reentrantCall` there.
  ///   - onEnd: Called once if the store closes before the observer is cancelled.
  /// - Returns: The observer. Keep it: releasing it cancels it.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.storeClosed`.
  /// - Note: Writes of another process are noticed within half a second or with the next
  ///   transaction here, and are reported as a change of all entries of every observed soup.
  public func observe(
    soups soupNames: [String], onNews: @escaping ChangeObserver.News, onEnd: @escaping @Sendable () -> Void = {}
  ) throws -> ChangeObserver {
    try readBlocking { snapshot in for name in soupNames { _ = try snapshot.indexSpecs(of: name) } }
    return try startObserving(ChangeInbox(soupNames: soupNames, onNews: { inbox in onNews { inbox.take() } }, onEnd: onEnd))
  }

  /// Observes the result of a smart query: reports changes to its soups if they changed its rows,
  /// or their order if the query does not define one.
  ///
  /// After commits to its soups, a reader runs the query soon, but the committing call does not
  /// wait for it; several commits are checked as one. Each check costs what the query costs. For
  /// results beyond 10,000 rows, 8 MB or a few hundred milliseconds of work, nothing is compared
  /// and every change of the soups is reported.
  /// - Parameters:
  ///   - spec: A smart query.
  ///   - cancellation: Cancels the first run, which the call waits for.
  ///   - onNews: As for ``observe(soups:onNews:onEnd:)``.
  ///   - onEnd: Called once if the store closes before the observer is cancelled.
  /// - Throws: ``StoreError`` `.invalidQuerySpec` for a query of another kind, `.invalidSmartSql`,
  ///   `.noSuchSoup`, `.notReadOnly`, `.queryLimit`, `.cancelled`, `.storeClosed`.
  public func observe(
    query spec: QuerySpec, cancellation: QueryCancellation = QueryCancellation(), onNews: @escaping ChangeObserver.News,
    onEnd: @escaping @Sendable () -> Void = {}
  ) throws -> ChangeObserver {
    guard spec.kind == .smart, let smartSql = spec.smartSql else {
      throw StoreError(.invalidQuerySpec, "only smart queries can be observed; to observe one soup, give its name")
    }
    // Reading one row reports every mistake in the query now. Later, a failing query would only
    // look unchanged.
    _ = try query(.smart(smartSql, arguments: spec.arguments, pageSize: 1), cancellation: cancellation)
    let names = try readBlocking { try $0.soupNames(inSmartSql: smartSql) }
    let outer = ChangeInbox(soupNames: names, onNews: { inbox in onNews { inbox.take() } }, onEnd: onEnd)
    let watch = QueryWatch(spec, in: self, telling: outer)
    let observer = try startObserving(watch.inbox(names), for: outer)
    watch.begin()
    return observer
  }

  /// Returns a sequence of committed changes. Changes before the next element is requested are
  /// merged.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.storeClosed`.
  public func changes(ofSoups soupNames: [String]) throws -> some AsyncSequence<[StoreChange], Never> {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observer = try observe(
      soups: soupNames, onNews: { _ in continuation.yield() }, onEnd: { continuation.finish() })
    return signals.map { observer.take() }
  }
}
