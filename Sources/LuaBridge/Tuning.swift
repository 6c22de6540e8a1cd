/// Limits of the bridge.
enum Tuning {
  /// The number of slots of a mailbox, for waiting and future messages. A call reserves its slots when it is accepted. 100,000
  /// waiting messages of the usual size take about 30 MB.
  static let mailboxCapacity = 100_000
  /// Slots of a call that is answered once.
  static let slotsPerCall = 1
  /// Slots of a sync: its start, the latest progress and its end may wait together.
  static let slotsPerSync = 3
  /// Slots of an observer: its changes and its end may wait together.
  static let slotsPerObserver = 2
  /// Slots of a plug-in's call: the latest progress and the end may wait together.
  static let slotsPerPluginCall = 2
  /// Slots of a plug-in's call that is delivered by polling: the call itself and its cancellation need slots, too.
  static let slotsPerPolledCall = 4
  /// The number of actions that are found by their bytes. It exceeds the number of built-in actions; a limit is needed because
  /// scripts choose the names of other services.
  static let knownActions = 64
  /// Bytes of a feature's code, which is sent with each request to the org.
  static let featureBytes = 32
  /// The number of threads that run store calls. Each serves one store at a time, so more threads help only scripts that use
  /// more stores.
  static let storeThreads = 8
  /// Milliseconds that closing waits for queries which have been cancelled. They end within a second, unless one is in a
  /// part of the database that nothing interrupts.
  static let closePatienceMs: Int64 = 5000
  /// More of them while long queries run. Each query may build a page.
  static let lentThreads = 24

  /// Bytes of arguments that the calls of one isolated script may have under way. Further calls are refused, as by a full
  /// mailbox.
  static let workerArgumentBytes = 64 << 20
  /// Bytes of answers that may wait for an isolated script. Beyond them store calls wait, and further calls are not read.
  static let workerBacklogBytes = 64 << 20
  /// Bytes of waiting answers at which an isolated script is ended: answers of servers cannot be made to wait.
  static let workerBacklogMost = 512 << 20
  /// Bytes of address space of a worker beside the script's memory: its program, its stack, one answer.
  static let workerAddressSpace: UInt64 = 256 << 20
  /// Memory of an isolated script without a limit of its own, as of a restricted one.
  static let workerMemory: UInt64 = 256 << 20
  /// Plug-ins that an isolated script can have registered at once.
  static let workerPlugins = 1000
  /// Bytes of a script's text.
  static let workerScriptBytes = 64 << 20
  /// Milliseconds that a worker has to start, which takes some ten, and to end after its script.
  static let workerStartMs: Int64 = 10_000, workerEndMs: Int64 = 2000
  /// Milliseconds that a worker has beyond its script's time limit, which the script notices itself unless one function goes on.
  static let workerOvertimeMs: Int64 = 1000
  /// Milliseconds that an interrupted script has once its calls are answered, and all in all.
  static let workerInterruptMs: Int64 = 2000, workerInterruptMost: Int64 = 10_000
  /// Milliseconds that the reader of a script's output has after the script was ended.
  static let workerOutputMs: Int64 = 2000
  /// Milliseconds that the calls of a script that was ended have to stop.
  static let workerCallsMs: Int64 = 5000
}
