import Glibc
import JSON

/// A point on the earth, in degrees.
struct GeoPoint: Sendable, Equatable {
  let latitude: Double, longitude: Double

  init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Reads the wire form; nil for any other value.
  init?(_ value: JSONValue?) {
    guard let value, value["__type"] == "GeoPoint", let latitude = value["latitude"]?.doubleValue,
      let longitude = value["longitude"]?.doubleValue
    else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  var json: JSONValue {
    ["__type": "GeoPoint", "latitude": Values.number(latitude), "longitude": Values.number(longitude)]
  }

  /// Returns the angle between two points in radians.
  func radians(to other: GeoPoint) -> Double {
    let degree = Double.pi / 180
    let a = latitude * degree, b = other.latitude * degree
    let rise = sin((a - b) / 2), turn = sin((longitude - other.longitude) * degree / 2)
    let root = rise * rise + cos(a) * cos(b) * turn * turn
    return 2 * asin(min(1, root.squareRoot()))
  }
}

/// A region of the earth's surface.
enum GeoArea: Sendable {
  case box(GeoPoint, GeoPoint)
  /// The corners; the last one connects to the first.
  case polygon([GeoPoint])
  case circle(GeoPoint, radians: Double)

  func contains(_ point: GeoPoint) -> Bool {
    switch self {
    case .box(let a, let b):
      // The points are any two opposite corners.
      return min(a.latitude, b.latitude) <= point.latitude && point.latitude <= max(a.latitude, b.latitude)
        && min(a.longitude, b.longitude) <= point.longitude && point.longitude <= max(a.longitude, b.longitude)
    case .circle(let center, let radians): return center.radians(to: point) <= radians
    case .polygon(let corners):
      // A point is inside if a ray to the east crosses the border an odd number of times.
      var isInside = false
      var last = corners.count - 1
      for index in corners.indices {
        let a = corners[index], b = corners[last]
        last = index
        guard (a.latitude > point.latitude) != (b.latitude > point.latitude) else { continue }
        let share = (point.latitude - a.latitude) / (b.latitude - a.latitude)
        if point.longitude < a.longitude + share * (b.longitude - a.longitude) { isInside.toggle() }
      }
      return isInside || corners.contains(point)
    }
  }

  /// Converts coordinates to a stored polygon: `[[latitude, longitude], ...]`, closed.
  ///
  /// - Throws: ``ParseError`` 1 for fewer than three distinct corners, 111 if the value is not a
  ///   list of pairs.
  static func ring(_ coordinates: JSONValue) throws(ParseError) -> JSONValue {
    let list = coordinates.arrayValue ?? []
    guard list.allSatisfy({ $0.arrayValue?.count == 2 && $0.arrayValue?.allSatisfy { $0.doubleValue != nil } == true }) else {
      throw ParseError(.incorrectType, "This is not a valid Polygon")
    }
    var distinct: [JSONValue] = []
    for corner in list where !distinct.contains(corner) { distinct.append(corner) }
    guard distinct.count >= 3 else {
      throw ParseError(.internalServerError, "GeoJSON: Loop must have at least 3 different vertices")
    }
    return ["__type": "Polygon", "coordinates": .array(list.first == list.last ? list : list + [list[0]])]
  }

  /// Reads a stored polygon; nil for any other value.
  init?(stored value: JSONValue?) {
    guard let value, value["__type"] == "Polygon", let list = value["coordinates"]?.arrayValue else { return nil }
    self = .polygon(
      list.compactMap { corner in
        guard let pair = corner.arrayValue, pair.count == 2, let latitude = pair[0].doubleValue,
          let longitude = pair[1].doubleValue
        else { return nil }
        return GeoPoint(latitude: latitude, longitude: longitude)
      })
  }
}
