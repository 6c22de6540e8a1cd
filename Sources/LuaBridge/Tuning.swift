/// Limits of the bridge.
enum Tuning {
  /// Messages one mailbox may hold or have promised. A call books its places when it is accepted; 100,000 waiting
  /// messages of the usual size take about 30 MB.
  static let mailboxCapacity = 100_000
  /// Places of a call that answers once.
  static let placesOfCall = 1
  /// Places of a sync: its start, the latest progress and its end may wait together.
  static let placesOfSync = 3
  /// Places of an observer: its news and its end may wait together.
  static let placesOfObserver = 2
  /// Places of a call that a plug-in answers with progress: the latest progress and the end may wait together.
  static let placesOfPluginCall = 2
  /// Places of one that a plug-in is handed by the poller: the call itself and its cancellation, too.
  static let placesOfPolledCall = 4
  /// Actions found by their bytes rather than by their text. More than there are; the names of a host's own services
  /// come from scripts, so there must be an end.
  static let knownActions = 64
  /// Threads that run store calls at once. Each serves one store at a time, so more help only scripts with more stores.
  static let storeThreads = 8
}
