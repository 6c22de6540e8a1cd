/// A small deterministic generator (SplitMix64): a seed gives the same data on every machine.
package struct SeedRandom {
  private var state: UInt64

  package init(_ seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Returns a number in 0 ..< `bound`.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
  package mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
  /// Returns true in `percent` of 100 cases.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
