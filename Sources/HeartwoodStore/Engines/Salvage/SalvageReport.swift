public import HeartwoodModel

/// Reports what was written of a damaged store, and what was not: each loss with its place, and counts.
///
///     let report = try coordinator.salvageStore(at: damaged, to: rescued)
///     if !report.isComplete {
///       print(report)
///       for loss in report.losses where loss.kind == .records { print(loss) }
///     }
public struct SalvageReport: Sendable {
  /// The number of records that were written, by the name of their entity. Includes entities without records.
  public let recordCounts: [String: Int]
  /// All differences from the original, in the order in which they were found.
  public let losses: [Loss]

  /// Makes a report.
  public init(recordCounts: [String: Int], losses: [Loss]) {
    self.recordCounts = recordCounts
    self.losses = losses
  }
}

extension SalvageReport {
  /// Whether nothing was wrong: everything in the file was written, without a change.
  public var isComplete: Bool { losses.isEmpty }

  /// The number of records that were written.
  public var recordCount: Int { recordCounts.values.reduce(0, +) }

  /// The number of records that were lost, as far as the file shows it: see ``hasUncountedLosses``.
  public var lostRecordCount: Int { count(of: .records) }

  /// The number of values that were lost, of records that were written.
  public var lostValueCount: Int { count(of: .values) }

  /// The number of links from one record to another that were left out, because the other record is missing or does not
  /// refer back.
  public var droppedLinkCount: Int { count(of: .links) }

  /// The number of links that were added to a record because the other end has them.
  public var restoredLinkCount: Int { count(of: .restoredLinks) }

  /// The number of records that were written though the model's validation does not accept them.
  public var invalidRecordCount: Int {
    Set(
      losses.lazy.filter { $0.kind == .invalidRecords }.flatMap { loss in
        loss.references.map { [loss.entity ?? "", $0.text] }
      }
    )
    .count
  }

  /// Whether the file does not show how much of it was lost.
  public var hasUncountedLosses: Bool { losses.contains { $0.count == nil } }

  /// Returns the sum of the counts of all losses of a kind, without those whose count is unknown.
  public func count(of kind: Loss.Kind) -> Int {
    losses.lazy.filter { $0.kind == kind }.reduce(0) { $0 + ($1.count ?? 0) }
  }
}

extension SalvageReport: CustomStringConvertible {
  /// One line: what was written, and what was lost, in numbers.
  public var description: String {
    let lost = [
      Self.part(lostRecordCount, "record", "lost"), Self.part(lostValueCount, "value", "lost"),
      Self.part(droppedLinkCount, "link", "dropped"), Self.part(restoredLinkCount, "link", "restored"),
      Self.part(invalidRecordCount, "record", "kept that validation does not accept"),
      Self.part(losses.count { $0.kind == .fileParts }, "other part", "of the file lost"),
      hasUncountedLosses ? "and what the file does not count" : nil,
    ].compactMap(\.self)
    let written = Self.part(recordCount, "record", "written") ?? "0 records written"
    return "\(written); \(lost.isEmpty ? "nothing lost" : lost.joined(separator: ", "))"
  }

  private static func part(_ count: Int, _ what: String, _ fate: String) -> String? {
    count == 0 ? nil : "\(count) \(what)\(count == 1 ? "" : "s") \(fate)"
  }
}

// MARK: Losses

extension SalvageReport {
  /// A part of a damaged store that was not written as it was.
  public struct Loss: Sendable, Hashable {
    /// The kind of the loss.
    public var kind: Kind
    /// The name of the entity, if the loss concerns records whose entity is known.
    public var entity: String?
    /// The name of the property, if the loss concerns its values or links.
    public var property: String?
    /// The references of the records, as far as they could be read.
    public var references: [ReferenceID]
    /// The number of records, values or links; nil if the file does not show it. A part of the file that is no record
    /// counts as 0.
    public var count: Int?
    /// The line in a text file, counted from 1.
    public var line: Int?
    /// The bytes in the file that hold what was lost, counted from 0. For a compressed or an encrypted store, in the file inside, unless
    /// ``reason`` says otherwise.
    public var byteRange: Range<Int>?
    /// A description of the fault, for people. It contains no values.
    public var reason: String

    /// Makes a loss.
    public init(
      _ kind: Kind,
      entity: String? = nil,
      property: String? = nil,
      references: [ReferenceID] = [],
      count: Int?,
      line: Int? = nil,
      byteRange: Range<Int>? = nil,
      reason: String
    ) {
      self.kind = kind
      self.entity = entity
      self.property = property
      self.references = references
      self.count = count
      self.line = line
      self.byteRange = byteRange
      self.reason = reason
    }
  }
}

extension SalvageReport.Loss {
  /// The kind of a loss. More kinds may be added, so a `switch` over them needs a default.
  public struct Kind: Sendable, Hashable {
    private enum Name: String {
      case records, values, links, restoredLinks, invalidRecords, fileParts
    }
    private let name: Name

    /// Records that could not be read, or that the other store cannot keep: they are not written.
    public static let records = Kind(name: .records)
    /// Values that could not be read, of records that are written: they are nil there, or refer to no record.
    public static let values = Kind(name: .values)
    /// Links to records that are missing, or that do not refer back: they are not written.
    public static let links = Kind(name: .links)
    /// Links that were lost at one end and are written because the other end has them.
    public static let restoredLinks = Kind(name: .restoredLinks)
    /// Records that are written as they are, though the model's validation does not accept them.
    public static let invalidRecords = Kind(name: .invalidRecords)
    /// Parts of the file that are no records: metadata, history, or bytes of unknown purpose.
    public static let fileParts = Kind(name: .fileParts)
  }
}

extension SalvageReport.Loss.Kind: CustomStringConvertible {
  /// The name of the kind, as in Swift.
  public var description: String { name.rawValue }
}

extension SalvageReport.Loss: CustomStringConvertible {
  /// The greatest number of records that a line names.
  private static let mostReferencesTold = 3

  /// One line: `Item.title, 3 values, line 7, bytes 120 to 180: reason`.
  public var description: String {
    let parts = [place, amount, line.map { "line \($0)" }, byteRange.map(Self.text)].compactMap(\.self)
    return (parts.isEmpty ? "" : parts.joined(separator: ", ") + ": ") + reason
  }

  private var place: String? {
    guard let entity else { return property }
    let names = references.prefix(Self.mostReferencesTold).map(\.text)
    let more = references.count > names.count ? " and \(references.count - names.count) more" : ""
    return entity + (property.map { ".\($0)" } ?? "")
      + (names.isEmpty ? "" : " of \(names.joined(separator: ", "))\(more)")
  }

  private var amount: String? {
    guard let noun else { return nil }
    guard let count else { return "an unknown number of \(noun)s" }
    return count == references.count && count <= Self.mostReferencesTold
      ? nil : "\(count) \(noun)\(count == 1 ? "" : "s")"
  }

  private var noun: String? {
    switch kind {
    case .records, .invalidRecords: "record"
    case .values: "value"
    case .links, .restoredLinks: "link"
    default: nil
    }
  }

  private static func text(_ range: Range<Int>) -> String {
    range.count == 1 ? "byte \(range.lowerBound)" : "bytes \(range.lowerBound) to \(range.upperBound)"
  }
}
