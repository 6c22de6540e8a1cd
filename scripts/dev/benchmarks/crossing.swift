// Swift's end of crossing.c: an object behind a context pointer, as a bridge is.

final class Counter {
  var calls: Int64 = 0
  var bytes = 0
}

// The C header's structs, by their layout.
public struct Text {
  var data: UnsafePointer<CChar>?
  var length: Int
}

public struct Table {
  var context: UnsafeMutableRawPointer?
  var integer: @convention(c) (UnsafeMutableRawPointer?, Int64) -> Int64
  var text: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Void
}

@inline(__always) func counter(_ context: UnsafeMutableRawPointer?) -> Counter {
  Unmanaged<Counter>.fromOpaque(context!).takeUnretainedValue()
}

@_cdecl("crossing_fill") public func fill(_ table: UnsafeMutableRawPointer) {
  table.assumingMemoryBound(to: Table.self).initialize(
    to: Table(
      context: Unmanaged.passRetained(Counter()).toOpaque(),
      integer: { context, value in
        let counter = counter(context)
        counter.calls &+= 1
        return value &+ counter.calls
      },
      text: { context, data, length, out in
        counter(context).bytes &+= length
        out?.assumingMemoryBound(to: Text.self).pointee = Text(data: data, length: length)
      }))
}
