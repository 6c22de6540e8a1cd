/// A first-in, first-out queue. Adding and removing take amortized constant time.
struct Queue<Element> {
  private var elements: [Element?] = []
  private var first = 0

  var isEmpty: Bool { first == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  var head: Element? { isEmpty ? nil : elements[first] }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[first]
    elements[first] = nil
    first += 1
    if first == elements.count || (first > 64 && first * 2 > elements.count) {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }
}
