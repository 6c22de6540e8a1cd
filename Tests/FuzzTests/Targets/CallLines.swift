import JSON
import TestSupport

/// Inputs of one JSON text a line, which are changed as values: most changes of the bytes would end in a JSON error.
enum CallLines {
  static func lines(_ input: [UInt8]) -> [[UInt8]] { input.split(separator: UInt8(ascii: "\n")).map { Array($0) } }

  static func joined(_ lines: [[UInt8]]) -> [UInt8] { Array(lines.joined(separator: [UInt8(ascii: "\n")])) }

  /// Returns the input with some lines changed, exchanged, repeated or removed.
  /// - Parameter change: Changes the value of a line.
  static func changed(
    _ input: [UInt8], by mutator: inout FuzzMutator, of pool: FuzzPool, mostLines: Int,
    _ change: (JSONValue, inout FuzzMutator) -> JSONValue
  ) -> [UInt8] {
    var lines = lines(input)
    for _ in 0...mutator.random.below(2) {
      let place = mutator.random.below(lines.count)
      switch mutator.random.below(8) {
      case 0:
        let others = Self.lines(pool.pick(&mutator.random))
        if !others.isEmpty { lines.insert(mutator.random.pick(others), at: place) }
      case 1 where lines.count > 1: lines.remove(at: place)
      case 2 where !lines.isEmpty: lines.append(lines[place])
      default:
        guard !lines.isEmpty else { continue }
        guard let value = try? JSONValue(parsing: lines[place]) else { continue }
        var changed = value
        for _ in 0...mutator.random.below(3) { changed = change(changed, &mutator) }
        lines[place] = changed.serialized()
      }
    }
    return joined(Array(lines.suffix(mostLines)))
  }
}
