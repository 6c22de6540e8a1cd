import JSON
import SandboxServer

/// The initial data, always the same: the library of Parse's relations tutorial.
enum LibrarySeed {
  static let genres = 40, publishers = 300, authors = 2_000, books = 5_000

  private static let start: Int64 = 1_577_836_800_000  // 2020-01-01
  private static let span: Int64 = 157_766_400_000  // five years

  static func fill(_ state: inout ParseState) {
    var made = Library(random: SeedRandom(1_965))
    for index in 0..<genres { made.add("Genre", ["name": .string(genre(index))], &state) }
    for index in 0..<publishers { made.add("Publisher", ["name": .string(publisher(index))], &state) }
    for index in 0..<authors { made.add("Author", ["name": .string(author(index))], &state) }
    for index in 0..<books { made.addBook(index, &state) }
  }

  /// Creates the objects and remembers their ids.
  private struct Library {
    var random: SeedRandom
    private var ids: [String: [String]] = [:]

    init(random: SeedRandom) { self.random = random }

    /// - Parameter stamp: Milliseconds since 1970 UTC.
    @discardableResult
    mutating func add(_ className: String, _ fields: JSONObject, _ state: inout ParseState, at stamp: Int64? = nil) -> String {
      let id = id()
      let created = stamp ?? start + Int64(random.below(Int(span)))
      // Some objects are changed after their creation.
      let updated = stamp == nil && random.chance(30) ? created + Int64(random.below(1 << 30)) : created
      for (name, value) in fields { if let type = try? ColumnType.of(value) { state.add(name, type, to: className) } }
      state.put(ParseObject(id: id, createdAt: created, updatedAt: updated, fields: fields), in: className)
      ids[className, default: []].append(id)
      return id
    }

    private mutating func id() -> String {
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
      return String((0..<Tuning.idCharacters).map { _ in random.pick(alphabet) })
    }

    private mutating func one(_ className: String) -> String { random.pick(ids[className] ?? []) }

    mutating func addBook(_ index: Int, _ state: inout ParseState) {
      // Like an import, each block of 25 books has one timestamp.
      let block = Int64(index / 25)
      let stamp = index % 1_000 < 25 ? start + block * 1_000_000 : nil
      let isbn = add("ISBN", ["value": .string(LibrarySeed.isbn(index))], &state, at: stamp)
      let genre = one("Genre")
      let book = add(
        "Book",
        [
          "title": .string(title(index, &random)), "publishingYear": .integer(Int64(1900 + random.below(126))),
          "genre": Values.pointer("Genre", genre), "isbn": Values.pointer("ISBN", isbn),
        ], &state, at: stamp)
      link("Book", "authors", book, to: "Author", random.chance(70) ? 1 : 1 + random.below(4), &state)
      link("Book", "publishers", book, to: "Publisher", random.chance(80) ? 1 : 2, &state)
      state.add("books", .relation("Book"), to: "Genre")
      state.relations.add(.init(className: "Genre", name: "books"), genre, book)
    }

    private mutating func link(
      _ owner: String, _ column: String, _ id: String, to target: String, _ count: Int, _ state: inout ParseState
    ) {
      state.add(column, .relation(target), to: owner)
      for _ in 0..<count { state.relations.add(.init(className: owner, name: column), id, one(target)) }
    }
  }

  // MARK: Words

  private static func genre(_ index: Int) -> String {
    let kinds = ["Novel", "Short Stories", "Essays", "Poetry"]
    let fields = ["Adventure", "Crime", "Fantasy", "History", "Mystery", "Nature", "Romance", "Science", "Travel", "War"]
    return "\(fields[index % fields.count]) \(kinds[index / fields.count])"
  }

  private static func publisher(_ index: Int) -> String {
    let ends = ["Press", "Books", "House", "& Sons", "Editions", "Verlag"]
    return "\(places[index / ends.count % places.count]) \(ends[index % ends.count])"
  }

  private static func author(_ index: Int) -> String {
    "\(given[index % given.count]) \(families[index / given.count % families.count])"
  }

  private static func title(_ index: Int, _ random: inout SeedRandom) -> String {
    switch random.below(4) {
    case 0: "The \(random.pick(qualities)) \(random.pick(things))"
    case 1: "\(random.pick(things)) of \(random.pick(places))"
    case 2: "A \(random.pick(things)) in \(random.pick(places)), Volume \(index % 7 + 1)"
    default: "\(random.pick(qualities)) \(random.pick(things))s"
    }
  }

  /// Returns an ISBN-13 with its check digit.
  private static func isbn(_ index: Int) -> String {
    let body = "978" + String(100_000_000 + index * 104_729 % 899_999_999)
    let sum = body.utf8.enumerated().reduce(0) { $0 + Int($1.element - UInt8(ascii: "0")) * ($1.offset % 2 == 0 ? 1 : 3) }
    return body + String((10 - sum % 10) % 10)
  }

  private static let places = [
    "Aalborg", "Bergen", "Cádiz", "Delft", "Évora", "Fiume", "Ghent", "Havana", "Ithaca", "Jaffa", "Kraków", "Łódź", "Málaga",
    "Naples", "Odessa", "Porto", "Quito", "Riga", "Siena", "Tromsø", "Utrecht", "Vienna", "Warsaw", "Xanten", "York", "Zürich",
    "Altona", "Basel", "Cork", "Dover", "Essen", "Faro", "Genoa", "Hull", "Izmir", "Jena", "Kiel", "Lima", "Metz", "Nice",
    "Oslo", "Parma", "Rouen", "Split", "Turin", "Ulm", "Vaduz", "Wells", "Yalta", "Zadar",
  ]
  private static let given = [
    "Ana", "Björn", "Chloé", "Dmitri", "Elif", "Farah", "Goran", "Hanako", "Ivo", "José", "Kofi", "Lena", "Mirza", "Nadia",
    "Olga", "Pavel", "Quentin", "Rosa", "Søren", "Tomás", "Uma", "Viktor", "Wanda", "Ximena", "Yusuf", "Zoë", "Abel", "Britt",
    "Cem", "Dora", "Emil", "Flora", "Gita", "Hugo", "Ines", "Jan", "Kaya", "Liam", "Mara", "Noor",
  ]
  private static let families = [
    "Almeida", "Berg", "Conti", "Dahl", "Eriksen", "Fischer", "García", "Horvat", "Ito", "Jensen", "Kovács", "Lindqvist",
    "Moreau", "Novák", "O'Brien", "Petrov", "Quist", "Rossi", "Santos", "Tanaka", "Ueda", "Vega", "Weiss", "Xu", "Yilmaz",
    "Zhang", "Ansah", "Bauer", "Cruz", "Duarte", "Evans", "Ferrari", "Gruber", "Hansen", "Ivanov", "Jovanović", "Klein", "Lopes",
    "Marin", "Nagy", "Olsen", "Pérez", "Ricci", "Silva", "Toth", "Urban", "Virtanen", "Wolf", "Yamada", "Zeman",
  ]
  private static let qualities = [
    "Quiet", "Broken", "Silver", "Distant", "Last", "Hidden", "Burning", "Patient", "Northern", "Second", "Hollow", "Gentle",
  ]
  private static let things = [
    "Lantern", "River", "Garden", "Letter", "Harbor", "Orchard", "Mirror", "Winter", "Compass", "Island", "Clockmaker", "Bridge",
    "Archive", "Voyage", "Meadow", "Shadow",
  ]
}
