import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: Histogram

extension BrowsedStore {
  /// The query for a histogram of a column of numbers or dates.
  struct HistogramQuestion: Decodable, Sendable {
    let entity: String
    let condition: String?
    let text: String?
    let column: String
    /// What is computed for the records of each interval.
    let amount: Amount?
    /// The unit of time of each interval; nil for the shortest that gives a readable number of them.
    let unit: TimeIntervals.Unit?
  }

  /// Returns intervals from the least to the greatest value of a column, each with the number of records in it, and with
  /// the amount that was asked for. Empty intervals are included. O(intervals × records that meet the condition).
  func histogram(_ question: HistogramQuestion) throws -> JSONValue {
    let context = readingContext()
    let entity = try coordinator.managedObjectModel.knownEntity(named: question.entity)
    guard let attribute = entity.property(named: question.column)?.attribute, !attribute.isTransient else {
      throw BrowserError.malformed("“\(question.column)” is no attribute that a store keeps.")
    }
    let predicate = try Self.predicate(question.condition, question.text, of: entity)
    var request = FetchRequest<ManagedObject>(entityName: question.entity, where: predicate)
    request.propertiesToFetch = [
      .minimum(of: attribute.name, as: "least"), .maximum(of: attribute.name, as: "greatest"),
    ]
    guard let row = try context.fetchRows(request).first, !row[0].isNull, !row[1].isNull else {
      return .object([("intervals", .array([]))])
    }
    let intervals = try Intervals(of: attribute, from: row[0], to: row[1], question.unit)
    request.propertiesToFetch = [.count()] + (try question.amount.map { [try $0.column(of: entity)] } ?? [])
    let counted = try intervals.bounds.indices.map { place in
      let own = try Self.condition(of: attribute, intervals, place)
      request.predicate = predicate.map { $0 && own } ?? own
      return try interval(intervals, place, request, in: context)
    }
    return .object([
      ("intervals", .array(counted)), ("unit", .optional(intervals.unit?.rawValue)),
      ("units", .array(intervals.units.map { .string($0.rawValue) })),
    ])
  }

  private func interval(
    _ intervals: Intervals,
    _ place: Int,
    _ request: FetchRequest<ManagedObject>,
    in context: ManagedObjectContext
  ) throws -> JSONValue {
    let row = try context.fetchRows(request).first
    let next = intervals.bounds.dropFirst(place + 1).first
    let cells = [intervals.bounds[place], next ?? .null] + (row?.values ?? [])
    let names = ["from", "to", "count", "amount"]
    return .object(
      [("label", .string(intervals.labels[place]))]
        + zip(names, cells).map { ($0, CellText(value: $1, in: context).short) }
    )
  }

  /// Returns the condition for the values in an interval. The first and the last one have no bound on their outer sides,
  /// so that each value is in one of them, even if a bound was rounded.
  private static func condition(of attribute: AttributeDescription, _ intervals: Intervals, _ place: Int) throws
    -> FetchPredicate
  {
    var condition = try FetchPredicate(format: "%K != nil", attribute.name)
    if place > 0 {
      let bound = try argument(intervals.bounds[place])
      condition = condition && (try FetchPredicate(format: "%K >= %@", arguments: [attribute.name, bound]))
    }
    if let next = intervals.bounds.dropFirst(place + 1).first {
      condition = condition && (try FetchPredicate(format: "%K < %@", arguments: [attribute.name, try argument(next)]))
    }
    return condition
  }

  private static func argument(_ bound: PropertyValue) throws -> any FetchArgument {
    switch bound {
    case .integer(let number): number
    case .decimal(let number): number
    case .date(let date): date
    case .double(let number): number
    default: throw BrowserError.malformed("\(bound) is no bound of an interval.")
    }
  }
}

// MARK: Intervals

/// Consecutive intervals of numbers or dates, with round bounds.
private struct Intervals {
  /// The lower bound of each interval. The last interval has no upper bound.
  let bounds: [PropertyValue]
  let labels: [String]
  /// The unit of dates, and the units that may be chosen.
  var unit: TimeIntervals.Unit?
  var units: [TimeIntervals.Unit] = []

  /// - Throws: `BrowserError.malformed` if the attribute is neither a number nor a date, or has values that have no place
  ///   in an interval.
  init(
    of attribute: AttributeDescription,
    from least: PropertyValue,
    to greatest: PropertyValue,
    _ unit: TimeIntervals.Unit?
  ) throws {
    if case .date(let first) = least, case .date(let last) = greatest {
      let time = try TimeIntervals(from: first, to: last, unit)
      (bounds, labels) = (time.starts.map(PropertyValue.date), time.labels)
      (self.unit, units) = (time.unit, time.units)
      return
    }
    guard let first = Self.number(least), let last = Self.number(greatest), first.isFinite, last.isFinite else {
      throw BrowserError.malformed(
        "\(attribute.name) has no histogram: it is neither a date nor a number, or some of its numbers are not finite."
      )
    }
    let isInteger = if case .integer = least { true } else { false }
    let numbers = first < last ? Self.numbers(from: first, to: last, isInteger: isInteger) : [first]
    bounds = first < last ? try numbers.map { try Self.bound($0, like: least) } : [least]
    labels = numbers.map { $0 == $0.rounded() && abs($0) < 0x1p53 ? "\(Int64($0))" : "\($0)" }
  }

  /// Returns a number as a value of the type that a column has.
  private static func bound(_ number: Double, like value: PropertyValue) throws -> PropertyValue {
    switch value {
    case .integer: return .integer(number >= 0x1p63 ? .max : number <= -0x1p63 ? .min : Int64(number))
    case .decimal:
      guard let decimal = Decimal(string: "\(number)") else {
        throw BrowserError.malformed("\(number) is no bound of an interval of decimal numbers.")
      }
      return .decimal(decimal)
    default: return .double(number)
    }
  }

  private static func number(_ value: PropertyValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .double(let number): number
    case .float(let number): Double(number)
    case .decimal(let number): Double("\(number)")
    default: nil
    }
  }

  private static let greatestCount = 25.0

  /// Returns the lower bounds: multiples of 1, 2 or 5 times a power of ten. `last` is greater than `first`.
  private static func numbers(from first: Double, to last: Double, isInteger: Bool) -> [Double] {
    let least = max(last / greatestCount - first / greatestCount, isInteger ? 1 : .leastNormalMagnitude)
    var power = 1.0
    while power * 10 <= least { power *= 10 }
    while power > least { power /= 10 }
    let width = [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? least
    // A width below 1 is a quotient, so that 3 × 0.1 is 0.3.
    let (factor, divisor) = width < 1 ? (1, (1 / width).rounded()) : (width, 1)
    let start = (first / factor * divisor).rounded(.down)
    var bounds = [max(start * factor / divisor, -.greatestFiniteMagnitude)]
    // The intervals end at the last number, or where neighbouring numbers are further apart than the width.
    while case let next = (start + Double(bounds.count)) * factor / divisor, next <= last,
      next > bounds[bounds.count - 1]
    {
      bounds.append(next)
    }
    return bounds
  }
}

/// Consecutive intervals of time in UTC.
struct TimeIntervals {
  /// A unit of time.
  enum Unit: String, Decodable, Sendable, CaseIterable {
    case hour, day, month, year, decade, century

    /// The number of months in the unit; 0 for those that are parts of a month.
    fileprivate var months: Int { self == .hour || self == .day ? 0 : self == .month ? 1 : 12 * count }

    /// The number of years in a unit that has years.
    private var count: Int { self == .decade ? 10 : self == .century ? 100 : 1 }

    /// The length in seconds, at least.
    fileprivate var length: Double {
      switch self {
      case .hour: 3600
      case .day: Self.dayLength
      case .month: 28 * Self.dayLength
      case .year, .decade, .century: (Double(count) * 365.2425).rounded(.down) * Self.dayLength
      }
    }

    private static let dayLength = Double(DateText.secondsPerDay)

    /// The number of characters of a date that name an interval.
    fileprivate var labelLength: Int {
      switch self {
      case .hour: 13
      case .day: 10
      case .month: 7
      case .year, .decade, .century: 4
      }
    }
  }

  private static let greatestCount = 100.0
  private static let readableCount = 60.0

  let unit: Unit
  /// The units that do not give too many intervals.
  let units: [Unit]
  let starts: [Date]

  init(from first: Date, to last: Date, _ wanted: Unit?) throws {
    guard [first, last].allSatisfy({ DateText.representable.contains($0.timeIntervalSinceReferenceDate) }) else {
      throw BrowserError.malformed("There are dates outside of the years 1 to 9999, which have no place in a chart.")
    }
    let span = last.timeIntervalSince(first)
    units = Unit.allCases.filter { span / $0.length <= Self.greatestCount }
    guard let unit = wanted ?? units.first(where: { span / $0.length <= Self.readableCount }) ?? units.first else {
      throw BrowserError.malformed("The dates are of more than \(Int(Self.greatestCount)) centuries.")
    }
    guard units.contains(unit) else {
      throw BrowserError.malformed(
        "The dates are of more than \(Int(Self.greatestCount)) \(unit.rawValue)s. Narrow the condition, or take a longer "
          + "unit."
      )
    }
    self.unit = unit
    starts = Self.starts(from: first, to: last, unit)
  }

  private static func starts(from first: Date, to last: Date, _ unit: Unit) -> [Date] {
    let (first, last) = (first.timeIntervalSinceReferenceDate, last.timeIntervalSinceReferenceDate)
    guard unit.months > 0 else {
      // Each day in UTC has as many hours, and one began at the reference date.
      let start = (first / unit.length).rounded(.down) * unit.length
      return stride(from: start, through: last, by: unit.length).map(Date.init(timeIntervalSinceReferenceDate:))
    }
    let day = CivilDate.date(days: Int((first / Double(DateText.secondsPerDay)).rounded(.down)))
    let month = day.year * 12 + day.month - 1
    return stride(from: month - month % unit.months, to: 10_000 * 12, by: unit.months).lazy
      .map(beginning).prefix { $0 <= last }.map(Date.init(timeIntervalSinceReferenceDate:))
  }

  /// Returns the first second of a month, counted from the year 0. There is no such year, so its months stand for the
  /// first one of the year 1.
  private static func beginning(ofMonth month: Int) -> Double {
    let (year, month) = month < 12 ? (1, 1) : (month / 12, month % 12 + 1)
    return Double(CivilDate.days(year: year, month: month, day: 1) * DateText.secondsPerDay)
  }

  /// The interval's part of the date, in UTC: `2026-11` for a month.
  var labels: [String] { starts.map { String(RecordDate.text(of: $0).prefix(unit.labelLength)) } }
}
